"""Cost of a model's thinking.

The cost is stated as the number of trials that were cut off while thinking, and as the share of thinking in
the completion tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.analysis.request_summary import RequestSummary
from benchwright.formats import count_with_noun
from benchwright.records import Record, Status, Target, Usage
from benchwright.runs.request_figures import thinking_tokens

TOKEN_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
"""Fields of a request body that limit the number of tokens of an answer."""


class ThinkingCutOff(Record, frozen=True):
    """Number of a target's trials without an answer because the model reached the token limit while thinking.

    `trials`: this number. `of`: number of all trials. `max_tokens`: the limit that was sent. None if no limit
    was sent, so that the server's own limit applied.
    """

    trials: int
    of: int
    max_tokens: int | None = None

    @property
    def share(self) -> float:
        """Share of all trials that were cut off while thinking."""
        return self.trials / self.of


def thinking_cut_off(target: Target, statuses: Mapping[str, int]) -> ThinkingCutOff | None:
    """Return the number of a target's trials that were cut off while thinking.

    Return None if no trial was cut off while thinking. `statuses`: number of trials by status.
    """
    count = statuses.get(Status.CUT_OFF_IN_THINKING, 0)
    if not count:
        return None
    return ThinkingCutOff(count, sum(statuses.values()), sent_token_limit(target.settings))


def sent_token_limit(settings: Mapping[str, Any]) -> int | None:
    """Return the maximum number of tokens of an answer that the body fields set. None if no limit is sent."""
    return next((settings[name] for name in TOKEN_LIMIT_FIELDS if type(settings.get(name)) is int), None)


def thinking_lines(found: ThinkingCutOff | None) -> list[str]:
    """Return a line on the share of trials cut off while thinking, and on the option to raise.

    Empty if there are none.
    """
    if found is None:
        return []
    limit = "the server's own limit" if found.max_tokens is None else f"{found.max_tokens:,}"
    cut_off = f"{found.trials:,} of {count_with_noun(found.of, 'trial')} ({found.share:.1%})"
    return [
        f"{cut_off} cut off while the model was still thinking: no answer rather than a wrong one, and it counts as 0. "
        f"Raise --max-tokens ({limit} was reached), or limit thinking with --thinking-budget or --reasoning-effort."
    ]


def completion_tokens_text(requests: RequestSummary) -> str:
    """Return the number of completion tokens as text. It is split into thinking and answering, as far as known."""
    total, thought = requests.total_completion_tokens, requests.total_reasoning_tokens
    told = count_with_noun(total, "completion token")
    if not thought:
        return told
    estimated = requests.estimated_reasoning_requests
    parts = f"{'about ' if estimated else ''}{thought:,} thinking, {max(0, total - thought):,} answering"
    if unknown := requests.unknown_reasoning_requests:
        parts = f"at least {thought:,} thinking; not known of {count_with_noun(unknown, 'request')}"
    return f"{told} ({parts}{'; estimated from the text' if estimated else ''})"


def thinking_tokens_text(usage: Usage) -> str:
    """Return the number of thinking tokens of one answer as text in brackets. Empty if it is unknown or 0."""
    thought = thinking_tokens(usage)
    if not thought:
        return ""
    about = "about " if usage.reasoning_tokens is None else ""
    return f" ({about}{thought:,} thinking)"
