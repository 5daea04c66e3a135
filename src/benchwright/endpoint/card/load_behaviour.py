"""Probes of behaviour under load: prompt cache, prompts that exceed the context window, and concurrent requests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from itertools import pairwise

from benchwright.endpoint.card.examination import SHORT_TOKEN_LIMIT, Examination
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.card.probe_response import ProbeResponse, read_count
from benchwright.endpoint.card.prober import ProbeUnanswered

FILLER_SENTENCE = "The ferry leaves the harbour at noon and comes back before it is dark. "
"""A sentence that is repeated to make long prompts. In most vocabularies it has about 15 tokens."""

CACHED, LONG = 90, 330
"""`CACHED`, `LONG`: numbers of repetitions of `FILLER_SENTENCE` in two long prompts.

`CACHED`: for a prompt of about 1,350 tokens that is sent twice (OpenAI caches prompts from 1,024 tokens on).
`LONG`: for a prompt of about 4,950 tokens (Ollama's default context window has 4,096 tokens).
"""

SMALL, SLOW_SECONDS = 20, 2.0
"""`SMALL`: number of repetitions of `FILLER_SENTENCE` in the prompt that is sent twice to a slow server.

`SLOW_SECONDS`: a server is slow if the first token after a short prompt takes more than this many seconds.
"""

TRUNCATION_THRESHOLD = 0.9
"""Share of a long prompt's expected tokens. If usage counts a smaller share, the server has cut the prompt.

The expected number of tokens is computed from the usage of the prompt with `CACHED` repetitions.
"""

TOO_SLOW_REASON = "a prompt of some 5,000 tokens would take too long to read"

QUESTION_TOPICS = ("wind", "moon", "rain", "snow")


async def probe_prompt_cache(known: Examination) -> None:
    """Find out whether prompts are cached: send a long prompt twice.

    Compare the usage and the time to the first token.
    """
    slow = known.streamed is not None and _first_token(known.streamed) > SLOW_SECONDS
    prompt = _prompt(SMALL if slow else CACHED)
    answers = [await known.ask(prompt, 1, **known.stream_fields) for _ in range(2)]
    refused = next((answer for answer in answers if not answer.is_accepted), None)
    if refused is not None:
        raise ProbeUnanswered(refused.refusal)
    if not all(answer.is_complete for answer in answers):
        raise ProbeUnanswered("an answer did not end in time")
    if not slow:
        known.cached = answers
    cached = _cached_tokens(answers[1])
    first, second = map(_first_token, answers)
    times = f"first token after {first:.2f} s, then {second:.2f} s"
    if cached is not None:
        known.record_outcome("prompt_cache", "reported" if cached else "none", cached=cached, times=times)
    elif second < first / 2 and first - second > 0.1:
        known.record_outcome("prompt_cache", "not_reported", times=times)
    else:
        known.record_outcome("prompt_cache", "not_seen", times=times)


def _prompt(repetitions: int) -> str:
    """Return a prompt that was never sent before: `FILLER_SENTENCE`, repeated `repetitions` times."""
    return f"Note {os.urandom(6).hex()}. {FILLER_SENTENCE * repetitions}When does the ferry leave?"


def _first_token(answer: ProbeResponse) -> float:
    """Return the seconds from the sending of a request to the first text of its response."""
    pieces = answer.content.pieces
    return (pieces[0] - answer.sent_at) / 1e9 if pieces else answer.seconds


def _cached_tokens(answer: ProbeResponse) -> int | None:
    """Return the number of cached prompt tokens that the usage reports, in the usual field or in DeepSeek's.

    Return None if the usage does not report it.
    """
    usage = answer.content.usage
    told = read_count(usage.get("prompt_tokens_details"), "cached_tokens")
    return read_count(usage, "prompt_cache_hit_tokens") if told is None else told


async def probe_long_prompts(known: Examination) -> None:
    """Find out what the server does with a prompt that is longer than many context windows.

    The server may refuse the prompt, process all of it, or silently cut it.
    """
    if known.outcome("prompt_cache") == UNKNOWN_OUTCOME:
        raise ProbeUnanswered("even a shorter one was not answered")
    if not known.cached:
        raise ProbeUnanswered(TOO_SLOW_REASON)
    shorter = known.cached[0]
    if _first_token(shorter) * LONG / CACHED > known.prober.seconds:
        raise ProbeUnanswered(TOO_SLOW_REASON)
    counted = shorter.content.token_count("prompt_tokens")
    answer = await known.ask(_prompt(LONG), 1, **known.stream_fields)
    if not answer.is_accepted:
        known.record_outcome("long_prompts", "refused", refusal=answer.refusal)
        return
    read = answer.content.token_count("prompt_tokens")
    if read is None or counted is None:
        raise ProbeUnanswered("usage does not tell how much of a prompt is read")
    expected = round(counted * LONG / CACHED)
    known.record_outcome(
        "long_prompts",
        "cut" if read < TRUNCATION_THRESHOLD * expected else "read",
        read=read,
        expected=expected,
    )


async def probe_concurrency(known: Examination) -> None:
    """Find out how many requests are answered concurrently: send several questions at once."""
    alone = known.streamed
    if alone is None:
        raise ProbeUnanswered("answers are not streamed")
    asked = (
        known.ask(f"Write one sentence about the {thing}.", SHORT_TOKEN_LIMIT, **known.stream_fields)
        for thing in QUESTION_TOPICS
    )
    found = await asyncio.gather(*asked, return_exceptions=True)
    answers = [each for each in found if isinstance(each, ProbeResponse)]
    for failure in found:
        if isinstance(failure, ProbeUnanswered) and failure.broken and answers:
            known.record_outcome("parallel", "broken_off")
            return
        if isinstance(failure, BaseException):
            raise failure
    _note_parallel(known, alone, answers)


def _note_parallel(known: Examination, alone: ProbeResponse, answers: Sequence[ProbeResponse]) -> None:
    """Record how concurrent requests were answered.

    `alone`: the response to a single request, for comparison.
    """
    refused = [answer for answer in answers if not answer.is_accepted]
    if refused:
        many, refusal = len(answers), refused[0].refusal
        known.record_outcome("parallel", "refused", asked=many, refused=len(refused), refusal=refusal)
        return
    if any(_is_broken_off(answer, alone) for answer in answers):
        known.record_outcome("parallel", "broken_off")
        return
    if any(answer.late for answer in answers):
        raise ProbeUnanswered(f"not all answers ended within {known.prober.seconds:g} s")
    took = max(answer.seconds for answer in answers)
    times = f"{len(answers)} at once took {took:.2f} s, one alone {alone.seconds:.2f} s"
    many = peak_concurrency(answers) or _many_by_time(alone, answers)
    if not many:
        known.record_outcome("parallel", "not_seen", times=times)
    else:
        outcome = "one" if many == 1 else "all" if many == len(answers) else "some"
        known.record_outcome("parallel", outcome, many=many, times=times)


def _is_broken_off(answer: ProbeResponse, alone: ProbeResponse) -> bool:
    """Return True if a response was broken off, because its exchange failed.

    A response without a finish reason counts as broken off, too, if it is much shorter than `alone`, the
    response to a single request.
    """
    said = answer.content
    early = said.finish_reason is None and len(said.pieces) < len(alone.content.pieces) / 2
    return answer.broken or (answer.is_complete and early)


def peak_concurrency(answers: Sequence[ProbeResponse]) -> int:
    """Return the maximum number of responses that were generated at one moment.

    Return 0 if the arrival times of the responses' pieces do not show it.
    """
    spans = [
        (answer.content.pieces[0], answer.content.pieces[-1]) for answer in answers if answer.content.pieces
    ]
    if len(spans) < len(answers) or any(begun == ended for begun, ended in spans):
        return 0
    changes = sorted([(begun, 1) for begun, _ in spans] + [(ended, -1) for _, ended in spans])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def _many_by_time(alone: ProbeResponse, answers: Sequence[ProbeResponse]) -> int:
    """Return the number of responses that were generated concurrently, judged by their end times.

    Return the number of all responses if they took about as long as `alone`, the response to a single
    request. Return 1 if they ended one after the other. Return 0 (unknown) otherwise.
    """
    ends = sorted(answer.seconds for answer in answers)
    if ends[-1] < 1.5 * alone.seconds:
        return len(answers)
    return 1 if all(later - earlier > alone.seconds / 2 for earlier, later in pairwise(ends)) else 0
