"""What the tests of `test` share: a user's project with an agent that adds, and a model that calls its tool.

The model's tokens are words, so that the numbers of every row can be counted by hand.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.app.app_kit import Program

AGENT = """
from osmosis_ai.rollout import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    RolloutAgentLoop,
    create_tool_result,
    get_tool_call_info,
)

NUMBER = OpenAIFunctionPropertySchema(type="number")
ADD = OpenAIFunctionToolSchema(
    type="function",
    function=OpenAIFunctionSchema(
        name="add",
        description="Adds two numbers.",
        parameters=OpenAIFunctionParametersSchema(
            type="object", properties={"a": NUMBER, "b": NUMBER}, required=["a", "b"]
        ),
    ),
)


class Agent(RolloutAgentLoop):
    name = "adder"

    def get_tools(self, request):
        return [ADD]

    async def run(self, ctx):
        messages = list(ctx.request.messages)
        for turn in range(ctx.request.max_turns):
            answer = await ctx.chat(messages, **ctx.request.completion_params)
            ctx.log_event("answer", turn=turn)
            messages.append(answer.message)
            if "explode" in messages[1]["content"]:
                raise ValueError("the page that was wanted\\ndid not load, and neither did the next")
            if "give up" in messages[1]["content"]:
                return ctx.error("out of ideas", final_messages=messages)
            if not answer.has_tool_calls:
                right = ctx.request.metadata["ground_truth"] in (answer.content or "")
                return ctx.complete(messages, reward=float(right))
            for call in answer.tool_calls:
                call_id, _, numbers = get_tool_call_info(call)
                messages.append(create_tool_result(call_id, str(numbers["a"] + numbers["b"])))
        return ctx.complete(messages, finish_reason="max_turns")
"""

TOOLS = '''
from fastmcp import FastMCP

mcp = FastMCP("adder")


@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b
'''

ROWS = [
    ("What is 17 plus 25?", "42"),
    ("Please explode right now.", "boom"),
    ("Say hello.", "hello"),
    ("Just give up.", "never"),
]

KEY: list[dict[str, Any]] = [
    {
        "prompt": "17 plus 25",
        "answer": "it is 42",
        "tool_calls": [{"name": "add", "arguments": {"a": 17, "b": 25}}],
    },
    {"prompt": "Say hello", "answer": "\x1b[31mhello\x1b]0;mine\x07 my friend"},
    {"prompt": "give up", "answer": "no"},
    {"prompt": "explode", "answer": "very well"},
]

SYSTEM = "Use the tools."
CALL = '{"a":17,"b":25}'
FIRST = (3 + 5, 1 + -(-len(CALL) // 8))
SECOND = (3 + 5 + 1, 3)
"""(prompt, completion) tokens of the two calls of row 0: the words of all messages but the tool call itself; one for
the call and one for each eight characters of its arguments, and three for "it is 42"."""

TOKENS = {0: sum(FIRST + SECOND), 1: (3 + 4) + 2, 2: (3 + 2) + 3, 3: (3 + 3) + 1}
"""All tokens of each row."""


def write_project(program: Program) -> Program:
    """Puts the agent, the tools and the rows into a program's directory; returns the program."""
    program.write("my_agent.py", AGENT)
    (program.directory / "tools").mkdir()
    program.write("tools/main.py", TOOLS)
    lines = (
        json.dumps({"system_prompt": SYSTEM, "user_prompt": prompt, "ground_truth": target})
        for prompt, target in ROWS
    )
    program.write("rows.jsonl", "\n".join(lines) + "\n")
    return program


def trying(base_url: str, *more: str, agent: tuple[str, str] = ("-m", "my_agent:Agent")) -> list[str]:
    """The arguments of a test of the agent on all rows."""
    return ["test", *agent, "-d", "rows.jsonl", "--model", "m", "--base-url", base_url, *more]


def without_times(lines: list[str]) -> list[str]:
    """The lines, their durations replaced."""
    return [re.sub(r"\((\d+ms|\d+\.\ds),", "(TIME,", line) for line in lines]
