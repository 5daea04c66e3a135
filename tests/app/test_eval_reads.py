"""How often an `eval` opens what it reads: its journal once, the dataset no oftener than its checks need."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable

import pytest
from tests.app.eval_kit import CACHED, Project, Server

NOTES_WHAT_IS_READ = """
import os
import sys


def note(event, arguments):
    if event != "open" or not isinstance(arguments[0], str):
        return
    path, _, flags = arguments
    name = os.path.basename(path)
    reads = flags & os.O_ACCMODE == os.O_RDONLY and os.path.exists(path)
    if reads and name in ("data.jsonl", "trials.jsonl"):
        descriptor = os.open("read.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{name}\\n".encode())
        os.close(descriptor)


sys.addaudithook(note)
"""
"""The interpreter imports this as `sitecustomize` when it starts."""


@pytest.fixture
def opened(project: Project) -> Callable[[], Counter[str]]:
    """How often the dataset and the journal were opened to be read, since the last time."""
    project.program.write("sitecustomize.py", NOTES_WHAT_IS_READ)
    project.program.environment["PYTHONPATH"] = str(project.program.directory)
    noted = project.program.directory / "read.txt"

    def count() -> Counter[str]:
        names = noted.read_text().split()
        noted.unlink()
        return Counter(names)

    return count


@pytest.mark.parametrize("more", [(), ("-o=out.json", "--output-path=out", "--log-samples")])
def test_a_new_run_and_a_finished_one(
    project: Project, server: Server, opened: Callable[[], Counter[str]], more: tuple[str, ...]
) -> None:
    command = project.command(server.base_url, *more)
    project.run(*command)
    assert opened() == {"data.jsonl": 3, "trials.jsonl": 1}, "rows are checked, digested, and asked"
    assert CACHED in project.run(*command).stdout
    assert opened() == {"data.jsonl": 2, "trials.jsonl": 1}, "rows are checked and digested"


def test_one_that_goes_on(project: Project, server: Server, opened: Callable[[], Counter[str]]) -> None:
    command = project.command(server.base_url)
    project.stop(project.start_slowly(command, 2, server), signal.SIGINT)
    assert opened() == {"data.jsonl": 3, "trials.jsonl": 1}
    project.run(*command)
    assert opened() == {"data.jsonl": 3, "trials.jsonl": 1}


def test_rows_that_are_asked_as_they_stand(
    project: Project, server: Server, opened: Callable[[], Counter[str]]
) -> None:
    """The first row says which columns there are, so it is looked at before the others."""
    asked = ["eval", "-d", "data.jsonl", "--scorer", "exact", "--model", "m", "--base-url", server.base_url]
    project.run(*asked)
    assert opened() == {"data.jsonl": 4, "trials.jsonl": 1}
