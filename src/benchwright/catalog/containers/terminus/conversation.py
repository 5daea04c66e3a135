"""The conversation with the model. If the conversation gets too long, a fresh agent takes over.

As in Terminus 2, the handover takes three further requests. First the agent summarises its work. Then its
successor, who sees the summary and the screen, asks questions. Finally the first agent answers them.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.catalog.asking import user
from benchwright.catalog.containers.agent import is_context_length_error
from benchwright.catalog.containers.terminus import prompts
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session
from benchwright.errors import ProviderError
from benchwright.records import SIDE_ROLE, Message

MIN_FREED_CHARACTERS = 16_000
"""Number of characters that are dropped from the end of a conversation that is too long for a summary.

16,000 characters are some 4,000 tokens.
"""


class Conversation:
    """The conversation. `messages`: its full history. `turns`: the number of the model's responses."""

    def __init__(self, session: Session) -> None:
        self.messages: list[Message] = []
        self.turns = 0
        self._session = session
        self._sent: list[Message] = []

    async def ask(self, prompt: str) -> Reply:
        """Send the next prompt, and return the response.

        Raises:
            ProviderError: If the endpoint failed. The history is then unchanged.
            LimitReached: If the trial has reached a limit.
        """
        asked = [*self._sent, user(prompt)]
        reply = await self._session.chat(asked)
        self.messages += [asked[-1], reply.message]
        self._sent = [*asked, reply.message]
        self.turns += 1
        return reply

    async def hand_over(self, task: str, screen: str) -> str:
        """Let another agent take over, and return that agent's first prompt.

        If even the request for a summary is rejected as too long, the same agent continues, with only the
        start of the conversation.

        Raises:
            ProviderError: If the endpoint failed for another reason.
            LimitReached: If the trial has reached a limit.
        """
        history = drop_last_exchanges(self._sent)
        while len(history) >= 2:
            try:
                return await self._handed_over(history, task, screen)
            except ProviderError as error:
                if not is_context_length_error(error):
                    raise
            if len(history) == 2:
                break
            history = drop_last_exchanges(history)
        self._sent = history
        return prompts.restart_prompt(task, screen)

    async def _handed_over(self, history: list[Message], task: str, screen: str) -> str:
        summarise = [*history, user(prompts.summary_prompt(task))]
        summary = await self._aside(summarise)
        question = user(prompts.questions_prompt(task, summary.text, screen))
        asked = await self._aside([question])
        answered = await self._aside([*summarise, summary.message, user(prompts.answers_prompt(asked.text))])
        taken_over = [question, asked.message]
        self.messages += taken_over
        self._sent = [history[0], *taken_over]
        return prompts.hand_over_prompt(answered.text)

    async def _aside(self, messages: Sequence[Message]) -> Reply:
        return await self._session.chat(messages, role=SIDE_ROLE)


def drop_last_exchanges(messages: Sequence[Message]) -> list[Message]:
    """Return the conversation without its last exchanges, which have at least `MIN_FREED_CHARACTERS` characters.

    The first exchange is always kept.
    """
    kept, freed = list(messages), 0
    while len(kept) > 2 and freed < MIN_FREED_CHARACTERS:
        freed += sum(len(str(one.get("content") or "")) for one in kept[-2:])
        del kept[-2:]
    return kept
