"""Agents that are Python functions. Such a function gets a row and the model's address, and returns an answer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchwright.agents.call_threads import CallThreads, is_async
from benchwright.agents.external_agent_task import AgentAnswer, ExternalAgentTask, read_answer
from benchwright.data.rows import Row
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.protocols import Scorer
from benchwright.errors import ExecutionError, UserError
from benchwright.records import Trial
from benchwright.runs.keys import fingerprint
from benchwright.runs.source_fingerprints import fingerprint_or_unique, source_fingerprint

OPTIONAL_KEYWORDS = ("base_url", "api_key", "model")
"""Names of the keyword arguments that a function may accept besides the row."""

_THREADS = CallThreads()


def callable_task(
    path: Path,
    function: Callable[..., Any],
    scorers: Sequence[Scorer],
    *,
    module: str,
    limit: int | None = None,
    offset: int = 0,
    group_by: str | None = None,
) -> ExternalAgentTask:
    """Return the task of an agent that is a function. `module`: the `module:attribute` from which it was loaded.

    Raises:
        UserError: If the function cannot be called with a row.
    """
    agent = CallableAgent(function, module)
    return ExternalAgentTask(path, agent, scorers, limit=limit, offset=offset, group_by=group_by)


class CallableAgent:
    """Agent that calls a function once per row: `agent(row, *, base_url, api_key, model)`.

    Keywords that the function does not accept are left out. An async function is awaited. A plain function
    runs in a thread, off the event loop. The function returns its answer as text, or a dict with `answer`,
    `messages` or both. The fingerprint covers the function's code (see `source_fingerprint`).

    Raises:
        UserError: If the function cannot be called with a row.
    """

    def __init__(self, function: Callable[..., Any], module: str) -> None:
        self.name = module.rpartition(":")[2]
        self._function = function
        self._keywords = _keywords(function, module)
        self._is_async = is_async(function)
        self.fingerprint = fingerprint(module, fingerprint_or_unique(source_fingerprint(function)))

    async def run(self, row: Row, trial: Trial, calls: AgentAccess) -> AgentAnswer:
        """Call the function for a row, and return the function's answer.

        Raises:
            ExecutionError: If the function returned a value that is not an answer.
            Exception: Any error raised by the function.
        """
        offered = dict(zip(OPTIONAL_KEYWORDS, (calls.base_url, calls.token, calls.model), strict=True))
        arguments = {name: offered[name] for name in self._keywords}
        if self._is_async:
            result = await self._function(row, **arguments)
        else:
            result = await _THREADS.call(functools.partial(self._function, row), arguments)
            if inspect.isawaitable(result):
                result = await result
        if isinstance(result, str):
            return AgentAnswer(result)
        if isinstance(result, dict):
            return read_answer(result)
        raise ExecutionError(
            f"the agent '{self.name}' returned a {type(result).__name__}; "
            "it must return its answer as text, or a dict with 'answer' or 'messages'"
        )


def _keywords(function: Callable[..., Any], module: str) -> list[str]:
    """Return the keywords among `base_url`, `api_key` and `model` that the function accepts."""
    try:
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[1:]
        takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
        named = {parameter.name for parameter in parameters if parameter.kind in _BY_KEYWORD}
        keywords = [name for name in OPTIONAL_KEYWORDS if takes_all or name in named]
        signature.bind({}, **dict.fromkeys(keywords))
    except (TypeError, ValueError) as error:
        raise UserError(
            f"The agent '{module}' cannot be called as agent(row, *, base_url, api_key, model): {error}"
        ) from None
    return keywords


_BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
