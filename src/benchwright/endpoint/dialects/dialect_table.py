"""The dialects besides chat completions. The entry of each holds all that other modules need to use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from benchwright.endpoint.dialects.chat_answer import AnswerStep, ChatAnswer
from benchwright.endpoint.dialects.event_encoders import EventEncoder, NamedEventEncoder, gemini_event_encoder
from benchwright.endpoint.dialects.gemini import answer_writer as gemini_answer
from benchwright.endpoint.dialects.gemini import request as gemini_request
from benchwright.endpoint.dialects.gemini import response_reader as gemini_reading
from benchwright.endpoint.dialects.gemini import urls as gemini_address
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.messages import answer_writer as messages_answer
from benchwright.endpoint.dialects.messages import request as messages_request
from benchwright.endpoint.dialects.messages import response_reader as messages_reading
from benchwright.endpoint.dialects.responses import answer_writer as responses_answer
from benchwright.endpoint.dialects.responses import request as responses_request
from benchwright.endpoint.dialects.responses import response_reader as responses_reading
from benchwright.endpoint.dialects.responses import tools as responses_tools

Event = dict[str, Any]


class AnswerWriter(Protocol):
    """Converter of one answer into a dialect, either as a whole body or as the events of a stream."""

    def write_body(self, answer: ChatAnswer) -> dict[str, Any]:
        """Return the body of an answer that is not streamed."""
        ...

    def begin(self) -> list[Event]:
        """Return the first events of a stream."""
        ...

    def write_answer_step(self, step: AnswerStep) -> list[Event]:
        """Return the events for a step of the answer."""
        ...

    def end(self, answer: ChatAnswer) -> list[Event]:
        """Return the last events of a stream, with the finish reason and the usage."""
        ...

    def fail(self, message: str, status: int) -> list[Event]:
        """Return the event that ends a stream with an error.

        `status`: the HTTP status that the error would have had in a response without a stream.
        """
        ...


class ResponseReader(Protocol):
    """Converter of one response of a dialect into a chat completion.

    `is_done`: True once the stream has announced its end.
    """

    is_done: bool

    def read_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the chat completion that is equivalent to a response body."""
        ...

    def read_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return the chat completion chunk that is equivalent to an event.

        Return {} if the event adds nothing to the answer.
        """
        ...


class TokenCounting(NamedTuple):
    """Token counting in a dialect.

    `path`: the path of requests that count tokens. `request_to_count`: a function that returns, from the body
    of such a request, the request whose tokens are to be counted. `make_response`: a function that returns
    the response body for a count.
    """

    path: str
    request_to_count: Callable[[dict[str, Any]], dict[str, Any]]
    make_response: Callable[[int], dict[str, Any]]


class Dialect(NamedTuple):
    """A dialect (an API other than chat completions): its paths, and the conversion of its requests and responses.

    `path`: the path of requests, relative to the result of `url_prefix`. `url_prefix`: a function that
    returns the beginning of the URL path, from the base URL's path and the model. `alternative_paths`: paths for
    other forms of the answer. `setting_paths`: for each target setting that the dialect has, the names of the
    nested fields that lead to the setting in the body. `keep_alive_event`: the bytes sent in a stream after a long
    silence. `key_headers`: the headers in which servers expect a key.

    `offers_tools`: a function that returns True if a request (with undecoded fields) offers a tool that the
    server does not run by itself. If `offers_tools` is None, all tools in the field `tools` count.
    """

    name: str
    path: str
    chat_request: Callable[[dict[str, Any], TranslationLosses], dict[str, Any]]
    make_writer: Callable[[str, str, dict[str, Any]], AnswerWriter]
    make_reader: Callable[[], ResponseReader]
    setting_paths: dict[str, tuple[str, ...]]
    keep_alive_event: bytes
    token_counting: TokenCounting | None = None
    key_headers: tuple[str, ...] = ("Authorization: Bearer",)
    make_event_encoder: Callable[[dict[str, Any]], EventEncoder] = lambda asked: NamedEventEncoder()
    url_prefix: Callable[[str, str], str] = lambda prefix, model: prefix
    alternative_paths: tuple[str, ...] = ()
    offers_tools: Callable[[Mapping[str, Any]], bool] | None = None

    @property
    def has_model_in_url(self) -> bool:
        """True if the model and the form of the answer are in the URL instead of the body.

        Internally the model and the form of the answer are then also fields of the body.
        """
        return bool(self.alternative_paths)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths at which a server of the dialect accepts requests."""
        return (
            self.path,
            *self.alternative_paths,
            *((self.token_counting.path,) if self.token_counting else ()),
        )


_SAMPLING = {"temperature": ("temperature",), "top_p": ("top_p",)}
_MESSAGES_LIMIT, _RESPONSES_LIMIT = ("max_tokens",), ("max_output_tokens",)

MESSAGES = Dialect(
    "messages",
    "/messages",
    messages_request.chat_request,
    messages_answer.MessagesWriter,
    messages_reading.MessagesReader,
    {
        **_SAMPLING,
        "top_k": ("top_k",),
        "max_tokens": _MESSAGES_LIMIT,
        "max_completion_tokens": _MESSAGES_LIMIT,
        "reasoning_effort": ("output_config", "effort"),
    },
    b'event: ping\ndata: {"type":"ping"}\n\n',
    TokenCounting("/messages/count_tokens", lambda asked: asked, lambda count: {"input_tokens": count}),
    ("Authorization: Bearer", "x-api-key:"),
)

RESPONSES = Dialect(
    "responses",
    "/responses",
    responses_request.chat_request,
    responses_answer.ResponsesWriter,
    responses_reading.ResponsesReader,
    {
        **_SAMPLING,
        "max_tokens": _RESPONSES_LIMIT,
        "max_completion_tokens": _RESPONSES_LIMIT,
        "reasoning_effort": ("reasoning", "effort"),
    },
    b": keep-alive\n\n",
    offers_tools=responses_tools.offers_tools,
)

GEMINI = Dialect(
    "gemini",
    gemini_address.GENERATE_SUFFIX,
    gemini_request.chat_request,
    gemini_answer.GeminiWriter,
    gemini_reading.GeminiReader,
    {
        name: ("generationConfig", *path)
        for name, path in {
            "temperature": ("temperature",),
            "top_p": ("topP",),
            "top_k": ("topK",),
            "max_tokens": ("maxOutputTokens",),
            "max_completion_tokens": ("maxOutputTokens",),
            "seed": ("seed",),
            "presence_penalty": ("presencePenalty",),
            "frequency_penalty": ("frequencyPenalty",),
            "reasoning_effort": ("thinkingConfig", "thinkingLevel"),
        }.items()
    },
    b"\n\n",  # Google's own clients do not accept comments, and fail at the end of a stream that had one
    TokenCounting(
        gemini_address.COUNT_TOKENS_SUFFIX,
        gemini_request.request_to_count,
        lambda count: {"totalTokens": count},
    ),
    ("x-goog-api-key:",),
    gemini_event_encoder,
    gemini_address.url_prefix,
    (gemini_address.STREAM_SUFFIX, gemini_address.ARRAY_STREAM_SUFFIX),
    gemini_request.offers_tools,
)

DIALECTS = {path: dialect for dialect in (MESSAGES, RESPONSES, GEMINI) for path in dialect.paths}
"""The dialects other than chat completions: a mapping from each path of a dialect's requests to the dialect."""
