"""Log-probabilities of generated tokens and of prompts, whether the two agree, and how tokens are counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchwright.endpoint.card.examination import CHAT, COMPLETIONS, Examination, Token
from benchwright.endpoint.card.prober import Unanswered

PROMPT = "The capital of France is"
GENERATED = 4
"""Tokens whose values are compared."""

CLOSE = 0.05
"""Values of one token that differ by less, or by that share, are the same: batching and precision move them."""

SHIFTS = {0: "agree", -1: "late", 1: "early"}
"""Outcomes by how many places the values of a prompt lie behind those that were generated."""


async def ask_completions(known: Examination) -> None:
    """Asks completions, the route of base models, with log-probabilities; without them if they are refused."""
    answer = await known.ask_at(COMPLETIONS, PROMPT, GENERATED, logprobs=2, temperature=0)
    if answer.ok:
        known.generated = tokens_of(answer.said.logprobs)
    else:
        answer = await known.ask_at(COMPLETIONS, PROMPT, GENERATED)
    if not answer.ok:
        known.note("completions", "none", refusal=answer.refusal)
        return
    known.note("completions", "answers")
    known.completed = answer
    if known.path is None:
        known.path, known.plain = COMPLETIONS, answer


async def ask_for_generated(known: Examination) -> None:
    """Notes by which routes the values of generated tokens are told."""
    routes = ["completions"] if known.generated else []
    refusal = None
    if known.path == CHAT:
        answer = await known.ask(PROMPT, GENERATED, logprobs=True, top_logprobs=2)
        if answer.ok and tokens_of(answer.said.logprobs):
            routes.append("chat")
        refusal = None if answer.ok else answer.refusal
    if routes:
        known.note("logprobs", routes[0], routes=" and ".join(routes))
    elif refusal is not None:
        known.note("logprobs", "refused", refusal=refusal)
    else:
        known.note("logprobs", "none")


def tokens_of(logprobs: Any) -> list[Token]:
    """The tokens of an answer's `logprobs`, in the shape of completions, or of chat, which llama.cpp has for both."""
    if not isinstance(logprobs, dict):
        return []
    if isinstance(content := logprobs.get("content"), list):
        return [Token(each["token"], each["logprob"]) for each in content]
    texts, values = logprobs.get("tokens") or [], logprobs.get("token_logprobs") or []
    return [Token(text, value) for text, value in zip(texts, values, strict=False)]


async def ask_for_prompt(known: Examination) -> None:
    """Asks for the values of a prompt: by echo, else by prompt_logprobs, a field of vLLM's."""
    if known.completed is None:
        raise Unanswered("completions do not answer")
    prompt = PROMPT + "".join(token.text for token in known.generated)
    echo = await known.ask_at(COMPLETIONS, prompt, 1, echo=True, logprobs=1, temperature=0)
    found = tokens_of(echo.said.logprobs) if echo.ok else []
    if len(found) > len(known.generated) + 1:
        known.echoed = found
        known.note("prompt_logprobs", "echo", tokens=len(found) - 1)
        return
    field = await known.ask_at(COMPLETIONS, prompt, 1, prompt_logprobs=1, temperature=0)
    found = prompt_tokens_of(field.json) if field.ok else []
    if found:
        known.echoed = [*found, Token("", None)]
        known.note("prompt_logprobs", "prompt_logprobs", tokens=len(found))
    elif echo.ok:
        known.note("prompt_logprobs", "none")
    else:
        known.note("prompt_logprobs", "refused", refusal=echo.refusal)


def prompt_tokens_of(answer: dict[str, Any]) -> list[Token]:
    """The tokens of `prompt_logprobs`: a list with null first, then mappings of ids; the actual token stands first."""
    choices = answer.get("choices") or [{}]
    listed = choices[0].get("prompt_logprobs") or answer.get("prompt_logprobs") or []
    found = []
    for entry in listed:
        first = next(iter(entry.values()), None) if isinstance(entry, dict) else None
        found.append(
            Token(first.get("decoded_token") or "", first.get("logprob")) if first else Token("", None)
        )
    return found


async def compare_both(known: Examination) -> None:
    """Compares the values of the same tokens, generated and then read as the end of a prompt."""
    if not known.generated or not known.echoed:
        raise Unanswered("values of generated tokens and of prompts are not both told")
    generated = [token.logprob for token in known.generated]
    echoed = [token.logprob for token in known.echoed]
    shift = shift_of(generated, echoed)
    if shift is None:
        told = _values(echoed[-len(generated) - 1 :])
        known.note("logprobs_agree", "differ", generated=_values(generated), echoed=told)
    else:
        known.note("logprobs_agree", SHIFTS[shift])


def shift_of(generated: Sequence[float | None], echoed: Sequence[float | None]) -> int | None:
    """By how many places the generated values lie too late in the echo, negative if too early; None if not there.

    The echo ends with the one token that was generated behind the prompt.
    """
    place, many = len(echoed) - 1 - len(generated), len(generated)
    for shift in SHIFTS:
        part = echoed[max(place + shift, 0) : place + shift + many]
        if len(part) == many and all(map(_close, generated, part)):
            return shift
    return None


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None or not math.isfinite(one):
        return False
    return abs(one - other) < CLOSE + CLOSE * abs(one)


def _values(values: Sequence[float | None]) -> str:
    return " ".join("–" if value is None else f"{value:.2f}" for value in values)


async def count_tokens(known: Examination) -> None:
    """Compares what /tokenize counts with the usage of the same text."""
    answer = await known.prober.post("/tokenize", {"prompt": PROMPT}, beside=True)
    counted = answer.json.get("count") if answer.ok else None
    if answer.ok and not isinstance(counted, int):  # llama.cpp's has other names
        answer = await known.prober.post("/tokenize", {"content": PROMPT}, beside=True)
        listed = answer.json.get("tokens")
        counted = len(listed) if isinstance(listed, list) else None
    if not isinstance(counted, int):
        known.note(
            "token_counting", "none", refusal="no count in its answer" if answer.ok else answer.refusal
        )
        return
    used = None if known.completed is None else known.completed.said.tokens("prompt_tokens")
    outcomes = {None: "only_tokenize", counted: "agree", counted + 1: "one_more"}
    known.note("token_counting", outcomes.get(used, "differ"), counted=counted, used=used)
