"""Comparability of two sides of a comparison: reasons why they must not be compared, and other differences
between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.analysis.comparison.records import SettingDifference
from benchwright.analysis.comparison.sides import SideFacts
from benchwright.runs.manifest_facts import IMPORT_KIND


def refusal_reasons(a: SideFacts, b: SideFacts) -> list[str]:
    """Return the reasons why comparing two runs would mislead. Empty if no reason is known."""
    return list(_refusals(a, b))


def _refusals(a: SideFacts, b: SideFacts) -> Iterator[str]:
    if a.source_program != b.source_program and IMPORT_KIND in (a.kind, b.kind):
        return
    if a.kind != b.kind or (a.subject and b.subject and a.subject != b.subject):
        yield f"{a.name} is {a.task}, {b.name} is {b.task}"
        return
    if a.kind == "benchmark" and a.variant != b.variant:
        yield f"the variants differ: {a.task} and {b.task}"
    elif a.protocol and b.protocol and a.protocol != b.protocol:
        yield f"the protocols differ: {a.protocol}; {b.protocol}"
    elif a.protocol_version and b.protocol_version and a.protocol_version != b.protocol_version:
        yield f"the versions of the protocol differ: {a.protocol_version}; {b.protocol_version}"
    if (
        a.data_digests
        and b.data_digests
        and a.data_digests != b.data_digests
        and not (a.has_ids and b.has_ids)
    ):
        yield f"the data differs (digest {_short(a.data_digests)}, then {_short(b.data_digests)})"
    if a.grader_fingerprints is not None and b.grader_fingerprints is not None:
        for name in a.grader_fingerprints:
            if name in b.grader_fingerprints and a.grader_fingerprints[name] != b.grader_fingerprints[name]:
                digests = f"{a.grader_fingerprints[name][:8]}, then {b.grader_fingerprints[name][:8]}"
                yield f"{name!r} was graded by different rules (fingerprint {digests})"
    if a.simulated is not None and b.simulated is not None and a.simulated != b.simulated:
        simulated = a.name if a.simulated else b.name
        yield f"{simulated} was answered by the simulated endpoint, the other by a real one"


def _short(digests: tuple[str, ...]) -> str:
    return ", ".join(digest[:12] for digest in digests)


def differing_settings(a: SideFacts, b: SideFacts) -> list[SettingDifference]:
    """Return the settings, except the model, that differ between two runs.

    Empty if the settings of a run are unknown.
    """
    if not a.settings or not b.settings:
        return []
    return [
        SettingDifference(name, a.settings.get(name), b.settings.get(name))
        for name in dict.fromkeys([*a.settings, *b.settings])
        if a.settings.get(name) != b.settings.get(name)
    ]


def unchecked_facts(a: SideFacts, b: SideFacts, *, same_data: bool) -> list[str]:
    """Return sentences on facts that could not be checked for equality: the task, the data, the graders.

    `same_data` is True if prompts and gold answers were found to be equal.
    """
    found = []
    if a.source_program != b.source_program and IMPORT_KIND in (a.kind, b.kind):
        told = " and ".join(f"{one.task} ({one.source_program or 'Benchwright'})" for one in (a, b))
        found.append(f"could not check that {told} are the same task")
    if (a.data_digests is None or b.data_digests is None) and not same_data:
        found.append("could not check that the data is the same")
    if a.grader_fingerprints is None or b.grader_fingerprints is None:
        found.append("could not check that both were graded by the same rules")
    return found


def latency_refusal_reason(a: SideFacts, b: SideFacts) -> str | None:
    """Return the reason why the speed of two runs must not be compared. None if it may be compared."""
    if a.concurrency is None or b.concurrency is None:
        return "the concurrency is not known on both sides"
    if a.concurrency != b.concurrency:
        return f"the concurrency differs: {a.concurrency} and {b.concurrency}"
    for facts in (a, b):
        if facts.timings_valid is False:
            return f"the timings of {facts.name} are invalid: its client was too busy"
    return None
