"""A grant: the permission of one trial to send requests to its target through the relay, until it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence, Set
from typing import Any, NamedTuple

import msgspec

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.dialects import DIALECTS, AnswerTranslator, Dialect
from benchwright.endpoint.dialects.dialect_table import TokenCounting
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.flags import DIALECT_UNDECIDED_FLAG, TRANSLATED_FLAG, left_out_names
from benchwright.endpoint.rate_limits import RATE_LIMIT_STATUSES
from benchwright.endpoint.relay.model_renaming import ModelRenamer
from benchwright.endpoint.relay.program_requests import (
    TRANSLATION_FIELDS,
    OutgoingRequest,
    RequestFacts,
    convert_body_to_chat,
    decode_body,
    make_chat_request,
    make_native_request,
    make_translated_request,
    read_fields,
    request_facts,
    to_chat_fields,
)
from benchwright.endpoint.relay.relayed_answer import NO_RETRY_HEADER, RelayedAnswer
from benchwright.endpoint.relay.settings import RelaySettings
from benchwright.endpoint.relay.token_counts import count_request_tokens
from benchwright.endpoint.relay.translated_answer import TranslatedAnswer
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import RequestPurpose
from benchwright.endpoint.serving.http import JSON_CONTENT_TYPE, Headers, HttpError, HttpRequest
from benchwright.errors import LimitReached, ProviderError
from benchwright.records import Record, RequestRecord

LABEL_HEADER = b"x-irid"
"""Header in which a program (Inspect) sends the id that a request has in the program's own log."""

GRACE_SECONDS = 1.0
"""Seconds within which a response that was fully received has to end when its grant is closed."""


class RelayedRequest(Record, frozen=True):
    """A request that went through the relay, and its result.

    `body`: the chat completions request that was sent to the target, or the equivalent of a request in
    another dialect. `reply`: the response; None if there is none. `error`: the reason why there is no
    response; also None if the program disconnected. `label`: the program's own id of the request (header
    `x-irid` of Inspect); "" if the program sends none.
    """

    path: str
    body: bytes
    record: RequestRecord
    reply: Reply | None = None
    error: ProviderError | None = None
    label: str = ""
    request_facts: RequestFacts = RequestFacts()


class Grant:
    """Permission of one trial to use the relay with the token `token`.

    `settings`: the settings of the trial's requests. `names`: the names that the relay answers to a request
    for a list of models; by default, the name of the target's model. `admit`: called before each request;
    raises LimitReached to refuse the request. `note`: called with each request that has ended.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        client: EndpointClient,
        settings: RelaySettings,
        admit: Callable[[RequestFacts], RequestPurpose],
        note: Callable[[RelayedRequest], None],
        withdraw: Callable[[Grant], None],
        names: Sequence[str] = (),
    ) -> None:
        self.base_url = base_url
        self.token = token
        self.model = client.target.model
        self._client = client
        self._settings = settings
        self._admit = admit
        self._note = note
        self._withdraw = withdraw
        self.names = names or (self.model,)
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Refuse the token from now on, and end the requests in progress. Return when all are recorded."""
        await asyncio.sleep(0)  # lets responses whose last byte has arrived complete
        self._withdraw(self)
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def forward(self, path: str, request: HttpRequest, answer: RelayedAnswer) -> None:
        """Send a request to the target, and pass the response on to the program.

        Raises:
            HttpError: If the body is not a JSON object, or a limit of the trial is reached.
        """
        fields = read_fields(request.body)
        dialect = DIALECTS.get(path)
        counting = None if dialect is None else dialect.token_counting
        if dialect is not None and counting is not None and path == counting.path:
            self._start(answer, self._count(dialect, counting, request.body, answer))
            return
        asked = request_facts(fields, dialect)
        try:
            purpose = self._admit(asked)
        except LimitReached as limit:
            if dialect is None:
                raise HttpError(400, f"{limit}.", "limit_reached", code=limit.limit) from None
            _end_program(dialect, request, answer, f"{limit}.")
            return
        if asked.offers_tools:
            purpose = msgspec.structs.replace(purpose, offered_tools=())
        label = request.headers.get(LABEL_HEADER, b"").decode("latin-1")
        noted = RelayedRequest(path, b"", RequestRecord(""), label=label, request_facts=asked)
        if dialect is None:
            outgoing = make_chat_request(path, self.model, self._settings, fields)
            sent = _Sent(outgoing, added=self._settings.added_setting_names(fields))
            self._rename(answer, fields)
            self._start(answer, self._ask(sent, noted, purpose, answer))
        else:
            purpose = msgspec.structs.replace(purpose, dialect=dialect.name)
            self._start(answer, self._ask_in(dialect, request, fields, noted, purpose, answer))

    def _start(self, answer: RelayedAnswer, asking: Coroutine[Any, Any, None]) -> None:
        answer.task = asyncio.get_running_loop().create_task(asking)
        self._tasks.add(answer.task)
        answer.task.add_done_callback(self._tasks.discard)

    def _rename(self, answer: RelayedAnswer, fields: Mapping[str, Any]) -> None:
        """Put the requested model's name into the response, if it differs from the target's own name."""
        name = fields.get("model")
        if isinstance(name, msgspec.Raw) and bytes(name) != msgspec.json.encode(self.model):
            answer.tee.receiver = ModelRenamer(answer, name)

    async def _ask_in(
        self,
        dialect: Dialect,
        request: HttpRequest,
        fields: dict[str, Any],
        noted: RelayedRequest,
        purpose: RequestPurpose,
        answer: RelayedAnswer,
    ) -> None:
        """Send a request that is in another dialect than chat completions.

        The request is sent unchanged if the target has the dialect. Otherwise it is translated.
        """
        try:
            speaks = await self._client.supports_dialect(dialect.path)
            if speaks:
                outgoing = make_native_request(dialect, self.model, self._settings, fields)
                headers = tuple((name, request.headers[name]) for name in _PASSED if name in request.headers)
                sent = _Sent(outgoing, headers, spoken=dialect)
                if not dialect.has_model_in_url:
                    self._rename(answer, fields)
            else:
                asked = decode_body(request.body)
                losses = TranslationLosses()
                outgoing = make_translated_request(dialect, self.model, self._settings, asked, losses)
                flags = (TRANSLATED_FLAG,) if speaks is False else (TRANSLATED_FLAG, DIALECT_UNDECIDED_FLAG)
                added = {*self._settings.setting_values, *TRANSLATION_FIELDS}
                sent = _Sent(outgoing, flags=(*flags, *losses.flags), added=added)
                stream = bool(asked.get("stream"))
                answer.tee.receiver = TranslatedAnswer(answer, AnswerTranslator(dialect, asked), stream)
        except HttpError as refused:
            answer.send_error(refused)
            return
        await self._ask(sent, noted, purpose, answer)

    async def _ask(
        self, sent: _Sent, noted: RelayedRequest, purpose: RequestPurpose, answer: RelayedAnswer
    ) -> None:
        records: list[RequestRecord] = []
        reply, error = None, None
        try:
            reply = await self._client.forward(
                sent.outgoing.path,
                sent.outgoing.body,
                answer.tee,
                purpose,
                records.append,
                sent.headers,
                sent.added,
            )
        except ProviderError as failure:
            error = failure
            status = failure.http_status if failure.http_status in RATE_LIMIT_STATUSES else 502
            answer.send_error(
                HttpError(status or 502, str(failure), "upstream_error", headers=(NO_RETRY_HEADER,))
            )
        finally:
            answer.send_error(HttpError(500, "The relay failed.", "server_error"))
            for record in records:
                body = sent.outgoing.body
                if sent.spoken is not None:
                    body = convert_body_to_chat(sent.spoken, self.model, body)
                record = sent.noted_on(record)
                self._note(msgspec.structs.replace(noted, body=body, record=record, reply=reply, error=error))

    async def _count(
        self, dialect: Dialect, counting: TokenCounting, body: bytes, answer: RelayedAnswer
    ) -> None:
        """Respond with the number of tokens of a request. Nothing is generated, so nothing is recorded."""
        try:
            asked = {**decode_body(body), "model": self.model}
            answer.send_complete_response(await count_request_tokens(self._client, dialect, counting, asked))
        except HttpError as refused:
            answer.send_error(refused)


def _end_program(dialect: Dialect, request: HttpRequest, answer: RelayedAnswer, text: str) -> None:
    """Send a last response without tool calls, so that the program ends. After an error the program would retry.

    Raises:
        HttpError: If the request is not valid in the dialect.
    """
    asked = decode_body(request.body)
    stream = bool(to_chat_fields(dialect, asked).get("stream"))
    translation = AnswerTranslator(dialect, asked)
    answer.send_complete_response(
        translation.encode_message(text, stream), translation.content_type if stream else JSON_CONTENT_TYPE
    )


class _Sent(NamedTuple):
    """A request in the form in which it is sent to the target.

    `spoken`: the dialect of the request; None for a chat completion. `added`: the names of the fields that
    Benchwright added.
    """

    outgoing: OutgoingRequest
    headers: Headers = ()
    flags: tuple[str, ...] = ()
    spoken: Dialect | None = None
    added: Set[str] = frozenset()

    def noted_on(self, record: RequestRecord) -> RequestRecord:
        """Return the record of this request, completed by the request's flags and settings.

        Settings that the server refused are left out.
        """
        refused = left_out_names(record.flags)
        settings = {name: value for name, value in self.outgoing.settings.items() if name not in refused}
        seed = settings.pop("seed", None)
        return msgspec.structs.replace(
            record,
            flags=[*record.flags, *self.flags],
            settings=settings,
            seed=seed if isinstance(seed, int) else None,
        )


_PASSED = (b"anthropic-version", b"anthropic-beta")
"""Headers of a program that are passed on, because the target needs them to understand the request."""
