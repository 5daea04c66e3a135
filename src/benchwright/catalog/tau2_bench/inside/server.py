"""Server of one conversation's environment in tau2-bench. It reads and writes lines of JSON.

Runs in the sandbox.

    {"open": {"domain": "retail", "task": {…}, "retrieval": "bm25", "solo": false, "policy": null}}
        -> {"policy": "…", "scenario": "…", "tools": [{…}], "user_tools": [{…}] or null}
    {"calls": [{"id": "1", "name": "…", "arguments": {…}, "requestor": "assistant" or "user"}]}
        -> {"results": [{"content": "…", "error": false}]}
    {"examine": [message, …]}
        -> {"database": true, "assertions": [true]} ("database" is null if it is not graded)

Before the results of calls, the server may write {"asks": question}. The host must then send a line with the
answer (retrieval.py).

Messages are {"role": "assistant", "user" or "tool", "content", "tool_calls", "id", "requestor", "error"}. The
behaviour of the domains is the authors' alone: none of it is written here. The repository's files are below
this folder, at the same relative paths.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import types
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

EVALUATED = ("calculate", "grep")
"""Tools that evaluate an expression from the model, which may take forever.

These tools only read, so that they can run in a separate process.
"""
SECONDS = 2
BYTES = 256 * 2**20


class World:
    """The environment of one task, created by the authors' code."""

    def __init__(
        self, domain: str, task: dict[str, Any], retrieval: str | None, solo: bool, policy: str | None
    ) -> None:
        tasks = importlib.import_module("tau2.data_model.tasks")
        self.messages = importlib.import_module("tau2.data_model.message")
        self.task = tasks.Task.model_validate(task)
        module = importlib.import_module(f"tau2.domains.{domain}.environment")
        self.make = module.get_environment
        self.settings: dict[str, Any] = {"policy_type": policy} if policy else {}
        if retrieval is not None:
            importlib.import_module("retrieval").prepare(ask)
            self.settings = {
                "retrieval_variant": retrieval, "task": self.task, "read_log_allowlist": reads_that_count(task)
            }  # fmt: skip
        self.alone = {"solo_mode": True} if solo else {}
        self.environment = self.begin(self.history(), **self.alone)

    def history(self) -> list[Any]:
        """Return the messages that the task prescribes as the start of the conversation."""
        state = self.task.initial_state
        return list((state and state.message_history) or [])

    def begin(self, messages: list[Any], **alone: bool) -> Any:
        """Create a fresh environment, and repeat in it all calls in `messages`.

        `alone`: {"solo_mode": True} for an agent without a user, otherwise empty.
        """
        state = self.task.initial_state
        environment = self.make(**self.settings, **alone)
        environment.set_state(
            initialization_data=state and state.initialization_data,
            initialization_actions=state and state.initialization_actions,
            message_history=messages,
        )
        return environment

    def described(self) -> dict[str, Any]:
        """Return the policy and tools of the agent, and the scenario and tools of the user."""
        return {
            "policy": self.environment.get_policy(),
            "scenario": str(self.task.user_scenario),
            "tools": [tool.openai_schema for tool in self.environment.get_tools()],
            "user_tools": self.user_tools(),
        } | (self.tools_of_one() if self.alone else {})

    def tools_of_one(self) -> dict[str, Any]:
        """Return the tools of an agent without a user (llm_agent.py).

        These are the agent's own tools, the user's tools, and one tool that ends the task.
        """

        def done() -> str:
            """Call this function when you are done with the task."""
            return ""

        end = importlib.import_module("tau2.environment.tool").as_tool(done)
        tools = [*self.environment.get_tools(), *self.environment.get_user_tools(), end]
        return {"tools": [tool.openai_schema for tool in tools], "user_tools": None}

    def user_tools(self) -> list[dict[str, Any]] | None:
        """Return the schemas of the user's tools.

        Return None if the user has no tools, or if the task names unknown ones.
        """
        try:
            tools = self.environment.get_user_tools(include=self.task.user_tools)
        except ValueError:
            return None
        return [tool.openai_schema for tool in tools] or None

    def call(self, call: dict[str, Any]) -> dict[str, Any]:
        """Make a call and return its result."""
        answer = self.environment.get_response(self.messages.ToolCall(**call))
        return {"content": answer.content, "error": answer.error}

    def examine(self, conversation: list[dict[str, Any]]) -> dict[str, Any]:
        """Compare the final state with the state after the right calls, and evaluate the assertions.

        The authors' code for this comparison is in evaluator_env.py.
        """
        criteria = self.task.evaluation_criteria
        if criteria is None or (criteria.actions is None and criteria.env_assertions is None):
            return {"database": None, "assertions": []}
        actual = self.begin([self.message(one) for one in conversation], **self.alone)
        expected = self.begin(self.history())
        for action in criteria.actions or []:
            try:
                expected.make_tool_call(tool_name=action.name, requestor=action.requestor, **action.arguments)
            except Exception:  # as in the authors' code: right calls may fail, and leave no trace
                pass
        equal = (
            actual.get_db_hash() == expected.get_db_hash()
            and actual.get_user_db_hash() == expected.get_user_db_hash()
        )
        return {
            "database": equal,
            "assertions": [holds(actual, one) for one in criteria.env_assertions or []],
        }

    def message(self, said: dict[str, Any]) -> Any:
        """Convert a message of the conversation into the authors' class."""
        kinds = {"assistant": "AssistantMessage", "user": "UserMessage", "tool": "ToolMessage"}
        return getattr(self.messages, kinds[said["role"]])(**said)


def holds(environment: Any, assertion: Any) -> bool:
    """Return True if an assertion holds. Return False if it does not hold or cannot be evaluated."""
    try:
        return bool(environment.run_env_assertion(assertion, raise_assertion_error=False))
    except Exception:  # the domains raise any exception if an assertion needs something that is missing
        return False


def reads_that_count(task: dict[str, Any]) -> set[str]:
    """Return the names of the discoverable tools that the right calls use.

    Only a read by one of these tools leaves a trace in the final state (runner/build.py).
    """
    actions = (task.get("evaluation_criteria") or {}).get("actions") or []
    found = [one for one in actions if one["name"] == "call_discoverable_agent_tool"]
    return {name for one in found if (name := (one.get("arguments") or {}).get("agent_tool_name"))}


def ask(question: dict[str, Any]) -> Any:
    """Write a question to the host, and wait for the host's answer. Return the answer."""
    write_line({"asks": question})
    return json.loads(sys.stdin.readline())


def write_line(line: dict[str, Any]) -> None:
    """Write a JSON line to the real stdout. Output that the domains print goes to stderr."""
    assert sys.__stdout__ is not None
    sys.__stdout__.write(json.dumps(line) + "\n")
    sys.__stdout__.flush()


def call_in_child_process(world: World, call: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call, made in a child process with limits on CPU time and memory."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
            with open(writing, "w", encoding="utf-8") as pipe:
                json.dump(world.call(call), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        written = pipe.read()
    os.waitpid(child, 0)
    try:
        answer: dict[str, Any] = json.loads(written)
    except ValueError:
        answer = {"content": "Error: this takes too long to compute", "error": True}
    return answer


def handle_line(world: World | None, line: dict[str, Any]) -> tuple[World, dict[str, Any]]:
    """Process one input line.

    Return the world, and the response to write. The line "open" creates the world; other lines keep the given
    one.
    """
    if "open" in line:
        world = World(**line["open"])
        return world, world.described()
    assert world is not None, "it has to be opened first"
    if "examine" in line:
        return world, world.examine(line["examine"])
    calls = [call_in_child_process if call["name"] in EVALUATED else World.call for call in line["calls"]]
    results = [make(world, call) for make, call in zip(calls, line["calls"], strict=True)]
    world.environment.sync_tools()
    return world, {"results": results}


def list_in_order() -> None:
    """Make `Path.glob` list folders in the order of names.

    Otherwise, the file system's order would decide between documents of equal score.
    """
    found = Path.glob
    listed: Any = Path
    listed.glob = lambda folder, pattern: iter(sorted(found(folder, pattern)))


def main() -> None:
    """Respond to each line on stdin until stdin ends. Output that the domains print goes to stderr."""
    sys.stdout = sys.stderr
    importlib.import_module("libraries").offer()
    list_in_order()
    os.environ["TAU2_DATA_DIR"] = str(HERE / "data")
    package = types.ModuleType("tau2")  # the real package imports everything
    package.__path__ = [str(HERE / "src" / "tau2")]
    sys.modules["tau2"] = package
    world: World | None = None
    for text in sys.stdin:
        world, answer = handle_line(world, json.loads(text))
        write_line(answer)


if __name__ == "__main__":
    main()
