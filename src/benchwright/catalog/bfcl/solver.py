"""Solver of single-turn tasks. It offers functions as tools or in a prompt (bfcl_eval, default_prompts.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from benchwright.catalog.asking import system
from benchwright.catalog.bfcl.categories import CATEGORIES
from benchwright.catalog.bfcl.tools import functions_as_tools, with_language_hint
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Trial

CallMode = Literal["tools", "prompt"]


class SingleTurnSolver:
    """A solver that offers the functions, as tools or in the system prompt, and sends one request.

    The answer is the response, unchanged.
    """

    def __init__(self, mode: CallMode) -> None:
        self._mode = mode

    async def ask(self, trial: Trial, session: Session) -> Outcome:
        """Send one request, and return its outcome."""
        content = trial.sample.content
        functions = offered_functions(content)
        messages = list(content["question"][0])
        params: dict[str, Any] = {}
        if self._mode == "prompt":
            messages = with_system_prompt(messages, functions)
        elif functions:
            params["tools"] = functions_as_tools(functions)
        reply = await session.chat(messages, **params)
        messages.append(reply.message)
        status, reason = answer_status(reply)
        return Outcome(status, messages, reply.text, reason)


def offered_functions(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the documents of the functions on offer, as the model sees them."""
    return with_language_hint(content["functions"], CATEGORIES[content["category"]].language)


SYSTEM_PROMPT = """\
You are an expert in composing functions.You are given a question and a set of possible functions. Based on the \
question, you will need to make one or more function/tool calls to achieve the purpose. If none of the functions \
can be used, point it out. If the given question lacks the parameters required by the function, also point it out.

You should only return the function calls in your response.

If you decide to invoke any of the function(s), you MUST put it in the format of \
[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)].  \
You SHOULD NOT include any other text in the response.

At each turn, you should try your best to complete the tasks requested by the user within the current turn. \
Continue to output functions to call until you have fulfilled the user's request to the best of your ability. \
Once you have no more functions to call, the system will consider the current turn complete and proceed to the \
next turn or task.

Here is a list of functions in json format that you can invoke.
{functions}
"""
"""The system prompt of the leaderboard's prompt models, word for word, so that scores are comparable."""

MORE_FUNCTIONS_MESSAGE = "I have updated some more functions you can choose from. What about now?"
"""The user's message in a turn that adds functions which earlier turns withheld."""


def with_system_prompt(messages: Sequence[Message], functions: Sequence[dict[str, Any]]) -> list[Message]:
    """Return the messages with BFCL's system prompt in front.

    If the first message is a system message, its text is appended to the prompt.
    """
    prompt = SYSTEM_PROMPT.replace("{functions}", json.dumps(functions, indent=4))
    if messages and messages[0].get("role") == "system":
        return [system(f"{prompt}\n\n{messages[0].get('content', '')}"), *messages[1:]]
    return [system(prompt), *messages]


def more_functions_text(functions: Sequence[dict[str, Any]]) -> str:
    """Return the user's message that offers withheld functions to a model that gets functions as text."""
    return f"{list(functions)}\n{MORE_FUNCTIONS_MESSAGE}"
