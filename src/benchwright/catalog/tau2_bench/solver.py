"""tau2-bench's solver. An agent talks with a simulated user or works alone; then the final state is checked."""

from __future__ import annotations

from typing import Any

from benchwright.catalog.tau2_bench.conversation import (
    FAILED_ENDINGS,
    MAX_RESTARTS,
    Conversation,
    ConversationEnding,
    UnusableMessage,
)
from benchwright.catalog.tau2_bench.dialogue import Dialogue
from benchwright.catalog.tau2_bench.environment import ConversationEnvironment, EnvironmentStarter, StateCheck
from benchwright.catalog.tau2_bench.solo import SoloConversation
from benchwright.engine.answers import final_answer
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Status, Trial

CONVERSATION, ENDED, EXAMINED = "conversation", "ended", "examined"
"""Keys of an outcome's artifacts.

`CONVERSATION`: the messages of both sides. `ENDED`: the reason why the conversation ended. `EXAMINED`: the
check of the final state.
"""


class Tau2Solver:
    """Solver that follows the authors' half-duplex orchestrator, in which agent and user take turns.

    The models of agent and user are asked at temperature 0.
    """

    def __init__(self, worlds: EnvironmentStarter) -> None:
        self._worlds = worlds

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Hold the conversation, then check the final state of the environment.

        Raises:
            ExecutionError: If the sandbox was lost, or the simulated user kept sending unusable messages.
            ProviderError: If a request to a model failed.
        """
        content = trial.sample.content
        for _ in range(1 + MAX_RESTARTS):
            async with self._worlds.open_environment(content, session) as world:
                talk = self._begin(content, world, session)
                try:
                    ending = await talk.run()
                except UnusableMessage as error:
                    unusable = error
                    continue
                examined = None if ending in FAILED_ENDINGS else await world.check_state(talk.messages)
                return _outcome(talk, ending, examined)
        if unusable.side == "user":
            raise ExecutionError(f"{MAX_RESTARTS + 1} times the simulated user {unusable}")
        return _outcome(talk, "agent_error")

    def _begin(
        self, content: dict[str, Any], world: ConversationEnvironment, session: Session
    ) -> Conversation:
        if content["solo"]:
            return SoloConversation(session, world, content["task"])
        guidelines = self._worlds.files.read_guidelines(tools=world.told.user_tools is not None)
        return Dialogue(session, world, guidelines, content["task"])


def _outcome(talk: Conversation, ending: ConversationEnding, examined: StateCheck | None = None) -> Outcome:
    artifacts: dict[str, Any] = {CONVERSATION: talk.messages, ENDED: ending}
    if examined is not None:
        artifacts[EXAMINED] = {"database": examined.database, "assertions": examined.assertions}
    heard = talk.heard["assistant"]
    status = Status.LIMIT if ending == "max_steps" else Status.ANSWERED
    return Outcome(status, heard, final_answer(heard), FAILED_ENDINGS.get(ending), artifacts=artifacts)
