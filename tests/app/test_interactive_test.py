"""`benchwright test --interactive`: with its keys on a pipe, and at a terminal of its own."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from tests.app.adder_kit import CALL, FIRST, KEY, SECOND, SYSTEM, TOKENS, trying, without_times, write_project
from tests.app.app_kit import Program
from tests.simulated import simulated_endpoint


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with simulated_endpoint(answers=KEY) as base_url:
        yield base_url


@pytest.fixture
def project(program: Program) -> Program:
    return write_project(program)


def typing(program: Program, lines: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs an interactive test with these lines on a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "benchwright", *arguments],
        input=lines, capture_output=True, text=True, timeout=60, check=False,
        cwd=program.directory, env=program.environment,
    )  # fmt: skip


def session_of(stdout: str) -> list[str]:
    """What an interactive test shows, without what it loads first; durations replaced."""
    return without_times(stdout[stdout.index("n: next call") :].splitlines())


class TestInteractive:
    def test_a_row_is_stepped_through_call_by_call(self, project: Program, model: str) -> None:
        ended = typing(project, "t\nn\n\nq\n", *trying(model, "-i"))
        assert session_of(ended.stdout)[1:] == [
            "",
            "Row 0 (0 to 3)",
            f"[0] system: {SYSTEM}",
            "[1] user: What is 17 plus 25?",
            "[Step 1] > t",
            "add(a: number, b: number)",
            "    Adds two numbers.",
            "[Step 1] > n",
            "[2] assistant:",
            f"    calls add({CALL})",
            f"    (TIME, {sum(FIRST)} tokens, tool_calls)",
            "[3] tool: 42",
            "[Step 2] > ",
            "[4] assistant: it is 42",
            f"    (TIME, {sum(SECOND)} tokens, stop)",
            "Result: COMPLETED (reward=1.0)",
            f"Tokens: {TOKENS[0]}, calls: 2",
            "[Row 0 ended] > q",
            "Interactive session ended.",
        ]
        assert (ended.returncode, ended.stderr) == (0, "")

    def test_the_end_of_the_input_quits_before_any_call(self, project: Program, model: str) -> None:
        ended = typing(project, "", *trying(model, "-i", "--row=2"))
        assert session_of(ended.stdout)[2:] == [
            "Row 2 (0 to 3)",
            f"[0] system: {SYSTEM}",
            "[1] user: Say hello.",
            "[Step 1] > ",
            "Interactive session ended.",
        ]
        assert ended.returncode == 0

    def test_rows_are_named_by_their_place_in_the_file(self, project: Program, model: str) -> None:
        ended = typing(project, "c\nr 0\nr 3\nc\nn\n", *trying(model, "-i", "--offset=2"))
        shown = session_of(ended.stdout)
        assert [line for line in shown if line.startswith("Row ")] == [
            "Row 2 (2 to 3)",
            "Row index out of range: 0. Rows: 2 to 3.",
            "Row 3 (2 to 3)",
            "Row index out of range: 4. Rows: 2 to 3.",
        ]
        assert "Result: ERROR - out of ideas" in shown
        assert ended.returncode == 1, "a row failed"

    def test_what_a_model_says_cannot_steer_the_terminal(self, project: Program, model: str) -> None:
        ended = typing(project, "c\nm\n", *trying(model, "-i", "--row=2"))
        shown = session_of(ended.stdout)
        assert shown.count("[2] assistant: hello my friend") == 2
        assert "\x1b" not in ended.stdout
        assert "\x07" not in ended.stdout

    def test_mcp_tools_are_stepped_through_alike(self, project: Program, model: str) -> None:
        ended = typing(project, "t\nc\n", *trying(model, "-i", agent=("--mcp", "tools")))
        shown = session_of(ended.stdout)
        assert shown[shown.index("[Step 1] > t") + 1] == "add(a: integer, b: integer)"
        assert "[3] tool: 42" in shown
        assert f"Tokens: {TOKENS[0]}, calls: 2" in shown

    def test_debug_writes_what_the_agent_logs(self, project: Program, model: str) -> None:
        typing(project, "c\n", *trying(model, "-i", "--row=2", "--debug"))
        (line,) = (project.directory / "test_debug" / "test-2.jsonl").read_text().splitlines()
        assert json.loads(line) == {"event": "answer", "rollout_id": "test-2", "turn": 0}


WITH_ITS_TERMINAL = """
import os, sys
os.login_tty(0)
os.execv(sys.executable, [sys.executable, "-m", "benchwright", *sys.argv[1:]])
"""
"""A program that makes its stdin the terminal that Ctrl-C comes from, and then becomes ours."""


class AtATerminal:
    """An interactive test with a terminal of its own; `shown` is all that it printed."""

    def __init__(self, program: Program, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", WITH_ITS_TERMINAL, *arguments],
            stdin=slave, cwd=program.directory, env=program.environment,
        )  # fmt: skip
        os.close(slave)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Returns when it has shown this after what it had shown before."""
        start, end = len(self.shown), time.monotonic() + 30
        while text not in self.shown[start:]:
            assert time.monotonic() < end, self.shown
            self._read(1)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def ended(self) -> int:
        """Waits for its end; returns the exit code."""
        while self._read(30):
            pass
        os.close(self._master)
        return self.process.wait(timeout=30)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            read = os.read(self._master, 65536)
        except OSError:  # so a terminal tells that nobody is at its other end any more
            return False
        self.shown += read.decode()
        return bool(read)


class TestAtATerminal:
    @pytest.fixture
    def at(self, project: Program, model: str) -> Iterator[AtATerminal]:
        terminal = AtATerminal(project, *trying(model, "--interactive"))
        yield terminal
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.ended()

    def test_keys_are_read_line_by_line(self, at: AtATerminal) -> None:
        for prompt, keys in [("[Step 1] > ", "n\n"), ("[Step 2] > ", "\n"), ("[Row 0 ended] > ", "exit\n")]:
            at.wait_for(prompt)
            at.type(keys)
        assert at.ended() == 0
        assert "Result: COMPLETED (reward=1.0)" in at.shown
        assert at.shown.endswith("Interactive session ended.\r\n")

    @pytest.mark.parametrize("keys", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
    def test_ctrl_c_and_ctrl_d_quit(self, at: AtATerminal, keys: str) -> None:
        at.wait_for("[Step 1] > ")
        at.type(keys)
        assert at.ended() == 0
        assert at.shown.endswith("\r\nInteractive session ended.\r\n")
        assert "Traceback" not in at.shown
