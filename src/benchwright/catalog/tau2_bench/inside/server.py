"""Holds one conversation's environment of the authors' domains: one JSON line in, one out. Runs in the sandbox.

    {"open": {"domain": "retail", "task": {…}, "retrieval": "bm25", "solo": false, "policy": null}}
        -> {"policy": "…", "scenario": "…", "tools": [{…}], "user_tools": [{…}] or null}
    {"calls": [{"id": "1", "name": "…", "arguments": {…}, "requestor": "assistant" or "user"}]}
        -> {"results": [{"content": "…", "error": false}]}
    {"examine": [message, …]}      -> {"database": true, "assertions": [true]} ("database" is null where none counts)

While calls are made, {"asks": question} may come out first; a line with the answer then goes in (retrieval.py).

Messages are {"role": "assistant", "user" or "tool", "content", "tool_calls", "id", "requestor", "error"}. What the
domains do is theirs alone: nothing of it is written here. The files of the repository lie below, as there.
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
"""Tools that compute what a model wrote, which may take for ever: they only read, and run in a process of their own."""
SECONDS = 2
BYTES = 256 * 2**20


class World:
    """The environment of one task."""

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
        """What was said before the conversation."""
        state = self.task.initial_state
        return list((state and state.message_history) or [])

    def begin(self, messages: list[Any], **alone: bool) -> Any:
        """A fresh environment in which all calls of these messages were made, by an agent alone or not."""
        state = self.task.initial_state
        environment = self.make(**self.settings, **alone)
        environment.set_state(
            initialization_data=state and state.initialization_data,
            initialization_actions=state and state.initialization_actions,
            message_history=messages,
        )
        return environment

    def described(self) -> dict[str, Any]:
        """What agent and user are told."""
        return {
            "policy": self.environment.get_policy(),
            "scenario": str(self.task.user_scenario),
            "tools": [tool.openai_schema for tool in self.environment.get_tools()],
            "user_tools": self.user_tools(),
        } | (self.tools_of_one() if self.alone else {})

    def tools_of_one(self) -> dict[str, Any]:
        """The tools of an agent that works alone: its own, the user's, and one that ends it (llm_agent.py)."""

        def done() -> str:
            """Call this function when you are done with the task."""
            return ""

        end = importlib.import_module("tau2.environment.tool").as_tool(done)
        tools = [*self.environment.get_tools(), *self.environment.get_user_tools(), end]
        return {"tools": [tool.openai_schema for tool in tools], "user_tools": None}

    def user_tools(self) -> list[dict[str, Any]] | None:
        """The user's tools; None without any, as where those that the task names are unknown."""
        try:
            tools = self.environment.get_user_tools(include=self.task.user_tools)
        except ValueError:
            return None
        return [tool.openai_schema for tool in tools] or None

    def call(self, call: dict[str, Any]) -> dict[str, Any]:
        """What a call answers."""
        answer = self.environment.get_response(self.messages.ToolCall(**call))
        return {"content": answer.content, "error": answer.error}

    def examine(self, conversation: list[dict[str, Any]]) -> dict[str, Any]:
        """Whether the end is that of the right calls, and which assertions about it hold (evaluator_env.py)."""
        criteria = self.task.evaluation_criteria
        if criteria is None or (criteria.actions is None and criteria.env_assertions is None):
            return {"database": None, "assertions": []}
        actual = self.begin([self.message(one) for one in conversation], **self.alone)
        expected = self.begin(self.history())
        for action in criteria.actions or []:
            try:
                expected.make_tool_call(tool_name=action.name, requestor=action.requestor, **action.arguments)
            except Exception:  # as there: right calls may fail, and leave no trace
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
        """A message of the conversation, as the authors' code has them."""
        kinds = {"assistant": "AssistantMessage", "user": "UserMessage", "tool": "ToolMessage"}
        return getattr(self.messages, kinds[said["role"]])(**said)


def holds(environment: Any, assertion: Any) -> bool:
    """Whether an assertion holds; one that cannot be looked at does not."""
    try:
        return bool(environment.run_env_assertion(assertion, raise_assertion_error=False))
    except Exception:  # the domains raise what they like where an assertion asks for what is not there
        return False


def reads_that_count(task: dict[str, Any]) -> set[str]:
    """The tools to be found that the right calls use: reading with others leaves no trace (runner/build.py)."""
    actions = (task.get("evaluation_criteria") or {}).get("actions") or []
    found = [one for one in actions if one["name"] == "call_discoverable_agent_tool"]
    return {name for one in found if (name := (one.get("arguments") or {}).get("agent_tool_name"))}


def ask(question: dict[str, Any]) -> Any:
    """What is answered outside to a question."""
    say({"asks": question})
    return json.loads(sys.stdin.readline())


def say(line: dict[str, Any]) -> None:
    """Writes a line; what the domains print goes elsewhere."""
    assert sys.__stdout__ is not None
    sys.__stdout__.write(json.dumps(line) + "\n")
    sys.__stdout__.flush()


def apart(world: World, call: dict[str, Any]) -> dict[str, Any]:
    """What a call answers, computed in a process that ends within its limits."""
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


def answered(world: World | None, line: dict[str, Any]) -> tuple[World, dict[str, Any]]:
    """The answer to a line, and the world that it leaves."""
    if "open" in line:
        world = World(**line["open"])
        return world, world.described()
    assert world is not None, "it has to be opened first"
    if "examine" in line:
        return world, world.examine(line["examine"])
    calls = [apart if call["name"] in EVALUATED else World.call for call in line["calls"]]
    results = [make(world, call) for make, call in zip(calls, line["calls"], strict=True)]
    world.environment.sync_tools()
    return world, {"results": results}


def list_in_order() -> None:
    """Has folders listed by name: theirs is the file system's order, which decides between documents of equal score."""
    found = Path.glob
    listed: Any = Path
    listed.glob = lambda folder, pattern: iter(sorted(found(folder, pattern)))


def main() -> None:
    """Answers line by line until stdin ends; what the domains print goes to stderr."""
    sys.stdout = sys.stderr
    importlib.import_module("libraries").offer()
    list_in_order()
    os.environ["TAU2_DATA_DIR"] = str(HERE / "data")
    package = types.ModuleType("tau2")  # its own imports all there is
    package.__path__ = [str(HERE / "src" / "tau2")]
    sys.modules["tau2"] = package
    world: World | None = None
    for text in sys.stdin:
        world, answer = answered(world, json.loads(text))
        say(answer)


if __name__ == "__main__":
    main()
