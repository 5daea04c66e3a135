"""An examination of an endpoint in progress: the findings so far, and the functions with which probes send requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchwright.endpoint.card.outcomes import OUTCOMES, UNKNOWN_OUTCOME
from benchwright.endpoint.card.probe_response import ProbeResponse
from benchwright.endpoint.card.prober import Prober, ProbeUnanswered
from benchwright.endpoint.card.records import Finding, State
from benchwright.endpoint.card.servers import UNKNOWN_SERVER, Server, option_advice
from benchwright.errors import ProviderError

CHAT, COMPLETIONS = "/chat/completions", "/completions"

SHORT_TOKEN_LIMIT = 16
"""Token limit for responses whose content does not matter."""

SENTENCE_PROMPT = "Write one sentence about the sea."
"""Prompt that every model answers with more than `SHORT_TOKEN_LIMIT` tokens."""

EXTRA_THINKING_TOKENS = 256
"""Number of tokens added to a request's token limit if the model's thinking cannot be turned off."""

NO_ROUTE_REASON = "neither chat completions nor completions answer"


class Token(NamedTuple):
    """A token and its log-probability.

    `highest_logprob`: the highest log-probability of any token at this position; None if not reported. `logprob`:
    None for a prompt's first token, which has no log-probability.
    """

    text: str
    logprob: float | None
    highest_logprob: float | None = None


class Examination:
    """The findings so far, and facts that later probes need from earlier probes.

    `looking_for`: the lines of the card that are being examined. `unreachable`: the error if the server
    cannot be reached. `models`: the names in the list of models. `path`: the path that generates answers
    (chat completions, or completions if there is no chat); None until one of them has answered.
    `limit_field`: the field for the token limit. `stream_fields`: the fields that request a stream. `quiet`:
    the fields that turn thinking off. `thinks`: True if the model was seen to think without the fields in
    `quiet`.

    Responses that several probes use: `plain`, the first response that was not streamed; `streamed`, the
    first stream; `settled`, the response to a question with a short answer; `completed`, a response of the
    completions route; `cached`, the responses to a long prompt that was sent twice.

    `refused`: sampling fields that the server refuses. `generated`: the tokens of an answer, with their
    log-probabilities. `echoed`: the tokens of a prompt, with their log-probabilities.
    """

    def __init__(self, prober: Prober) -> None:
        self.prober = prober
        self.looking_for = ""
        self.unreachable: ProviderError | None = None
        self.findings: dict[str, Finding] = {}
        self.server: Server = UNKNOWN_SERVER
        self.models: Sequence[str] = ()
        self.path: str | None = None
        self.limit_field = "max_tokens"
        self.stream_fields: Mapping[str, Any] = {}
        self.quiet: Mapping[str, Any] = {}
        self.thinks = False
        self.plain: ProbeResponse | None = None
        self.streamed: ProbeResponse | None = None
        self.settled: ProbeResponse | None = None
        self.completed: ProbeResponse | None = None
        self.cached: Sequence[ProbeResponse] = ()
        self.refused: list[str] = []
        self.generated: list[Token] = []
        self.echoed: list[Token] = []

    def record_outcome(self, key: str, outcome: str, **detail: Any) -> None:
        """Record the outcome of a line of the card.

        `detail`: the values that replace the placeholders in the outcome's texts.
        """
        found = OUTCOMES[key][outcome]
        option = option_advice(self.server, found.option_topic)
        follows = found.consequence.format(**detail, option=option).rstrip()
        self.findings[key] = Finding(found.state, outcome, found.text.format(**detail), follows, detail)

    def record_unknown(self, key: str, reason: str) -> None:
        """Record that the finding for a line of the card is unknown, with the reason."""
        self.findings[key] = Finding(State.UNKNOWN, UNKNOWN_OUTCOME, reason)

    def outcome(self, key: str) -> str:
        """Return the recorded outcome of a line of the card. Return `unknown` if none is recorded yet."""
        found = self.findings.get(key)
        return UNKNOWN_OUTCOME if found is None else found.outcome

    @property
    def first_response(self) -> ProbeResponse:
        """The first response of chat completions or completions that was not streamed.

        Raises:
            ProbeUnanswered: If there is no such response.
        """
        if self.plain is None:
            raise self._no_route()
        return self.plain

    @property
    def supports_chat(self) -> bool:
        """True if chat completions work; False if only completions work.

        Raises:
            ProbeUnanswered: If neither works.
        """
        if self.path is None:
            raise self._no_route()
        return self.path == CHAT

    def _no_route(self) -> ProbeUnanswered:
        """Return an `ProbeUnanswered` error that says why neither chat nor completions generate an answer."""
        chat = self.findings.get("chat")
        is_unknown = chat is not None and chat.outcome == UNKNOWN_OUTCOME
        return ProbeUnanswered(chat.said if chat is not None and is_unknown else NO_ROUTE_REASON)

    async def ask(self, question: str, tokens: int = SHORT_TOKEN_LIMIT, **fields: Any) -> ProbeResponse:
        """Send a question by chat, or by completions if there is no chat, and return the response.

        `tokens`: the token limit of the answer. `fields`: further fields of the request.

        Raises:
            ProbeUnanswered: If there is no response, or if neither chat nor completions work.
        """
        if self.path is None:
            raise self._no_route()
        return await self.ask_at(self.path, question, tokens, **fields)

    async def ask_at(
        self, path: str, question: Any, tokens: int = SHORT_TOKEN_LIMIT, patience: float = 1.0, **fields: Any
    ) -> ProbeResponse:
        """Send a question to a path, and return the response.

        The arguments are those of `ask` and of `Prober.post`. A question for chat may also be a list of
        message parts, such as a text and an image.
        """
        asked = (
            {"prompt": question} if path != CHAT else {"messages": [{"role": "user", "content": question}]}
        )
        return await self.prober.post(path, {**asked, self.limit_field: tokens, **fields}, patience=patience)

    async def ask_without_thinking(self, question: Any, tokens: int, **fields: Any) -> ProbeResponse:
        """Send a question to chat with thinking turned off, and return the response.

        If thinking cannot be turned off, the limit of `tokens` is raised by `EXTRA_THINKING_TOKENS`.

        Raises:
            ProbeUnanswered: If there is no response, or no chat.
        """
        if not self.supports_chat:
            raise ProbeUnanswered("chat completions do not answer")
        room = EXTRA_THINKING_TOKENS if self.thinks and not self.quiet else 0
        return await self.ask_at(CHAT, question, tokens + room, **self.quiet, **fields)
