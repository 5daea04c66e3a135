"""Invented log-probabilities in the formats of chat and of plain completions. Equal tokens have equal values."""

from __future__ import annotations

from typing import Any

import xxhash

from benchwright.endpoint.simulate.request_parsing import ParsedRequest


def token_logprobs(question: ParsedRequest, tokens: list[str], offset: int) -> dict[str, Any] | None:
    """Return invented log-probabilities of these tokens, in the format that the request expects.

    Return None if the request asks for none. `offset`: the position of the first token in the text.
    """
    wanted = question.top_logprobs
    if wanted is None:
        return None
    if question.is_chat:
        return {"content": [_chat_logprob(token, wanted) for token in tokens]}
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token)
    return {
        "tokens": tokens,
        "token_logprobs": [_logprob(token) for token in tokens],
        "top_logprobs": [dict(_alternatives(token, wanted)) for token in tokens],
        "text_offset": offsets,
    }


def _chat_logprob(token: str, wanted: int) -> dict[str, Any]:
    def entry(text: str, logprob: float) -> dict[str, Any]:
        return {"token": text, "logprob": logprob, "bytes": list(text.encode())}

    return {
        **entry(token, _logprob(token)),
        "top_logprobs": [entry(*alternative) for alternative in _alternatives(token, wanted)],
    }


def _logprob(token: str) -> float:
    """Return a value between -0.265 and -0.01, always the same for the same token."""
    return -(1 + xxhash.xxh3_64_intdigest(token.encode()) % 256 / 10) / 100


def _alternatives(token: str, wanted: int) -> list[tuple[str, float]]:
    """Return the `wanted` likeliest tokens at a token's position, with their log-probabilities.

    The first is the token itself. The others are less likely: other letters if the token is a letter,
    otherwise words derived from the token.
    """
    space = token[: len(token) - len(token.lstrip())]
    word = token.strip()
    if len(word) == 1 and word.isalpha():
        others = [space + letter for letter in "ABCDEFGHIJ" if letter != word]
    else:
        others = [f"{token}{number}" for number in range(wanted)]
    likely = [(token, _logprob(token))]
    return [*likely, *((other, -2.0 - 0.5 * place) for place, other in enumerate(others))][:wanted]
