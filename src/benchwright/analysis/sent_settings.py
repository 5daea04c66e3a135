"""Describes in words the sampling settings that agents and other programs sent, including these programs' own
defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchwright.analysis.request_summary import RequestSummary

NOT_SENT_TEXT = "not sent"


def sent_settings(requests: RequestSummary) -> dict[str, str]:
    """Return the value of each setting as text. Empty if no settings are known.

    If requests had different values of a setting, the number of requests is stated for each value.
    """
    total = requests.settings_read
    return {name: _value(values, total) for name, values in requests.sent_settings.items() if total}


def sent_settings_line(requests: RequestSummary) -> Iterator[str]:
    """Yield one sentence on the settings that were sent, if a program other than Benchwright made requests."""
    if requests.settings_read:
        sent = sent_settings(requests)
        told = ", ".join(f"{name} {value}" for name, value in sent.items()) or "none"
        yield f"Settings that were sent: {told}."


def unequal_sampling_sentences(entrants: Sequence[tuple[str, RequestSummary]]) -> Iterator[str]:
    """Yield a sentence (without full stop) for each setting to which the agents sent different values.

    `entrants`: (name, summary of requests) of each agent and model that are compared.
    """
    sent = [(name, sent_settings(requests)) for name, requests in entrants if requests.settings_read]
    for setting in dict.fromkeys(one for _, settings in sent for one in settings):
        values = [(name, settings.get(setting, NOT_SENT_TEXT)) for name, settings in sent]
        if len({value for _, value in values}) > 1:
            told = "; ".join(f"{name}: {value}" for name, value in dict.fromkeys(values))
            yield f"{setting} was not the same for all ({told}), so agents are not compared under equal sampling"


def _value(values: Mapping[str, int], total: int) -> str:
    counts = dict(values)
    if (rest := total - sum(counts.values())) > 0:
        counts[NOT_SENT_TEXT] = rest
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{value} ({count} of {total} requests)" for value, count in counts.items())
