"""The conversation: an agent with tools and a policy, and a simulated user that may have some (orchestrator.py)."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from benchwright.catalog.asking import system
from benchwright.catalog.tau2_bench.world import Examined, Message, World, Worlds
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import final_answer
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Status, Trial

MAX_STEPS = 200
"""Messages, and rounds of tool calls."""
MAX_ERRORS = 10
"""Failed calls, of both sides together."""

RETRIES = 3
"""How often a conversation begins again in which one side said something that cannot be used (runner/progress.py)."""

STOPS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
GREETING = "Hi! How can I help you today?"

CONVERSATION, ENDED, EXAMINED = "conversation", "ended", "examined"
"""What an outcome's artifacts hold: all messages of both sides, what ended them, and what the world was like then."""

INSTRUCTIONS = """You are a customer service agent that helps the user according to the <policy> provided below.
In each turn you can either:
- Send a message to the user.
- Make a tool call.
You cannot do both at the same time.

Try to be helpful and always follow the policy. Always make sure you generate valid JSON only."""
"""The agent's, word for word, so that scores are comparable."""

Side = Literal["assistant", "user"]

Ending = Literal["user_stop", "max_steps", "too_many_errors", "agent_error"]
"""What ended a conversation, in the authors' words."""

PREMATURE: dict[Ending, str] = {
    "max_steps": f"no end within {MAX_STEPS} steps",
    "too_many_errors": f"{MAX_ERRORS} calls failed",
    "agent_error": f"{RETRIES + 1} times the agent said nothing, or made a call whose arguments are no JSON object",
}
"""Why a conversation is worth nothing, whatever it came to."""


class Unusable(Exception):
    """An answer that says nothing, or calls with arguments that are no JSON object; of which side."""

    def __init__(self, side: Side, what: str) -> None:
        super().__init__(what)
        self.side = side


class Agent:
    """Plays the authors' half-duplex orchestrator with their agent and their user simulator, both at temperature 0."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Has the conversation, and looks at the world that it leaves.

        Raises:
            ExecutionError: the sandbox was lost, or the simulated user said nothing that can be used.
        """
        content = trial.sample.content
        for _ in range(1 + RETRIES):
            async with self._worlds.open(content) as world:
                guidelines = self._worlds.files.guidelines(tools=world.told.user_tools is not None)
                talk = Conversation(session, world, guidelines, content["task"])
                try:
                    ending = await talk.hold()
                except Unusable as error:
                    unusable = error
                    continue
                examined = None if ending in PREMATURE else await world.examine(talk.messages)
                return _outcome(talk, ending, examined)
        if unusable.side == "user":
            raise ExecutionError(f"{RETRIES + 1} times the simulated user {unusable}")
        return _outcome(talk, "agent_error")


class Conversation:
    """A conversation and what each side has heard of it, as it is sent to its model: neither sees the other's calls."""

    def __init__(self, session: Session, world: World, guidelines: str, task: dict[str, Any]) -> None:
        told = world.told
        self._session = session
        self._world = world
        self._tools: dict[Side, list[dict[str, Any]] | None] = {
            "assistant": told.tools,
            "user": told.user_tools,
        }
        self.messages: list[Message] = []
        self.heard: dict[Side, list[dict[str, Any]]] = {
            "assistant": [system(agent_prompt(told.policy))],
            "user": [system(user_prompt(guidelines, told.scenario))],
        }
        state = task.get("initial_state") or {}
        for message in state.get("message_history") or [{"role": "assistant", "content": GREETING}]:
            self._note(message)
        self._steps = self._errors = 0

    async def hold(self) -> Ending:
        """Lets them talk until one of them, or a limit, ends it.

        Raises:
            Unusable: one of them says something that is no message.
        """
        while True:
            last = self.messages[-1]
            if last.get("tool_calls"):
                await self._make_calls(last)
            elif is_stop(last):
                return "user_stop"
            else:
                reply, message = await self._answer(self._next(last))
                self._note(message, reply.message)
            self._steps += 1
            if ending := self._limit():
                return ending

    def _next(self, last: Message) -> Side:
        """Whose turn it is: after results of calls, that of who made them."""
        if last["role"] == "tool":
            return "user" if last.get("requestor") == "user" else "assistant"
        return "user" if last["role"] == "assistant" else "assistant"

    def _limit(self) -> Ending | None:
        """The limit that is reached; none while calls wait for their results."""
        if self.messages[-1].get("tool_calls"):
            return None
        if self._errors >= MAX_ERRORS:
            return "too_many_errors"
        return "max_steps" if self._steps >= MAX_STEPS else None

    async def _answer(self, side: Side) -> tuple[Reply, Message]:
        tools = self._tools[side]
        params: dict[str, Any] = {"tools": tools} if tools else {}
        if side == "user":
            params |= {"role": "user", "slot": "user", "temperature": 0.0}
        reply = await self._session.chat(self.heard[side], **params)
        return reply, said(reply, side)

    async def _make_calls(self, message: Message) -> None:
        calls = message["tool_calls"]
        self._session.progress(f"step {self._steps + 1}: {calls[0]['name']}")
        for call, result in zip(calls, await self._world.call(calls), strict=True):
            self._errors += result.error
            self._note(
                {
                    "role": "tool",
                    "id": call["id"],
                    "content": result.content,
                    "requestor": call["requestor"],
                    "error": result.error,
                }
            )

    def _note(self, message: Message, sent: dict[str, Any] | None = None) -> None:
        """Writes a message down, and tells it to those who hear it; `sent` is as its own model sent it."""
        self.messages.append(message)
        calls = message.get("tool_calls")
        if message["role"] == "tool":
            self.heard[self._next(message)].append(
                {"role": "tool", "tool_call_id": message["id"], "content": message["content"]}
            )
            return
        side: Side = message["role"]
        self.heard[side].append(sent or as_sent(message))
        if not calls:
            other: Side = "user" if side == "assistant" else "assistant"
            self.heard[other].append({"role": "user", "content": message["content"]})


def _outcome(talk: Conversation, ending: Ending, examined: Examined | None = None) -> Outcome:
    artifacts: dict[str, Any] = {CONVERSATION: talk.messages, ENDED: ending}
    if examined is not None:
        artifacts[EXAMINED] = {"database": examined.database, "assertions": examined.assertions}
    heard = talk.heard["assistant"]
    status = Status.LIMIT if ending == "max_steps" else Status.ANSWERED
    return Outcome(status, heard, final_answer(heard), PREMATURE.get(ending), artifacts=artifacts)


def agent_prompt(policy: str) -> str:
    """The agent's system prompt."""
    return f"<instructions>\n{INSTRUCTIONS}\n</instructions>\n<policy>\n{policy}\n</policy>"


def user_prompt(guidelines: str, scenario: str) -> str:
    """The simulated user's system prompt; the place for a persona stays empty, as by default."""
    general = guidelines.replace("<PERSONA_GUIDELINES>", "")
    return f"{general}\n\n<scenario>\n{scenario}\n</scenario>"


def is_stop(message: Message) -> bool:
    """Whether the user ends the conversation with this."""
    text = message.get("content") or ""
    return message["role"] == "user" and not message.get("tool_calls") and any(stop in text for stop in STOPS)


def said(reply: Reply, side: Side) -> Message:
    """A model's answer as a message of the conversation.

    Raises:
        Unusable: it is none.
    """
    message: Message = {"role": side, "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [_call(call, side) for call in reply.tool_calls]
    elif not reply.text.strip():
        raise Unusable(side, "said nothing")
    return message


def _call(call: dict[str, Any], side: Side) -> dict[str, Any]:
    name = str(call["function"].get("name") or "")
    try:
        arguments = json.loads(call["function"].get("arguments") or "{}", parse_constant=_refuse)
        msgspec.json.encode(arguments)  # halves of characters, which no file takes, raise a ValueError, too
    except (ValueError, TypeError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise Unusable(side, f"called {name} with arguments that are no JSON object")
    return {"id": call.get("id") or "", "name": name, "arguments": arguments, "requestor": side}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def as_sent(message: Message) -> dict[str, Any]:
    """A message of the task's own as its side's model would have sent it."""
    sent: dict[str, Any] = {"role": "assistant", "content": message.get("content")}
    if calls := message.get("tool_calls"):
        sent["tool_calls"] = [
            {
                "id": call.get("id") or "",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for call in calls
        ]
    return sent
