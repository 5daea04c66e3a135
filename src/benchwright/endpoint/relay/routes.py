"""Routes of the relay. The relay accepts the many ways in which clients join base URL and path."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from benchwright.endpoint.dialects.gemini.urls import parse_url
from benchwright.endpoint.relay.model_lists import (
    gemini_model,
    gemini_model_list,
    model_list,
    openai_model_entry,
)
from benchwright.endpoint.relay.program_requests import add_url_fields
from benchwright.endpoint.serving.http import HttpError, HttpRequest

_PATH = re.compile(
    rb"(?:/+v1)*/+(chat/completions|completions|models|responses|messages/count_tokens|messages)/*"
)
"""Matches the known paths, with `/v1` before them once, twice or not at all, and with repeated slashes."""
_MODEL = re.compile(rb"(?:/+v1)*/+models/+(.*[^/])/*")
_GEMINI_MODELS = re.compile(rb"(?:/+v1)*/+v1(?:alpha|beta)\d*/+models(?:/+([^:]+))?/*")

ListingFunction = Callable[[Sequence[str]], bytes]


class Route(NamedTuple):
    """Destination of a request to the relay.

    `path`: the path of a dialect. `request`: the request; for Gemini, its body includes the fields from its
    URL. `make_listing`: a function that makes the response to a request for a list of models from the models'
    names; None for other requests. `model`: the requested model if the request is for one model instead of a
    list.
    """

    path: str
    request: HttpRequest
    make_listing: ListingFunction | None = None
    model: str | None = None


def find_route(request: HttpRequest) -> Route:
    """Return the route of a request.

    Raises:
        HttpError: If there is no such path, if the path requires another method, or if the body is not a JSON
            object.
    """
    address = parse_url(request.path, request.query)
    if address is not None:
        _check_method(request, b"POST")
        body = add_url_fields(address, request.body)
        return Route(address.path, msgspec.structs.replace(request, body=body))
    listed = _GEMINI_MODELS.fullmatch(request.path)
    if listed is not None:
        _check_method(request, b"GET")
        return _about_models(request, listed[1], gemini_model, gemini_model_list)
    asked = _MODEL.fullmatch(request.path)
    if asked is not None:
        _check_method(request, b"GET")
        return _about_models(request, asked[1], openai_model_entry, model_list)
    known = _PATH.fullmatch(request.path)
    if known is None:
        shown = request.path.decode("latin-1")
        raise HttpError(
            404,
            f"The relay has no {shown}: it serves /v1/chat/completions, /v1/completions, /v1/responses, "
            "/v1/messages, /v1/models, and /v1beta/models/MODEL:generateContent.",
            "not_found_error",
        )
    path = "/" + known[1].decode()
    _check_method(request, b"GET" if path == "/models" else b"POST")
    return Route(path, request, model_list if path == "/models" else None)


def _about_models(
    request: HttpRequest, quoted: bytes | None, one: Callable[[str], bytes], all_of: ListingFunction
) -> Route:
    """Return the route for a list of models.

    If the path holds a model's name (`quoted`), return the route for that model.
    """
    if quoted is None:
        return Route("/models", request, all_of)
    name = unquote(quoted.decode("latin-1"))
    return Route("/models", request, lambda names: one(name), name)


def _check_method(request: HttpRequest, method: bytes) -> None:
    if request.method != method:
        shown = request.path.decode("latin-1")
        raise HttpError(405, f"{shown} takes {method.decode()} only.", headers=((b"allow", method),))
