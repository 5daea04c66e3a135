"""Probes of request fields: token limit, stop strings, n, seed, sampling, JSON schema, images."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.card.examination import SENTENCE_PROMPT, SHORT_TOKEN_LIMIT, Examination
from benchwright.endpoint.card.probe_response import ProbeResponse
from benchwright.records import DECODE_ERRORS

LOW_TOKEN_LIMIT = 4

SAMPLING_FIELDS: dict[str, Any] = {
    "temperature": 0.7,
    "top_p": 0.9,
    "top_k": 20,
    "min_p": 0.05,
    "presence_penalty": 0.1,
    "repetition_penalty": 1.05,
}
"""Sampling fields that the authors of models recommend (docs/reasoning.md)."""

STOP_STRINGS = ["a", "e"]
"""Strings that occur in nearly every English sentence."""

ANIMAL_SCHEMA = {
    "type": "object",
    "properties": {"animal": {"type": "string", "enum": ["dog", "cat"]}, "legs": {"type": "integer"}},
    "required": ["animal", "legs"],
    "additionalProperties": False,
}

RED_SQUARE_URL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BA"
    "QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC"
)
"""A square of 64 by 64 red pixels: a PNG image as a data URL."""


async def probe_token_limit(known: Examination) -> None:
    """Find out whether `max_completion_tokens` takes precedence over `max_tokens`.

    A small limit is sent in `max_completion_tokens` and a larger limit in `max_tokens`.
    """
    if not known.supports_chat:
        known.record_outcome("output_limit", "max_tokens", why="is none of completions")
        return
    if known.limit_field != "max_tokens":
        known.record_outcome("output_limit", "max_completion_tokens")
        return
    answer = await known.ask(SENTENCE_PROMPT, SHORT_TOKEN_LIMIT, max_completion_tokens=LOW_TOKEN_LIMIT)
    tokens = answer.content.token_count("completion_tokens") if answer.is_accepted else None
    if tokens is not None and tokens <= LOW_TOKEN_LIMIT + 1:
        known.record_outcome("output_limit", "both")
    else:
        why = (
            "is refused beside it"
            if not answer.is_accepted
            else "is not seen to work"
            if tokens is None
            else "has no effect"
        )
        known.record_outcome("output_limit", "max_tokens", why=why)


async def probe_stop_strings(known: Examination) -> None:
    """Find out whether stop strings work: ask for a sentence, which must then end before its first `a` or `e`."""
    answer = await known.ask(SENTENCE_PROMPT, stop=STOP_STRINGS, **known.quiet)
    if not answer.is_accepted:
        known.record_outcome("stop", "refused", refusal=answer.refusal)
        return
    said = answer.content
    places = [said.all_text.find(string) for string in STOP_STRINGS if string in said.all_text]
    if not places and said.finish_reason == "length":
        known.record_outcome("stop", "not_met")
    elif not places:
        known.record_outcome("stop", "honoured", reason=said.finish_reason)
    else:
        known.record_outcome("stop", "left_in" if min(places) == len(said.all_text) - 1 else "ignored")


async def probe_several_answers(known: Examination) -> None:
    """Find out whether `n` works: request two answers to one question."""
    answer = await known.ask(SENTENCE_PROMPT, LOW_TOKEN_LIMIT, n=2)
    if not answer.is_accepted:
        known.record_outcome("n", "refused", refusal=answer.refusal)
    else:
        known.record_outcome("n", "several" if answer.content.choices >= 2 else "one")


async def probe_seeds(known: Examination) -> None:
    """Find out whether seeds work: send one question at temperature 1 three times, twice with the same seed."""
    warm = {} if "temperature" in known.refused else {"temperature": 1.0}
    answers = [
        await known.ask(SENTENCE_PROMPT, SHORT_TOKEN_LIMIT, seed=seed, **warm) for seed in (11, 11, 12)
    ]
    refused = next((answer for answer in answers if not answer.is_accepted), None)
    if refused is not None:
        known.record_outcome("seed", "refused", refusal=refused.refusal)
        return
    first, again, other = (answer.content.all_text for answer in answers)
    if first != again:
        known.record_outcome("seed", "ignored")
    else:
        known.record_outcome("seed", "no_effect" if first == other else "honoured")


async def probe_sampling(known: Examination) -> None:
    """Find out which sampling fields are accepted: send all of them at once.

    If the server's refusal names some of them, send the remaining fields again.
    """
    answer = await known.ask(SENTENCE_PROMPT, LOW_TOKEN_LIMIT, **SAMPLING_FIELDS)
    if answer.is_accepted:
        known.record_outcome("sampling", "accepted", fields=", ".join(SAMPLING_FIELDS))
        return
    known.refused = [name for name in SAMPLING_FIELDS if name in answer.refusal]
    if not known.refused:
        known.record_outcome("sampling", "refused", refusal=answer.refusal)
        return
    rest = {name: value for name, value in SAMPLING_FIELDS.items() if name not in known.refused}
    again = await known.ask(SENTENCE_PROMPT, LOW_TOKEN_LIMIT, **rest)
    known.refused += [name for name in rest if not again.is_accepted and name in again.refusal]
    known.record_outcome("sampling", "some_refused", refused=", ".join(known.refused))


async def probe_json_schema(known: Examination) -> None:
    """Find out whether a JSON schema is enforced: send the schema with a question that is rarely answered in JSON."""
    schema = {"name": "animal", "strict": True, "schema": ANIMAL_SCHEMA}
    wanted = {"type": "json_schema", "json_schema": schema}
    answer = await known.ask_without_thinking("Say hello.", 48, response_format=wanted)
    if not answer.is_accepted:
        known.record_outcome("json_schema", "refused", refusal=answer.refusal)
    elif _fits(answer.content.text):
        known.record_outcome("json_schema", "honoured")
    else:
        known.record_outcome(
            "json_schema", "cut_off" if answer.content.finish_reason == "length" else "ignored"
        )


def _fits(text: str) -> bool:
    """Return True if a text is JSON that conforms to `ANIMAL_SCHEMA`."""
    try:
        found = msgspec.json.decode(text)
    except DECODE_ERRORS:
        return False
    return (
        isinstance(found, dict)
        and found.keys() == {"animal", "legs"}
        and found["animal"] in ("dog", "cat")
        and type(found["legs"]) is int
    )


async def probe_images(known: Examination) -> None:
    """Find out whether the model sees images: ask for the colour of a red square."""
    if not known.supports_chat:
        known.record_outcome("images", "no_chat")
        return
    answer = await ask_about_image(known)
    if not answer.is_accepted:
        known.record_outcome("images", "refused", refusal=answer.refusal)
    else:
        known.record_outcome("images", "seen" if "red" in answer.content.all_text.lower() else "not_seen")


async def ask_about_image(known: Examination) -> ProbeResponse:
    """Send the image of a red square to chat, ask for its colour, and return the response."""
    parts = [
        {"type": "image_url", "image_url": {"url": RED_SQUARE_URL}},
        {"type": "text", "text": "Which colour is this square? Answer with one word."},
    ]
    return await known.ask_without_thinking(parts, LOW_TOKEN_LIMIT)
