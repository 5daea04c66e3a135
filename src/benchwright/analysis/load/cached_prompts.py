"""Prompts that a server may have cached: prompts that were sent repeatedly, and prompts cached before the
measurement.

The times of requests with such prompts are not representative of new prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchwright.records import TrialRecord, Usage
from benchwright.runs.journal import ExchangeBody, TrialBody, encode_json, read_bodies
from benchwright.runs.table import RunTable
from benchwright.runs.tags_and_notes import read_tags
from benchwright.stats.seen_prefixes import SeenPrefixes

MIN_WARM_CACHE_SHARE = 0.1
"""A level counts as having a warm cache if more than this share of its prompt tokens was cached unexpectedly."""

WARM_CACHE_TAG = "warm-cache"
"""The tag that is given to the run of a level with a warm cache."""

MAX_PROMPTS_READ = 200
"""Number of requests at the beginning of a level whose prompts are read. Later prompts are not checked."""

CHARACTERS_PER_BLOCK = 64
"""Number of characters per block of a prompt (about 16 tokens). Servers cache prompts in blocks."""

MAX_TEMPLATE_TOKENS = 64
"""Number of tokens that a chat template may add before each prompt. They are always the same, and therefore cached."""


class PromptCacheUse(NamedTuple):
    """Cache use of the prompts of a level's first trials. Only the first request of each trial counts.

    `unexpected_share`: share of the prompts' tokens that was cached although no prompt of this measurement had
    the same prefix; None if the server does not report cached tokens. `repeated_share`: share of prompts that
    had been sent as a whole before, at this level or an earlier one; None if no prompt is known.
    """

    unexpected_share: float | None = None
    repeated_share: float | None = None


def measure_cache_use(table: RunTable, sent: SeenPrefixes) -> PromptCacheUse:
    """Return the cache use of a level's prompts. Add these prompts to `sent`, the prompts of earlier levels.

    A prefix is expected to be in the server's cache if an earlier prompt has the same prefix: a system prompt,
    examples, or the whole prompt.

    Raises:
        JournalError: If the journal cannot be read.
    """
    rows = table.rows_in_start_order(table.counted_rows("primary"))[:MAX_PROMPTS_READ]
    if not rows.size:
        return PromptCacheUse()
    tokens = unexpected = 0.0
    prompts = repeated = 0
    records = (table.read_record(int(row)) for row in rows)
    for record, body in read_bodies(table.directory, (record for record in records if record.body[1])):
        for usage, exchange in _first_request(record, body):
            blocks = _blocks(exchange, body)
            known = sent.add(blocks) / len(blocks)
            prompts, repeated = prompts + 1, repeated + (known == 1)
            if usage.prompt_tokens and usage.cached_tokens is not None:
                tokens += usage.prompt_tokens
                expected = known * usage.prompt_tokens + MAX_TEMPLATE_TOKENS
                unexpected += max(0.0, usage.cached_tokens - expected)
    return PromptCacheUse(unexpected / tokens if tokens else None, repeated / prompts if prompts else None)


def warm_cache_lines(run: Path) -> list[str]:
    """Return the lines of a warning about a run's times, if the run's tag says that it has a warm cache.

    Empty otherwise.
    """
    if WARM_CACHE_TAG not in read_tags(run):
        return []
    return [
        f"Warm cache: the server had more than {MIN_WARM_CACHE_SHARE:.0%} of the prompt tokens in its prefix "
        "cache before this "
        "measurement sent them. Prompts that it does not know take longer to begin."
    ]


def _first_request(record: TrialRecord, body: TrialBody) -> Sequence[tuple[Usage, ExchangeBody]]:
    """Return a list with the trial's first answered request to the model. Empty if no request was answered.

    Later requests are left out because they continue the conversation of the first.
    """
    answered = [request for request in record.requests if request.error is None]
    pairs = zip(answered, body.exchanges, strict=False)
    return [(request.usage, exchange) for request, exchange in pairs if request.role == "model"][:1]


def _blocks(exchange: ExchangeBody, body: TrialBody) -> list[bytes]:
    """Return the prompt as blocks of JSON. Tools come first, as in chat templates."""
    sent, request = exchange.sent, exchange.request
    messages = body.messages[:sent] if isinstance(sent, int) else sent
    text = encode_json([request.get("tools"), request.get("prompt"), messages])
    return [text[start : start + CHARACTERS_PER_BLOCK] for start in range(0, len(text), CHARACTERS_PER_BLOCK)]
