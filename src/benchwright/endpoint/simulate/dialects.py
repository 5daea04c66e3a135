"""The simulated endpoint's dialects other than chat completions, translated into chat completions and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from benchwright.endpoint.dialects import AnswerTranslator, Dialect, UntranslatableRequest
from benchwright.endpoint.dialects.dialect_table import TokenCounting
from benchwright.endpoint.dialects.gemini.urls import parse_url
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.serving.http import HttpError, HttpRequest
from benchwright.endpoint.simulate.request_parsing import ParsedRequest, read_chat
from benchwright.records import DECODE_ERRORS

_decode = msgspec.json.Decoder().decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


def read_request(
    dialect: Dialect, request: HttpRequest, counting: TokenCounting | None = None
) -> tuple[ParsedRequest, dict[str, Any]]:
    """Return (question, original request) for a request in a dialect.

    `counting`: the dialect's token counting if the request asks for a token count, else None.

    Raises:
        HttpError: If the body is not a JSON object, or has the wrong shape.
    """
    try:
        asked = _decode_object(request.body)
        address = parse_url(request.path, request.query)
        if address is not None:
            asked = address.add_to_body(asked)
        chat = dialect.chat_request(
            asked if counting is None else counting.request_to_count(asked), TranslationLosses()
        )
    except (*DECODE_ERRORS, UntranslatableRequest) as error:
        raise HttpError(400, str(error)) from None
    if chat.get("stream"):
        chat["stream_options"] = {"include_usage": True}
    return read_chat(msgspec.json.encode(chat)), asked


def translate_pieces(translation: AnswerTranslator, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a chat stream, translated into the dialect.

    A piece that has no equivalent in the dialect becomes empty.
    """
    for piece in pieces:
        yield b"".join([_said(translation, event[6:]) for event in piece.split(b"\n\n")[:-1]])


def _said(translation: AnswerTranslator, data: bytes) -> bytes:
    return (
        translation.end(announced=True) if data == b"[DONE]" else translation.translate_chunk(_decode(data))
    )
