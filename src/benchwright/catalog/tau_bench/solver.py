"""tau-bench's solver: an agent with tools and a policy talks with a model that plays the customer."""

from __future__ import annotations

from typing import Any

from benchwright.catalog.asking import assistant, system, user
from benchwright.catalog.tau_bench.domain import TRANSFER_TOOL
from benchwright.catalog.tau_bench.environment import DomainEnvironments
from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import final_answer
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Status, Trial

MAX_STEPS = 30
STOP_MARK = "###STOP###"
GREETING = "Hi! How can I help you today?"

CUSTOMER_PROMPT = """You are a user interacting with an agent.

Instruction: {instruction}

Rules:
- Just generate one line at a time to simulate the user's message.
- Do not give away all the instruction at once. Only provide the information that is necessary for the current step.
- Do not hallucinate information that is not provided in the instruction. For example, if the agent asks for the order id but it is not mentioned in the instruction, do not make up an order id, just say you do not remember or have it.
- If the instruction goal is satisified, generate '###STOP###' as a standalone message without anything else to end the conversation.
- Do not repeat the exact instruction in the conversation. Instead, use your own words to convey the same information.
- Try to make the conversation as natural as possible, and stick to the personalities in the instruction."""  # noqa: E501
"""tau-bench's system prompt for the simulated user (strategy "llm"), word for word."""


class SimulatedCustomer:
    """The simulated user, played by a model. It receives the agent's messages, but not the tool calls."""

    def __init__(self, session: Session, instruction: str) -> None:
        self._session = session
        self._messages = [system(CUSTOMER_PROMPT.format(instruction=instruction)), user(GREETING)]

    async def next_message(self) -> str:
        """Return the customer's next message. As in tau-bench, the server's default temperature applies."""
        reply = await self._session.chat(self._messages, role="user", slot="user", temperature=None)
        self._messages.append(assistant(reply.text))
        return reply.text

    async def reply_to_agent(self, said: str) -> str:
        """Return the customer's reply to a message of the agent."""
        self._messages.append(user(said))
        return await self.next_message()


class TauSolver:
    """Solver with tau-bench's tool-calling agent: one action per step, until the user ends the conversation.

    A transfer to a human also ends the conversation. If a response has tool calls, only the first one is
    executed, and the response's text is not sent to the user. Any other response is sent to the user. Tool
    arguments that are not a JSON object end the conversation, because they make tau-bench's program fail.
    """

    def __init__(self, worlds: DomainEnvironments) -> None:
        self._worlds = worlds

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Hold the conversation. The status is `limit` if it does not end within 30 steps."""
        content = trial.sample.content
        world = self._worlds[content["domain"]]
        database = world.new_database()
        customer = SimulatedCustomer(session, content["instruction"])
        messages = [system(world.policy_text), user(await customer.next_message())]
        for step in range(MAX_STEPS):
            reply = await session.chat(messages, tools=world.tool_schemas)
            messages.append(_with_one_call(reply))
            if not reply.tool_calls:
                said = await customer.reply_to_agent(reply.text)
                messages.append(user(said))
                if STOP_MARK in said:
                    return _outcome(messages)
                continue
            name = reply.tool_calls[0]["function"]["name"]
            session.progress(f"step {step + 1}: {name}")
            arguments = read_object_arguments(reply.tool_calls[0]["function"]["arguments"], lenient=True)
            if arguments is None:
                return _outcome(messages, f"the arguments of {name} are not a JSON object")
            told = world.domain.call(database, name, arguments)
            messages.append(_tool_message(reply.tool_calls[0], told))
            if name == TRANSFER_TOOL:
                return _outcome(messages)
        return Outcome(Status.LIMIT, messages, final_answer(messages), f"no end within {MAX_STEPS} steps")


def _with_one_call(reply: Reply) -> Message:
    return reply.message | {"tool_calls": reply.tool_calls[:1]} if reply.tool_calls else reply.message


def _tool_message(call: dict[str, Any], told: str) -> Message:
    name = call["function"]["name"]
    return {"role": "tool", "tool_call_id": call["id"], "name": name, "content": told}


def _outcome(messages: list[Message], reason: str | None = None) -> Outcome:
    return Outcome(Status.ANSWERED, messages, final_answer(messages), reason)
