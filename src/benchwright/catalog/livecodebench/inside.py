"""Program in the sandbox that runs a solution against one test after another, as the official checker does.

The host sends lines of JSON: first the code and the name of the function to call, then the input of each
test. The program responds to each line with one line. Expected outputs stay outside the sandbox. The
conditions are those of lcb_runner/evaluation/testing_util.py: many modules are imported before the code; a
program that reads stdin becomes the body of a function, which is called once per test with a new stdin; some
harmful functions are removed.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from numbers import Number
from types import ModuleType
from typing import Any, BinaryIO
from unittest.mock import mock_open, patch

SECONDS = 6
"""Time limit in seconds for one test, and for loading the code."""

_MODULES = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics"),
    *("itertools", "functools", "operator", "io", "sys", "json"),
)
_HEADER = "\n".join(
    [
        *(f"from {name} import *" for name in (*_MODULES, "builtins", "typing")),
        *(f"import {name}" for name in _MODULES),
        "sys.setrecursionlimit(50000)\n",
    ]
)
_WRAPPER = "wrapped_function"
_MAIN = "__name__ == '__main__'"
_MISSING = {
    builtins: ("quit", "help"),
    shutil: ("rmtree", "move", "chown"),
    subprocess: ("Popen",),
    os: (
        *("kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty"),
        *(
            "killpg",
            "rename",
            "renames",
            "truncate",
            "replace",
            "unlink",
            "fchmod",
            "fchown",
            "chmod",
            "chown",
        ),
        *("chroot", "lchflags", "lchmod", "lchown", "getcwd", "chdir"),
    ),
}
_MISSING_MODULES = ("ipdb", "joblib", "resource", "psutil", "tkinter")


class TimeoutException(Exception):
    """Raised if the code or a test exceeds the time limit.

    The tested program can catch this exception, as in the official checker.
    """


class Stdin:
    """The official checker's replacement for stdin. It cannot be iterated over.

    Its `buffer.readline` always returns the first line.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._stream = io.StringIO(text)
        self.buffer = Buffer(text)

    def read(self, *_: object) -> str:
        """Return the whole text. Every call returns the same."""
        return self._text

    def readlines(self, *_: object) -> list[str]:
        """Return all lines, without line ends. Every call returns the same."""
        return self._text.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Buffer:
    """The replacement for `sys.stdin.buffer`: the bytes of a `Stdin`."""

    def __init__(self, text: str) -> None:
        self._content = text.encode()

    def read(self, *_: object) -> bytes:
        """Return all bytes. Every call returns the same."""
        return self._content

    def readline(self, *_: object) -> bytes:
        """Return the first line. Every call returns the same."""
        return self._content.split(b"\n")[0] + b"\n"


def main() -> None:
    """Respond to the host's requests until the input ends."""
    questions, answers = _private_streams()
    _answer(answers, {"ready": True})
    asked = json.loads(questions.readline())
    signal.signal(signal.SIGALRM, _too_long)
    if "numpy" in asked["code"] and importlib.util.find_spec("numpy"):
        importlib.import_module(
            "numpy"
        )  # the official checker imports it before functions are removed, and it needs some of them
    _remove_functions()
    name = asked["function"]
    ran, function = _timed(lambda: _load(asked["code"], name))
    _answer(answers, ran)
    for line in questions:
        text = json.loads(line)
        ran, value = _timed(lambda text=text: _called(function, text) if name else _printed(function, text))  # type: ignore[misc]
        _answer(answers, ran if "error" in ran else {"said": value})


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return two streams of their own for the host's requests and the program's responses.

    From then on, the tested program finds its stdin empty, and its stdout leads nowhere.
    """
    streams = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    sys.stdin = os.fdopen(os.dup(nowhere), encoding="utf-8")
    return streams


def _answer(stream: BinaryIO, answer: dict[str, Any]) -> None:
    stream.write(json.dumps(answer).encode() + b"\n")
    stream.flush()


def _too_long(number: int, frame: object) -> None:
    raise TimeoutException


def _remove_functions() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    for module, names in _MISSING.items():
        for name in names:
            setattr(module, name, None)
    sys.modules.update(dict.fromkeys(_MISSING_MODULES))  # type: ignore[arg-type]


def _timed(work: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """Run `work` within the time limit.

    Return ({}, the value of `work`). If it fails, return (a description of the error, None).
    """
    signal.alarm(SECONDS)
    try:
        value = work()
        signal.alarm(0)
    except Exception as error:
        signal.alarm(0)
        return {"error": repr(error)[:500], "late": "timeoutexception" in repr(error).lower()}, None
    finally:
        signal.alarm(0)
    return {}, value


def _load(code: str, name: str | None) -> Callable[..., Any]:
    """Execute the code and return the function to call for each test.

    `name` is None if the program reads stdin.
    """
    source = f"{_HEADER}\n\n{code}" if name else _wrapped(_without_main(code))
    module = ModuleType("tmp_sol", "")
    exec(source, module.__dict__)
    owner = module.Solution() if "class Solution" in source else module
    function: Callable[..., Any] = getattr(owner, name or _WRAPPER)
    return function


def _without_main(code: str) -> str:
    """Return the code with a final `if __name__ == "__main__"` replaced by its body."""
    try:
        *before, last = ast.parse(code).body
        if isinstance(last, ast.If) and ast.unparse(last.test).strip() == _MAIN:
            return "\n".join(map(ast.unparse, (*before, *last.body)))
    except Exception:
        pass
    return code


def _wrapped(code: str) -> str:
    """Return a program with the code's imports, followed by a function whose body is the rest of the code."""
    body = ast.parse(code).body
    imports = [one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))]
    rest = [one for one in body if one not in imports]
    function = ast.parse(f"def {_WRAPPER}(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = rest
    return "\n".join([_HEADER, *map(ast.unparse, (*imports, function))])


def _printed(function: Callable[..., Any], text: str) -> str:
    """Return the output of a program that reads `text` from stdin. SystemExit counts as a normal end."""
    stdout, kept = sys.stdout, io.StringIO()
    kept.close = lambda _: 1  # type: ignore[method-assign,assignment,misc]  # official: it cannot be closed
    sys.stdout = kept
    _give_imported_stdin(text)
    try:
        with patch("builtins.open", mock_open(read_data=text)), patch("sys.stdin", Stdin(text)):
            function()
    except SystemExit:
        pass
    finally:
        sys.stdout = stdout
    return kept.getvalue()


def _give_imported_stdin(text: str) -> None:
    """Set the methods of the `sys.stdin` object, for programs that have imported `stdin` by name.

    These `readline` and `readlines` return lines without line ends. Reading past the last line raises
    StopIteration.
    """
    lines = iter(text.split("\n"))
    methods = {
        "read": lambda *_: text,
        "readline": lambda *_: next(lines),
        "readlines": lambda *_: text.split("\n"),
    }
    for name, method in methods.items():
        setattr(sys.stdin, name, method)


def _called(function: Callable[..., Any], text: str) -> str | None:
    """Call a function and return its result as JSON. Return None if no JSON value equals the result.

    Each line of `text` is one argument, as JSON.
    """
    value = function(*map(json.loads, text.split("\n")))
    return to_json(list(value) if isinstance(value, tuple) else value)


def to_json(value: Any) -> str | None:
    """Return a value as JSON. Return None if no JSON value equals it.

    For example, no JSON value equals a tuple in a list.
    """
    try:
        return json.dumps(_plain(value))
    except (TypeError, ValueError, RecursionError, OverflowError):
        return None


def _plain(value: Any) -> Any:
    """Convert a value into plain types that are equal to it.

    Raises:
        TypeError: If no plain types are equal to it.
    """
    if isinstance(value, float) and value != value:
        raise TypeError("nothing equals nan")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, Number) or type(value).__module__ == "numpy":
        for plain in (int(value), float(value)):
            if plain == value:
                return plain
    raise TypeError


if __name__ == "__main__":
    main()
