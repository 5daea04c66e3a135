"""Probes of log-probabilities and of token counting.

Some probes request the log-probabilities of generated tokens, and others those of a prompt's tokens. One
probe compares both kinds of log-probabilities for the same tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchwright.endpoint.card.examination import COMPLETIONS, Examination, Token
from benchwright.endpoint.card.prober import ProbeUnanswered

LOGPROB_PROMPT = "The capital of France is"
MAX_GENERATED_TOKENS = 4
"""Number of generated tokens whose log-probabilities are compared."""

LOGPROB_TOLERANCE = 0.1
"""Tolerance for the difference between two log-probabilities of the same token; both absolute and relative.

Log-probabilities vary with the batch and the numerical precision.
"""


LOGPROB, HIGHEST = Token._fields.index("logprob"), Token._fields.index("highest_logprob")


async def probe_completions(known: Examination) -> None:
    """Find out whether completions, the route of base models, answer.

    The request asks for log-probabilities. If the server refuses that request, it is repeated without them.
    """
    answer = await known.ask_at(COMPLETIONS, LOGPROB_PROMPT, MAX_GENERATED_TOKENS, logprobs=2, temperature=0)
    if answer.is_accepted:
        known.generated = read_tokens(answer.content.logprobs)
    else:
        answer = await known.ask_at(COMPLETIONS, LOGPROB_PROMPT, MAX_GENERATED_TOKENS)
    if not answer.is_accepted:
        known.record_outcome("completions", "none", refusal=answer.refusal)
        return
    known.record_outcome("completions", "answers")
    known.completed = answer
    if known.outcome("chat") in ("missing", "refused", "other"):
        known.path, known.plain = COMPLETIONS, answer


async def probe_logprobs(known: Examination) -> None:
    """Record which of the routes chat and completions report log-probabilities of generated tokens."""
    routes = ["completions"] if known.generated else []
    refusal = None
    if known.supports_chat:
        answer = await known.ask(LOGPROB_PROMPT, MAX_GENERATED_TOKENS, logprobs=True, top_logprobs=2)
        if answer.is_accepted and read_tokens(answer.content.logprobs):
            routes.append("chat")
        refusal = None if answer.is_accepted else answer.refusal
    if routes:
        known.record_outcome("logprobs", routes[0], routes=" and ".join(routes))
    elif refusal is not None:
        known.record_outcome("logprobs", "refused", refusal=refusal)
    else:
        known.record_outcome("logprobs", "none")


def read_tokens(logprobs: Any) -> list[Token]:
    """Return the tokens in a `logprobs` object, in the format of chat or of completions.

    llama.cpp uses the format of chat on both routes.
    """
    if not isinstance(logprobs, dict):
        return []
    if isinstance(content := logprobs.get("content"), list):
        return [Token(each["token"], each["logprob"]) for each in content]
    texts, values = logprobs.get("tokens") or [], logprobs.get("token_logprobs") or []
    tops = logprobs.get("top_logprobs") or [None] * len(texts)
    return [
        Token(text, value, max(top.values()) if top else None)
        for text, value, top in zip(texts, values, tops, strict=False)
    ]


async def probe_prompt_logprobs(known: Examination) -> None:
    """Find out whether the log-probabilities of a prompt are available.

    They are requested with `echo`. If that yields none, they are requested with vLLM's field
    `prompt_logprobs`.
    """
    if known.completed is None:
        raise ProbeUnanswered("completions do not answer")
    prompt = LOGPROB_PROMPT + "".join(token.text for token in known.generated)
    echo = await known.ask_at(COMPLETIONS, prompt, 1, echo=True, logprobs=1, temperature=0)
    found = read_tokens(echo.content.logprobs) if echo.is_accepted else []
    if len(found) > len(known.generated) + 1:
        known.echoed = found
        known.record_outcome("prompt_logprobs", "echo", tokens=len(found) - 1)
        return
    field = await known.ask_at(COMPLETIONS, prompt, 1, prompt_logprobs=1, temperature=0)
    found = read_prompt_tokens(field.json) if field.is_accepted else []
    if found:
        known.echoed = [*found, Token("", None)]
        known.record_outcome("prompt_logprobs", "prompt_logprobs", tokens=len(found))
    elif echo.is_accepted:
        known.record_outcome("prompt_logprobs", "none")
    else:
        known.record_outcome("prompt_logprobs", "refused", refusal=echo.refusal)


def read_prompt_tokens(answer: dict[str, Any]) -> list[Token]:
    """Return the tokens in a response's `prompt_logprobs`.

    `prompt_logprobs` is a list with an entry per token: null for the first token, then mappings by token id.
    In each mapping, the first entry is the token that the prompt really contains.
    """
    choices = answer.get("choices") or [{}]
    listed = choices[0].get("prompt_logprobs") or answer.get("prompt_logprobs") or []
    found = []
    for entry in listed:
        first = next(iter(entry.values()), None) if isinstance(entry, dict) else None
        found.append(
            Token(first.get("decoded_token") or "", first.get("logprob")) if first else Token("", None)
        )
    return found


async def probe_logprob_agreement(known: Examination) -> None:
    """Find out whether the log-probabilities of generated tokens agree with those of the same tokens in a prompt."""
    if not known.generated or not known.echoed:
        raise ProbeUnanswered("values of generated tokens and of prompts are not both told")
    outcome = logprob_agreement_outcome(known.generated, known.echoed)
    if outcome == "differ":
        end = known.echoed[-len(known.generated) - 1 : -1]
        known.record_outcome(
            "logprobs_agree", "differ", generated=_values(known.generated), echoed=_values(end)
        )
    else:
        known.record_outcome("logprobs_agree", outcome)


def logprob_agreement_outcome(generated: Sequence[Token], echoed: Sequence[Token]) -> str:
    """Return the outcome of the card's line `logprobs_agree`.

    `generated`: the tokens of an answer. `echoed`: the tokens of a prompt that ends with that answer.

    Some servers are off by one: they report the value of the neighbouring position. Such a server is
    recognised by the highest value at a position, which then is the neighbour's.
    """
    first, many = _place(generated, echoed), len(generated)
    for outcome, shift in (("agree", 0), ("late", -1), ("early", 1)):
        part = echoed[max(first + shift, 0) : first + shift + many]
        if len(part) == many and (
            _equal(generated, part, LOGPROB) or (shift and _equal(generated, part, HIGHEST))
        ):
            return outcome
    return "differ"


def _place(generated: Sequence[Token], echoed: Sequence[Token]) -> int:
    """Return the index in the echoed prompt at which the generated tokens begin.

    The index is found by the texts of the tokens. If the texts differ, the generated tokens are assumed to
    end just before the last token of the prompt.
    """
    texts, many = [token.text for token in generated], len(generated)
    last = len(echoed) - 1 - many
    found = (
        place for place in (last + 1, last) if [one.text for one in echoed[place : place + many]] == texts
    )
    return next(found, last)


def _equal(some: Sequence[Token], others: Sequence[Token], field: int) -> bool:
    return all(_close(one[field], other[field]) for one, other in zip(some, others, strict=True))


def _close(one: Any, other: Any) -> bool:
    if not isinstance(one, float) or not isinstance(other, float) or not math.isfinite(one):
        return False
    return abs(one - other) < LOGPROB_TOLERANCE + LOGPROB_TOLERANCE * abs(one)


def _values(tokens: Sequence[Token]) -> str:
    return " ".join("–" if token.logprob is None else f"{token.logprob:.2f}" for token in tokens)


async def probe_token_counting(known: Examination) -> None:
    """Find out whether /tokenize and the usage of a response count the same number of tokens for the same text."""
    answer = await known.prober.post("/tokenize", {"prompt": LOGPROB_PROMPT}, beside=True)
    counted = answer.json.get("count") if answer.is_accepted else None
    if answer.is_accepted and not isinstance(counted, int):  # llama.cpp uses other names
        answer = await known.prober.post("/tokenize", {"content": LOGPROB_PROMPT}, beside=True)
        listed = answer.json.get("tokens")
        counted = len(listed) if isinstance(listed, list) else None
    if not isinstance(counted, int):
        known.record_outcome(
            "token_counting",
            "none",
            refusal="no count in its answer" if answer.is_accepted else answer.refusal,
        )
        return
    used = None if known.completed is None else known.completed.content.token_count("prompt_tokens")
    outcomes = {None: "only_tokenize", counted: "agree", counted + 1: "one_more"}
    known.record_outcome("token_counting", outcomes.get(used, "differ"), counted=counted, used=used)
