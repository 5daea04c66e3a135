"""The shell that runs the lines of pages: what fails is told, what serves is ended, what is marked is left out."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.documented_lines import Block, Mark
from tests.docs.page_shell import Failed, PageShell, forked_programs
from tests.server_process import free_port


def block(text: str, *marks: Mark) -> Block:
    """Return a block of shell lines."""
    return Block("page.md", 1, "bash", text, list(marks))


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[PageShell]:
    """A shell in an empty directory, for which 8000 is a free port."""
    with forked_programs() as programs:
        variables = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "BENCHWRIGHT_HOME": str(tmp_path),
        }
        with PageShell(tmp_path, variables, {"8000": str(free_port())}) as shell:
            yield shell


def test_a_line_that_fails_is_told_with_what_it_printed_and_ends_its_block(shell: PageShell) -> None:
    with pytest.raises(Failed, match=r"(?s)benchwright shwo a\n.*ended with 2:\n.*Unknown command"):
        shell.run(block("benchwright shwo a\ntouch late\n"))
    assert not (shell.directory / "late").exists()


def test_continued_lines_are_one_and_comments_are_none(shell: PageShell) -> None:
    shell.run(block("touch one \\\n    two  # both\n"))
    assert sorted(path.name for path in shell.directory.iterdir()) == ["one", "two"]


def test_a_mark_leaves_out_the_lines_with_its_words_or_all(shell: PageShell) -> None:
    some = block("touch one\ntouch two\n", Mark("needs a GPU", ["two"]))
    assert [line.mark for line in some.lines] == [None, "needs a GPU"]
    shell.run(some)
    shell.run(block("touch three\n", Mark("needs a GPU", [])))
    assert [path.name for path in shell.directory.iterdir()] == ["one"]


def test_a_mark_with_a_word_that_no_line_has_is_refused() -> None:
    with pytest.raises(AssertionError, match="no line has"):
        _ = block("touch one\n", Mark("needs a GPU", ["two"])).lines


@pytest.mark.parametrize("background", ["", " &"])
def test_a_server_answers_and_is_ended_by_the_end_of_the_page(background: str, tmp_path: Path) -> None:
    port = free_port()
    with forked_programs() as programs:
        variables = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "BENCHWRIGHT_HOME": str(tmp_path),
        }
        with PageShell(tmp_path, variables, {"8000": str(port)}) as shell:
            shell.run(block(f"benchwright simulate --port 8000{background}\n"))
            assert is_open(port) == bool(background)
    assert not is_open(port)


def is_open(port: int) -> bool:
    """Return True if somebody listens at a port."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
