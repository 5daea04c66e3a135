"""Reads test output with the instance's own parser, in the container of the tests or in a separate one.

In the official harness, the parser runs in the container of the tests. There, code under test can replace the
parser, and also the Python that runs it. Under a seal, the parser therefore runs in a separate container.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from benchwright.catalog.containers.sealing.runner_report import cut_to_runner_output
from benchwright.engine.offload import offload
from benchwright.errors import ExecutionError
from benchwright.records import DECODE_ERRORS
from benchwright.sandbox.docker import Sandbox
from benchwright.sandbox.docker.archives import FileMissing, FileTooLarge

REPOSITORY_DIRECTORY = "/app"
WORKSPACE_DIRECTORY = "/workspace"
LOGS, PARSER, RESULT = ("stdout.log", "stderr.log"), "parser.py", "output.json"
PASSED_STATUS = "PASSED"

PARSE_SECONDS = 300.0
MAX_RESULT_BYTES = 16 * 1024 * 1024
"""Maximum size in bytes of the parser's result."""
MAX_INLINE_BYTES = 256 * 1024

StartReaderContainer = Callable[[], AbstractAsyncContextManager[Sandbox]]
"""A function that starts a fresh container of the instance's image, in which the parser reads the logs."""


class UnreadableResult(ExecutionError):
    """The error of a missing or invalid result of the parser. The message states what is wrong with the result."""


class _Test(msgspec.Struct):
    name: str
    status: str


class _Result(msgspec.Struct):
    tests: list[_Test]


def build_parsing_script(content: Mapping[str, Any]) -> str:
    """Return the shell lines that run the instance's parser on both logs of the tests."""
    logs = " ".join(f"{WORKSPACE_DIRECTORY}/{name}" for name in LOGS)
    lines = [
        *content["environment"],
        f"cd {REPOSITORY_DIRECTORY}",
        f"python {WORKSPACE_DIRECTORY}/{PARSER} {logs} {WORKSPACE_DIRECTORY}/{RESULT}",
    ]
    return "\n".join(lines) + "\n"


async def parse_in_new_container(
    reader: StartReaderContainer, content: Mapping[str, Any], logs: Mapping[str, bytes]
) -> tuple[dict[str, str], dict[str, str] | None]:
    """Return two results: the statuses of the instance's tests in the full logs, and those in the closed logs.

    A closed log ends with the test runner's closing line, so that output after that line is missing. The
    second result is None if there was no such output.

    Raises:
        UnreadableResult: If the parser's result is missing or invalid.
        ExecutionError: If the container was ended from outside, or the engine does not respond.
    """
    texts = {name: log.decode("utf-8", "replace") for name, log in logs.items()}
    own = {name: cut_to_runner_output(text) for name, text in texts.items()}
    cut = any(own[name].strip() != text.strip() for name, text in texts.items())
    async with reader() as sandbox:
        statuses = await _read(sandbox, content, logs)
        if not cut:
            return statuses, None
        return statuses, await _read(sandbox, content, {name: text.encode() for name, text in own.items()})


async def _read(sandbox: Sandbox, content: Mapping[str, Any], logs: Mapping[str, bytes]) -> dict[str, str]:
    files = {PARSER: content["parser"].encode(), "read.sh": build_parsing_script(content).encode(), **logs}
    await sandbox.write_files({f"{WORKSPACE_DIRECTORY}/{name}": text for name, text in files.items()})
    await sandbox.run(["bash", f"{WORKSPACE_DIRECTORY}/read.sh"], seconds=PARSE_SECONDS)
    return await read_statuses(sandbox, content)


async def read_statuses(sandbox: Sandbox, content: Mapping[str, Any]) -> dict[str, str]:
    """Return the statuses of the instance's tests from the parser's result in the container.

    Raises:
        UnreadableResult: If the result is missing or invalid.
        EngineError: If the engine does not respond.
    """
    try:
        result = await sandbox.read_file(f"{WORKSPACE_DIRECTORY}/{RESULT}", MAX_RESULT_BYTES)
        wanted = {*content["fail_to_pass"], *content["pass_to_pass"]}
        if len(result) > MAX_INLINE_BYTES:
            return await offload(select_statuses, result, wanted)
        return select_statuses(result, wanted)
    except FileTooLarge:
        raise UnreadableResult(
            f"the parser's result is larger than {MAX_RESULT_BYTES // 2**20} MiB"
        ) from None
    except FileMissing:
        raise UnreadableResult("the parser wrote no result") from None
    except ValueError as error:
        raise UnreadableResult(str(error)) from None


def select_statuses(result: bytes, wanted: Iterable[str]) -> dict[str, str]:
    """Return the statuses of the wanted tests in a parser's result.

    A test with several results counts as passed if one of these results is passed.

    Raises:
        ValueError: If the result does not have the form {"tests": [{"name": …, "status": …}]}.
    """
    try:
        tests = msgspec.json.decode(result, type=_Result).tests
    except DECODE_ERRORS as error:
        raise ValueError(f"the parser's result is invalid: {error}") from None
    statuses: dict[str, str] = {}
    names = frozenset(wanted)
    for test in tests:
        if test.name in names and statuses.get(test.name) != PASSED_STATUS:
            statuses[test.name] = test.status[:40]
    return statuses
