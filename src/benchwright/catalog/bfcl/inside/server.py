"""Executes calls on BFCL's classes: one JSON line in, one out. Runs in the sandbox, next to the classes.

The calls come as source text (`mv(source='a', destination='b')`) and are parsed, never evaluated: a call's
arguments are literals or further calls of the classes' public methods. The results read like those of the
official executor (bfcl_eval, multi_turn_eval/multi_turn_utils.py).

    {"opening": {"classes": {name: module}, "config": {…}, "long_context": false}}      -> {"results": []}
    {"calls": ["cd(folder='x')"]}                                                       -> {"results": ["…"]}
    {"memory": true}                                         -> {"shown": "what the model sees", "snapshot": {…}}
    {"opening": {…}, "model": [[["cd(folder='x')"]]], "gold": [["cd(folder='x')"]]}     -> {"wrong": null}

The answer for a wrong conversation is `{"wrong": [error type, sentence]}`. Lines `{"encode": "…"}` may come
before an answer; each must be followed by a line with vectors, see `sentence_transformers.py`.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import json
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
STATELESS = ("MathAPI",)
BLANKS = re.compile(r"\b([a-zA-Z_]\w*)\s+(?=\()")
"""Regular expression for blanks between a word and a bracket.

The official executor removes these blanks from calls, even in strings within calls.
"""
KEPT = ("core_memory", "archival_memory", "memory")
"""Names of the attributes of a memory that are stored after a conversation and restored for the next one."""
REFUSED = ("kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run")


class World:
    """One instance of each BFCL class, and their methods by name."""

    def __init__(self, opening: dict[str, Any]) -> None:
        self.instances: dict[str, Any] = {}
        self.methods: dict[str, Any] = {}
        for name, module in opening["classes"].items():
            instance = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)()
            if name not in STATELESS:
                config = copy.deepcopy(opening["config"].get(name, {}))
                instance._load_scenario(config, long_context=opening["long_context"])
            self.instances[name] = instance
            for method_name, method in inspect.getmembers(instance, predicate=inspect.ismethod):
                if not method_name.startswith("_"):
                    self.methods[method_name] = method

    def execute(self, calls: list[str]) -> list[str]:
        """Execute calls, and return their results in the form that the model sees."""
        return [self._execute(call) for call in calls]

    def _execute(self, source: str) -> str:
        try:
            source = BLANKS.sub(r"\1", source)
            refuse(source)
            tree: Any = compile(source, "<string>", "eval", ast.PyCF_ONLY_AST)
            return written(self._value(tree.body))
        except Exception as error:  # an exception becomes the call's result, as with the official executor
            return f"Error during execution: {error}"

    def _value(self, node: Any) -> Any:
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
            return kind(self._value(element) for element in node.elts)
        if isinstance(node, ast.Dict) and None not in node.keys:
            return {
                self._value(key): self._value(value)
                for key, value in zip(node.keys, node.values, strict=True)
            }
        self._check_name(node)
        return ast.literal_eval(node)

    def _call(self, node: ast.Call) -> Any:
        self._check_name(node.func)
        if not isinstance(node.func, ast.Name):
            raise SyntaxError("only functions can be called")
        positional = [self._value(argument) for argument in node.args]
        named = {str(keyword.arg): self._value(keyword.value) for keyword in node.keywords}
        return self.methods[node.func.id](*positional, **named)

    def _check_name(self, node: Any) -> None:
        """Raise NameError unless a call's function is the name of a method."""
        while isinstance(node, ast.Attribute):
            node = node.value
        if isinstance(node, ast.Name) and node.id not in self.methods:
            raise NameError(f"name {node.id!r} is not defined")

    def memory(self) -> dict[str, Any]:
        """Return two forms of the memory: the part that the model sees (`shown`), and the whole memory (`snapshot`)."""
        (instance,) = self.instances.values()
        kept = {name: exported(value) for name, value in vars(instance).items() if name in KEPT}
        return {"shown": instance._dump_core_memory_to_context(), "snapshot": kept}


def exported(memory: Any) -> Any:
    """Return a memory's content as JSON values. A memory with vector search has its own export method."""
    return memory.export() if hasattr(memory, "export") else memory


def refuse(source: str) -> None:
    """Raise PermissionError if a call uses a forbidden name, even if no such function exists."""
    name = source.partition("(")[0]
    if "." in name:
        name = name.split(".")[1]
    if name in REFUSED:
        raise PermissionError(f"Function call {name} is not allowed.")


def written(result: Any) -> str:
    """Return a result as text. A dictionary is written as JSON if possible, any other result by `str`."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            pass
    return str(result)


def judge(opening: dict[str, Any], model: list[list[list[str]]], gold: list[list[str]]) -> list[str] | None:
    """Return [error type, sentence] if the model's calls are wrong. Return None if they are right.

    After every turn with expected calls, two conditions must hold. All instances must have the same public
    state as after the expected calls. And the results of the expected calls must be among all results of the
    model so far, in any order, each at least as often.
    """
    worlds = World(opening), World(opening)
    results: list[str] = []
    for turn, expected in enumerate(gold):
        for step in model[turn]:
            results += worlds[0].execute(step)
        expected_results = worlds[1].execute(expected)
        if not expected:
            continue
        if not any(model[turn]):
            return ["multi_turn:empty_turn_model_response", f"No call in turn {turn}."]
        for name, instance in worlds[1].instances.items():
            different = differences(worlds[0].instances[name], instance)
            if different:
                said = f"After turn {turn}, {name} differs in {', '.join(different)}."
                return ["multi_turn:instance_state_mismatch", said]
        missing = left_over(expected_results, results)
        if missing:
            said = f"Turn {turn}: the results so far lack {missing}."
            return ["multi_turn:execution_response_mismatch", said[:1000]]
    return None


def differences(one: Any, other: Any) -> list[str]:
    """Return the names of public attributes that differ between two instances."""
    names = [name for name in vars(other) if not name.startswith("_")]
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def left_over(wanted: list[str], there: list[str]) -> list[str]:
    """Return the wanted items that are missing in `there`. An item that is wanted twice must be there twice."""
    rest, missing = list(there), []
    for item in wanted:
        if item in rest:
            rest.remove(item)
        else:
            missing.append(item)
    return missing


def make_package() -> None:
    """Make this program's modules importable under the package names that BFCL's code uses."""
    parts = PACKAGE.split(".")
    for length in range(1, len(parts) + 1):
        package = types.ModuleType(".".join(parts[:length]))
        package.__path__ = [str(Path(__file__).parent)] if length == len(parts) else []
        sys.modules[package.__name__] = package


def main() -> None:
    """Respond to each line on stdin until stdin ends. The classes' own output goes to stderr."""
    out, sys.stdout = sys.stdout, sys.stderr
    # Otherwise numpy and faiss start a thread per processor, which may be more than the limit allows.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    make_package()
    world: World | None = None
    for text in sys.stdin:
        line = json.loads(text)
        if "gold" in line:
            answer: dict[str, Any] = {"wrong": judge(line["opening"], line["model"], line["gold"])}
        elif "opening" in line:
            world = World(line["opening"])
            answer = {"results": []}
        else:
            assert world is not None, "it has to be opened first"
            answer = world.memory() if "memory" in line else {"results": world.execute(line["calls"])}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
