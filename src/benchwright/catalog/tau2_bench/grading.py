"""tau2-bench's reward: the product of the reward parts that a task's reward basis names (evaluator.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from benchwright.catalog.asking import system, user
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.tau2_bench.conversation import FAILED_ENDINGS
from benchwright.catalog.tau2_bench.environment import ConversationMessage
from benchwright.catalog.tau2_bench.rows import Action, Criteria, RewardPart, criteria_of
from benchwright.catalog.tau2_bench.solver import CONVERSATION, ENDED, EXAMINED
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import DECODE_ERRORS, Outcome, Record, Sample
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import JudgeInfo
from benchwright.text import one_line

OFFICIAL_JUDGE = "gpt-4.1-2025-04-14"

JUDGE_PROMPT = """
        TASK
        - You will be given a list of expected outcomes and a conversation that was collected during a test case run.
        - The conversation is between an agent and a customer.
        - Your job is to evaluate whether the agent satisfies each of the expected outcomes.
        - Grade each expected outcome individually.

        FORMAT
        - Your response should be a JSON object with the following fields:
        - `reasoning`: a short explanation for your classification
        - `metExpectation`: `true` if the agent satisfies the expected outcomes, `false` otherwise
        - `expectedOutcome`: repeat the expectation from the input that you are grading
        \n\
        Example response structure:
        {
            "results": [
                {
                    "expectedOutcome": "<one of the expected outcomes from the input>",
                    "reasoning": "<reasoning trace>",
                    "metExpectation": <false or true>,
                }
            ]
        }
        """
JUDGE_REQUEST = """
        conversation:
        {conversation}
        \n\
        expectedOutcomes:
        {outcomes}
        """
"""`JUDGE_PROMPT`: the judge's system prompt. `JUDGE_REQUEST`: the message with the conversation to be judged.

Both are the authors', word for word, with every space.
"""

JUDGE_SETTINGS: dict[str, Any] = {"temperature": 0.0}

ToolCall = dict[str, Any]


class _Result(Record, frozen=True):
    met: bool = msgspec.field(name="metExpectation")


class _Judgement(Record, frozen=True):
    results: list[_Result]


class RewardScorer:
    """Scorer that computes a conversation's reward from its messages and the environment's final state."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("tau2_bench reward", name, 1)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the reward, 0 or 1.

        Raises:
            GraderError: If the judge returns no verdict, or the task needs a judge and this scorer has none.
        """
        artifacts = outcome.artifacts
        criteria = criteria_of(sample.content["task"])
        if artifacts[ENDED] in FAILED_ENDINGS:
            return _scored(sample, criteria, artifacts, {}, FAILED_ENDINGS[artifacts[ENDED]])
        parts = find_met_parts(criteria, artifacts) if criteria else {}
        details: dict[str, Any] = {}
        if criteria and "NL_ASSERTION" in criteria.reward_basis and all(parts.values()):
            parts["NL_ASSERTION"], details = await self._judged(criteria, artifacts[CONVERSATION], session)
        return _scored(sample, criteria, artifacts, parts, None, **details)

    async def _judged(
        self, criteria: Criteria, conversation: Sequence[ConversationMessage], session: Session
    ) -> tuple[bool, dict[str, Any]]:
        if criteria.nl_assertions:
            raise GraderError("there is no judge, which this task needs")
        return True, {}


class JudgedRewardScorer(RewardScorer):
    """A `RewardScorer` for domains in which a judge grades one part of some tasks' reward, at temperature 0.

    `slot`: the name of the judge among the run's models. If it is None, the evaluated model is its own judge.
    The judge is asked only if all other parts are met, because the reward is 0 otherwise. As the judge grades
    only one part of some rewards, this class is not a `JudgingScorer`, all of whose scores come from a judge.
    """

    def __init__(self, name: str, model: str, slot: str | None) -> None:
        super().__init__(name)
        self.fingerprint = fingerprint(self.fingerprint, JUDGE_PROMPT, JUDGE_REQUEST, model, slot)
        self._asking = JudgeInfo(fingerprint(JUDGE_PROMPT, JUDGE_REQUEST), JUDGE_SETTINGS)
        self._slot = slot

    async def _judged(
        self, criteria: Criteria, conversation: Sequence[ConversationMessage], session: Session
    ) -> tuple[bool, dict[str, Any]]:
        if not criteria.nl_assertions:
            return True, {}
        asked = judge_messages(conversation, criteria.nl_assertions)
        reply = await session.chat(asked, role="judge", slot=self._slot, **JUDGE_SETTINGS)
        return all(read_verdicts(reply)), {**self._asking.score_details(reply.model), "judgement": reply.text}


def find_met_parts(criteria: Criteria, artifacts: dict[str, Any]) -> dict[RewardPart, bool]:
    """Return a mapping from each part of the reward to True if the part is met. The judged part is left out."""
    examined, conversation = artifacts[EXAMINED], artifacts[CONVERSATION]
    calls = [call for message in conversation for call in message.get("tool_calls") or ()]
    met: dict[RewardPart, bool] = {
        "DB": examined["database"] is not False,
        "ENV_ASSERTION": all(examined["assertions"]),
        "ACTION": all(any(is_matching_call(one, call) for call in calls) for one in criteria.actions or ()),
        "COMMUNICATE": all(is_communicated(text, conversation) for text in criteria.communicate_info or ()),
    }
    return {part: met[part] for part in criteria.reward_basis if part in met}


def is_matching_call(action: Action, call: ToolCall) -> bool:
    """Return True if a call has the name of a right action, and equal values of the arguments to compare.

    If the action does not name the arguments to compare, all arguments of the call are compared. A call that
    lacks some of the action's arguments then matches, too. The caller, agent or user, is not compared.
    """
    if action.name != call["name"]:
        return False
    compared = call["arguments"].keys() if action.compare_args is None else set(action.compare_args)
    return _only(action.arguments, compared) == _only(call["arguments"], compared)


def is_communicated(text: str, conversation: Sequence[ConversationMessage]) -> bool:
    """Return True if a message of the agent contains the text, ignoring case and commas in the message."""
    return any(
        text.lower() in (message.get("content") or "").lower().replace(",", "")
        for message in conversation
        if message["role"] == "assistant" and (message.get("content") or "").strip()
    )


def judge_messages(
    conversation: Sequence[ConversationMessage], outcomes: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the messages that ask the judge. They contain the whole conversation, and the expected outcomes."""
    lines = "\n".join(f"{message['role']}: {message.get('content')}" for message in conversation)
    return [system(JUDGE_PROMPT), user(JUDGE_REQUEST.format(conversation=lines, outcomes=list(outcomes)))]


def read_verdicts(reply: Reply) -> list[bool]:
    """Return the judge's verdict on each expected outcome.

    The verdicts are read from a JSON object, which may be in a code fence.

    Raises:
        GraderError: If there is no such object, or the object has no results.
    """
    text = reply.text[reply.text.find("{") : reply.text.rfind("}") + 1]
    try:
        results = msgspec.json.decode(text, type=_Judgement).results
    except DECODE_ERRORS:
        results = []
    if not results:
        raise GraderError(f"the judge gives no verdict: {one_line(reply.text, 200)!r}")
    return [result.met for result in results]


def _only(arguments: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in names}


def _scored(
    sample: Sample,
    criteria: Criteria | None,
    artifacts: dict[str, Any],
    parts: dict[RewardPart, bool],
    premature: str | None,
    **details: Any,
) -> Score:
    conversation = artifacts[CONVERSATION]
    right = premature is None and all(parts.values())
    missed = [f"{part} is not met" for part, met in parts.items() if not met]
    verdict = Verdict(
        float(right),
        predicted=", ".join(_names(conversation)),
        expected=", ".join(one.name for one in (criteria and criteria.actions) or ()),
        details={
            "domain": sample.content["domain"],
            "ended": artifacts[ENDED],
            "parts": dict(parts),
            "steps": len(conversation),
            **details,
        },
        explanation=premature or "; ".join(missed) or "all that is rewarded is met",
    )
    return verdict_score(verdict)


def _names(conversation: Sequence[ConversationMessage]) -> Iterator[str]:
    for message in conversation:
        yield from (call["name"] for call in message.get("tool_calls") or ())
