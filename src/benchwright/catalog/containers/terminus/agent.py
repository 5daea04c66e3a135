"""The loop of the Terminus agent: the model types, sees the screen, and confirms that it is done."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

import msgspec

from benchwright.catalog.containers.agent import (
    CONTAINER_END_REASONS,
    AgentLimits,
    AgentResult,
    is_context_length_error,
)
from benchwright.catalog.containers.terminus import prompts
from benchwright.catalog.containers.terminus.answers import KeystrokeCommand, ParsedAnswer, read_answer
from benchwright.catalog.containers.terminus.conversation import Conversation
from benchwright.catalog.containers.terminus.terminal import ContainerEnded, Terminal
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.protocols import Session
from benchwright.errors import LimitReached, ProviderError
from benchwright.recipes.container_launch import ContainerAgent
from benchwright.recipes.recipe import Recipe
from benchwright.records import Status
from benchwright.sandbox.docker import Sandbox
from benchwright.text import one_line

MAX_LINE_LENGTH = 80

DEPARTURES = (
    "Terminus is our own agent after the protocol of Terminus 2 (Harbor 0.25), with other words in its prompts",
    "Terminus hands over when the server refuses the length, not when 8,000 tokens are left",
    "Terminus ends where the model refuses",
)
"""The differences between Benchwright's Terminus agent and the original Terminus 2, one sentence each."""


class Terminus:
    """The Terminus agent; see `container_agents.TaskAgent` for its interface.

    The outcome's artifacts are `agent` (its label) and `commands` (the keys typed, each with the screen
    afterwards).
    """

    def __init__(self, recipe: Recipe, agent: ContainerAgent) -> None:
        self.mounts = agent.mounts
        self._label = recipe.label
        self._tmux = agent.launch_words

    async def run(
        self, session: Session, sandbox: Sandbox, task: str, limits: AgentLimits, *, apart: bool = False
    ) -> AgentResult:
        """Work on a task, see `TaskAgent.run`. Each call uses a terminal of its own, whatever the value of `apart`.

        The session counts the turns.
        """
        work = _Work(session, Terminal(sandbox, self._tmux), task, limits.total_seconds)
        worked = await work.done()
        return msgspec.structs.replace(worked, artifacts={"agent": self._label, "commands": work.typed})


class _Work:
    def __init__(self, session: Session, terminal: Terminal, task: str, seconds: float | None) -> None:
        self._session = session
        self._terminal = terminal
        self._task = task
        self._seconds = seconds
        self._end = None if seconds is None else monotonic() + seconds
        self._talk = Conversation(session)
        self.typed: list[dict[str, Any]] = []

    async def done(self) -> AgentResult:
        """Work until the task is done or a limit ends the work."""
        try:
            return await self._go()
        except TimeoutError:
            return self._ended(Status.LIMIT, f"the work took longer than {self._seconds:g} s")
        except LimitReached as reached:
            return self._ended(Status.LIMIT, str(reached))
        except ContainerEnded as ended:
            why = CONTAINER_END_REASONS.get(ended.reason, ended.reason)
            return msgspec.structs.replace(self._ended(Status.LIMIT, why), container_ended=True)

    async def _go(self) -> AgentResult:
        await self._terminal.start()
        prompt = prompts.first_prompt(self._task, prompts.cut_middle(await self._terminal.read_new_output()))
        said_before = False
        while await self._terminal.is_open():
            reply = await self._ask(prompt)
            status, reason = answer_status(reply)
            answer = read_answer(reply.text)
            if status is Status.REFUSED:
                return self._ended(status, reason)
            if status is Status.TRUNCATED:
                prompt = prompts.cut_off_prompt(reply.usage.completion_tokens, answer.warnings)
            elif answer.error:
                prompt = prompts.parse_error_prompt(answer.error, answer.warnings)
            else:
                screen = await self._type(answer)
                if answer.says_complete and said_before:
                    break
                said_before = answer.says_complete
                prompt = (
                    prompts.confirm_prompt(screen)
                    if answer.says_complete
                    else prompts.warning_prompt(answer.warnings, screen)
                )
        return self._ended(Status.ANSWERED, None)

    async def _ask(self, prompt: str) -> Reply:
        """Send a prompt, and return the response.

        If the server rejects the conversation as too long, let another agent take over, and send that agent's
        prompt.
        """
        try:
            async with asyncio.timeout(self._seconds_left()):
                return await self._talk.ask(prompt)
        except ProviderError as error:
            if not self._talk.turns or not is_context_length_error(error):
                raise
        self._session.progress("the conversation is too long: handing over")
        screen = await self._terminal.read_screen()
        async with asyncio.timeout(self._seconds_left()):
            return await self._talk.ask(await self._talk.hand_over(self._task, screen))

    async def _type(self, answer: ParsedAnswer) -> str:
        """Type the keys of an answer, and return the terminal's output."""
        for keys in answer.commands:
            await self._press(keys)
        screen = prompts.cut_middle(await self._terminal.read_new_output())
        for place, keys in enumerate(answer.commands, 1):
            output = screen if place == len(answer.commands) else ""
            self.typed.append(
                {"command": keys.keystrokes, "output": output, "ended": "typed", "seconds": keys.seconds}
            )
        return screen

    async def _press(self, keys: KeystrokeCommand) -> None:
        self._session.progress(
            f"turn {self._talk.turns}: {one_line(keys.keystrokes.strip(), MAX_LINE_LENGTH)}"
        )
        left = self._seconds_left()
        began = monotonic()
        await self._terminal.type_keys(keys.keystrokes)
        seconds = keys.seconds if left is None else min(keys.seconds, left)
        await asyncio.sleep(max(0.0, seconds - (monotonic() - began)))

    def _seconds_left(self) -> float | None:
        if self._end is None:
            return None
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _ended(self, status: Status, reason: str | None) -> AgentResult:
        said = self._talk.messages
        return AgentResult(status, said, final_answer(said), reason)
