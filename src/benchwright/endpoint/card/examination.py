"""An examination of an endpoint under way: what is known so far, and how further questions are asked because of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchwright.endpoint.card.answer import Answer
from benchwright.endpoint.card.outcomes import OUTCOMES, UNKNOWN_OUTCOME
from benchwright.endpoint.card.prober import Prober, Unanswered
from benchwright.endpoint.card.records import Finding, State
from benchwright.endpoint.card.servers import UNKNOWN_SERVER, Server, advice
from benchwright.errors import ProviderError

CHAT, COMPLETIONS = "/chat/completions", "/completions"

SHORT = 16
"""Tokens of an answer whose content does not matter."""

SENTENCE = "Write one sentence about the sea."
"""A question to which every model has more than `SHORT` tokens to say."""

THINKING_TOKENS = 256
"""Tokens that a model gets more if it cannot be kept from thinking."""

NO_ROUTE = "neither chat completions nor completions answer"


class Token(NamedTuple):
    """A token and its log-probability, and the highest one at its position; None for the first one of a prompt."""

    text: str
    logprob: float | None
    highest: float | None = None


class Examination:
    """The findings so far, and what later questions need of earlier ones.

    `looking_for` is what is being found out, as the lines of the card call it; `unreachable` is the error if nobody is
    there. `models` are those that are listed.
    `path` is where answers are generated: chat completions, or completions if there is no chat; None as long as neither
    has answered. `limit_field` is the field that bounds an answer, `stream_fields` are those that ask for a stream.
    `quiet` are fields that keep the model from thinking; `thinks` tells whether it was seen to think without them.

    Answers that tell of several things: `plain` is the first whole one, `streamed` the first stream, `settled` one to a
    question that is soon answered, `completed` one of completions, `cached` those to one long prompt. `refused` are
    sampling fields that the server refuses. `generated` and `echoed` are tokens with their log-probabilities.
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
        self.plain: Answer | None = None
        self.streamed: Answer | None = None
        self.settled: Answer | None = None
        self.completed: Answer | None = None
        self.cached: Sequence[Answer] = ()
        self.refused: list[str] = []
        self.generated: list[Token] = []
        self.echoed: list[Token] = []

    def note(self, key: str, outcome: str, **detail: Any) -> None:
        """Writes down what came of a line, with the details that its texts name."""
        found = OUTCOMES[key][outcome]
        option = advice(self.server, found.topic)
        follows = found.follows.format(**detail, option=option).rstrip()
        self.findings[key] = Finding(found.state, outcome, found.said.format(**detail), follows, detail)

    def note_unknown(self, key: str, reason: str) -> None:
        """Writes down why a line is not known."""
        self.findings[key] = Finding(State.UNKNOWN, UNKNOWN_OUTCOME, reason)

    def outcome(self, key: str) -> str:
        """Returns the outcome of a line, `unknown` if there is none yet."""
        found = self.findings.get(key)
        return UNKNOWN_OUTCOME if found is None else found.outcome

    @property
    def whole(self) -> Answer:
        """The first whole answer.

        Raises:
            Unanswered: There is none.
        """
        if self.plain is None:
            raise self._no_route()
        return self.plain

    @property
    def has_chat(self) -> bool:
        """Whether chat completions answer; if not, completions do.

        Raises:
            Unanswered: Neither does.
        """
        if self.path is None:
            raise self._no_route()
        return self.path == CHAT

    def _no_route(self) -> Unanswered:
        """Says why nothing generates an answer."""
        chat = self.findings.get("chat")
        is_unknown = chat is not None and chat.outcome == UNKNOWN_OUTCOME
        return Unanswered(chat.said if chat is not None and is_unknown else NO_ROUTE)

    async def ask(self, question: str, tokens: int = SHORT, **fields: Any) -> Answer:
        """Asks for an answer of at most so many tokens, by chat or, if there is none, by completions.

        Raises:
            Unanswered: There is no answer, or nothing here generates any.
        """
        if self.path is None:
            raise self._no_route()
        return await self.ask_at(self.path, question, tokens, **fields)

    async def ask_at(
        self, path: str, question: Any, tokens: int = SHORT, patience: float = 1.0, **fields: Any
    ) -> Answer:
        """Asks at a path; see `ask` and `Prober.post`. For chat, a question can have parts, such as an image."""
        asked = (
            {"prompt": question} if path != CHAT else {"messages": [{"role": "user", "content": question}]}
        )
        return await self.prober.post(path, {**asked, self.limit_field: tokens, **fields}, patience=patience)

    async def ask_chat_quietly(self, question: Any, tokens: int, **fields: Any) -> Answer:
        """Asks chat for an answer whose content matters: without thinking, or with room for it.

        Raises:
            Unanswered: There is no answer, or no chat.
        """
        if not self.has_chat:
            raise Unanswered("chat completions do not answer")
        room = THINKING_TOKENS if self.thinks and not self.quiet else 0
        return await self.ask_at(CHAT, question, tokens + room, **self.quiet, **fields)
