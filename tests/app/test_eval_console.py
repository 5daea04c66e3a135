"""What `eval` and `bench` say: what is run, a line for each run, the documented figures."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import pytest
from tests.app.adder_kit import without_times
from tests.app.eval_kit import (
    CACHED,
    ROWS,
    Project,
    Server,
    logging_server,
    read_lines,
    summary_in,
    target,
)

from benchwright import __version__

NOISY = """
import logging


def right(solution_str, ground_truth, extra_info=None):
    row = extra_info["user_prompt"].removeprefix("word")
    print(f"printed in row {row}")
    logging.getLogger("mine").warning("logged in row %s", row)
    return 1.0
"""
TAKEN_OVER = 4


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Knows the right answer to every row."""
    answers = [{"prompt": f"word{row}", "answer": target(row)} for row in range(ROWS)]
    with logging_server(tmp_path_factory.mktemp("right") / "truth.jsonl", answers=answers) as server:
        yield server


def run_lines(text: str) -> list[str]:
    """The lines about runs, without their times."""
    return without_times([line for line in text.splitlines() if re.match(r"\[\d+/\d+\] (\[|OK|F)", line)])


def figures(stdout: str) -> list[str]:
    """The lines of documented figures."""
    return [line for line in stdout.splitlines() if re.match(r"  \S+: mean=|    pass@", line)]


class TestTheHeader:
    def test_says_what_is_run(self, project: Project, server: Server) -> None:
        told = project.run(*project.command(server.base_url, "--eval-fn=rewards:half")).stdout
        assert told.splitlines()[:8] == [
            f"benchwright-eval v{__version__}",
            f"Endpoint: {server.base_url}",
            "Model: m",
            "Agent: agent:agent_loop",
            "Dataset: data.jsonl",
            "Eval functions: rewards:right, rewards:half",
            "",
            "Running evaluation (6 rows)...",
        ]

    def test_names_the_baseline_and_the_command(self, project: Project, server: Server) -> None:
        more = ["--n=2", "--batch-size=3", "--baseline-model=b", f"--baseline-base-url={server.base_url}"]
        told = project.run("bench", *project.command(server.base_url, *more)[1:]).stdout.splitlines()
        assert told[0] == f"benchwright-bench v{__version__}"
        assert told[3:5] == [f"Baseline endpoint: {server.base_url}", "Baseline model: b"]
        assert told[8:10] == ["", "Running benchmark (6 rows x2 runs x2 models, batch_size=3)..."]

    def test_is_there_for_a_cached_evaluation_too(self, project: Project, server: Server) -> None:
        command = project.command(server.base_url)
        first, again = (project.run(*command).stdout.splitlines() for _ in range(2))
        assert again[:7] == [*first[:6], ""]
        assert again[7] == CACHED
        assert run_lines("\n".join(again)) == []


class TestTheLineOfARun:
    def test_has_its_time_its_tokens_and_its_scores(self, project: Project, server: Server) -> None:
        told = project.run(*project.command(server.base_url, "--eval-fn=rewards:half")).stdout
        assert run_lines(told) == [
            f"[{row + 1}/6] OK (TIME, 3 tokens) [rewards:right={float(row % 3 != 0):.3f}, rewards:half=0.500]"
            for row in range(ROWS)
        ]

    def test_says_why_there_is_no_answer(self, project: Project, server: Server) -> None:
        project.program.write("broken", "")
        first = run_lines(project.run(*project.command(server.base_url)).stdout)[0]
        assert first == "[1/6] FAILED (TIME, 0 tokens) - ValueError: this agent is broken"

    def test_has_the_beginning_of_a_long_error(self, project: Project, server: Server) -> None:
        text = (project.program.directory / "agent.py").read_text()
        project.program.write("agent.py", text.replace("this agent is broken", "x" * 60 + "\\n\\x1b[2J"))
        project.program.write("broken", "")
        first = run_lines(project.run(*project.command(server.base_url)).stdout)[0]
        assert first == f"[1/6] FAILED (TIME, 0 tokens) - {'ValueError: ':x<47}..."

    def test_names_the_model_where_there_are_two(
        self, project: Project, server: Server, right: Server
    ) -> None:
        baseline = ["--limit=1", "--baseline-model=m", f"--baseline-base-url={right.base_url}"]
        assert run_lines(project.run(*project.command(server.base_url, *baseline)).stdout) == [
            "[1/2] [primary] OK (TIME, 3 tokens) [rewards:right=0.000]",
            "[2/2] [baseline] OK (TIME, 3 tokens) [rewards:right=1.000]",
        ]

    def test_shows_an_eval_function_that_raised(self, project: Project, server: Server) -> None:
        command = project.command(server.base_url, eval_fn="rewards:fails_on_the_third")
        assert run_lines(project.run(*command).stdout)[2] == (
            "[3/6] OK (TIME, 3 tokens) "
            "[rewards:fails_on_the_third=no score (grader error: KeyError: 'no such thing')]"
        )

    def test_shows_an_answer_in_which_nothing_was_found(self, project: Project, server: Server) -> None:
        command = project.program.evaluating("data.jsonl", server.base_url, "--limit=1")
        command[command.index("exact")] = "numeric"
        project.program.write("data.jsonl", json.dumps({"prompt": "no number", "answer": "4"}))
        assert run_lines(project.run(*command).stdout) == [
            "[1/1] OK (TIME, 4 tokens) [numeric=0.000 (unparsed)]"
        ]

    def test_shows_an_answer_that_was_cut_off(self, project: Project, server: Server) -> None:
        project.program.write("data.jsonl", json.dumps({"prompt": "one two three", "answer": "one"}))
        command = project.program.evaluating("data.jsonl", server.base_url, "--max-tokens=1")
        assert run_lines(project.run(*command).stdout) == [
            "[1/1] OK (TIME, 4 tokens) [exact=1.000] - truncated"
        ]

    def test_counts_on_where_an_earlier_session_stopped(self, project: Project, server: Server) -> None:
        command = project.command(server.base_url)
        stopped = project.stop(project.start_slowly(command, 2, server), signal.SIGINT)
        kept = len(project.entry["runs"])
        assert len(run_lines(stopped.stdout)) == kept
        told = project.run(*command).stdout
        assert "Running evaluation" not in told
        assert [line.partition("]")[0] for line in run_lines(told)] == [
            f"[{number}/{ROWS}" for number in range(kept + 1, ROWS + 1)
        ]

    def test_says_what_an_earlier_run_had_asked(self, project: Project, server: Server) -> None:
        project.run(*project.command(server.base_url, f"--limit={TAKEN_OVER}"))
        told = project.run(*project.command(server.base_url, "--reuse", eval_fn="rewards:half")).stdout
        assert [("(earlier)" in line) for line in run_lines(told)] == [
            row < TAKEN_OVER for row in range(ROWS)
        ]
        assert run_lines(told)[0] == "[1/6] OK (earlier) [rewards:half=0.500]"


class TestTheFigures:
    def test_are_the_documented_ones_and_beneath_them_the_honest_ones(
        self, project: Project, right: Server
    ) -> None:
        project.program.write("broken", "")
        shown = project.run(*project.command(right.base_url)).stdout
        assert figures(shown) == ["  rewards:right: mean=0.833 std=0.373 min=0.000 max=1.000"]
        heading, row, *_ = shown[shown.index("Score ") :].splitlines()
        assert heading.split("  ")[0] == "Score"
        assert re.fullmatch(r"rewards:right +5/6 +1\.000 +\[0\.566, 1\.000\] +0 +0", row)

    def test_say_nothing_twice(self, project: Project, right: Server) -> None:
        shown = summary_in(project.run(*project.command(right.base_url)).stdout)
        assert re.search(r"^rewards:right +6/6 +same +\[0\.610, 1\.000\] +0 +0$", shown, re.M)
        assert shown.count("1.000") == 4, "mean, min, max, and an end of the interval"

    def test_have_a_line_for_each_k(self, project: Project, server: Server) -> None:
        shown = project.run(*project.command(server.base_url, "--n=3")).stdout
        assert figures(shown) == [
            "  rewards:right: mean=0.667 std=0.471 min=0.000 max=1.000",
            "    pass@1: 66.7%",
            "    pass@3: 66.7%",
        ]

    def test_are_shown_again(self, project: Project, server: Server) -> None:
        command = project.command(server.base_url)
        first, again = (summary_in(project.run(*command).stdout) for _ in range(2))
        (run,) = project.program.runs
        assert project.run("show", run.name).stdout == first == again


class TestWithLess:
    def test_quiet_shows_the_result_only(self, project: Project, server: Server) -> None:
        ended = project.run(*project.command(server.base_url, "-q"))
        (run,) = project.program.runs
        assert (ended.stdout, ended.stderr) == (project.run("show", run.name).stdout, "")

    def test_json_is_alone_on_stdout_whatever_the_agent_prints(
        self, project: Project, server: Server
    ) -> None:
        project.program.write("rewards.py", f"print('printed at import')\n{NOISY}")
        ended = project.run(*project.command(server.base_url, "--json"))
        assert json.loads(ended.stdout)["done"] == ROWS
        told = ended.stderr.splitlines()
        assert told[:2] == ["printed at import", f"benchwright-eval v{__version__}"]
        assert {"Running evaluation (6 rows)...", "printed in row 5"} <= set(told)
        assert run_lines(ended.stderr) == []
        assert re.search(r"^\[6/6\]  [\d.]+/s  rewards:right 1\.000 ", ended.stderr, re.M)


class TestDebug:
    @pytest.fixture
    def logging_agent(self, project: Project) -> None:
        """Lets the agent log what it is asked."""
        text = (project.program.directory / "agent.py").read_text()
        asks = 'ctx.log_event("asks", prompt=messages[1]["content"])'
        begin = "messages = list(ctx.request.messages)"
        project.program.write("agent.py", text.replace(begin, f"{begin}; {asks}"))

    @pytest.mark.usefixtures("logging_agent")
    def test_writes_what_the_agent_logs_a_file_for_each_run(self, project: Project, server: Server) -> None:
        baseline = ["--baseline-model=b", f"--baseline-base-url={server.base_url}"]
        project.run(*project.command(server.base_url, "--limit=1", "--n=2", "--debug", *baseline))
        directory = project.program.directory / "local_debug"
        files = sorted(directory.iterdir(), key=lambda file: file.stem)
        names = ["eval-0-run-0", "eval-0-run-0-baseline", "eval-0-run-1", "eval-0-run-1-baseline"]
        assert [file.stem for file in files] == names
        assert [read_lines(file) for file in files] == [
            [{"event": "asks", "rollout_id": name, "prompt": "word0"}] for name in names
        ]

    @pytest.mark.usefixtures("logging_agent")
    def test_without_it_nothing_is_written(self, project: Project, server: Server) -> None:
        project.run(*project.command(server.base_url, "--limit=1"))
        assert not (project.program.directory / "local_debug").exists()


class TestATerminal:
    def test_shows_every_line_whole_and_at_the_end_no_display(self, project: Project, server: Server) -> None:
        """Also what the user's own code prints and logs while the display is there."""
        project.program.write("rewards.py", NOISY)
        project.program.write("slow", "")
        written = at_a_terminal(project, *project.command(server.base_url, "--batch-size=2"))
        assert "━" in written, "there was a display"
        screen = what_is_left_of(written)
        assert run_lines("\n".join(screen)) == [
            f"[{number}/6] OK (TIME, 3 tokens) [rewards:right=1.000]" for number in range(1, ROWS + 1)
        ]
        for row in range(ROWS):
            assert screen.count(f"printed in row {row}") == 1
            assert screen.count(f"WARNING mine: logged in row {row}") == 1
        assert "━" not in "".join(screen)
        assert figures("\n".join(screen)) == ["  rewards:right: mean=1.000 std=0.000 min=1.000 max=1.000"]

    def test_shows_the_display_alone_where_the_output_goes_to_a_file(
        self, project: Project, server: Server
    ) -> None:
        project.program.write("rewards.py", NOISY)
        project.program.write("slow", "")
        log = project.program.directory / "log"
        with log.open("w") as file:
            written = at_a_terminal(project, *project.command(server.base_url, "--limit=2"), stdout=file)
        assert "━" in written
        assert [line for line in what_is_left_of(written) if line] == [
            "WARNING mine: logged in row 0",
            "WARNING mine: logged in row 1",
        ]
        told = log.read_text()
        assert told.startswith(f"benchwright-eval v{__version__}\n")
        assert [line for line in told.splitlines() if "printed" in line] == [
            "printed in row 0",
            "printed in row 1",
        ]
        assert len(run_lines(told)) == 2
        assert "\x1b" not in told


def test_the_run_goes_on_when_its_reader_is_gone(project: Project, server: Server) -> None:
    project.rows(40)
    project.program.write("slow", "")
    process = project.program.start(*project.command(server.base_url), **project.environment)
    assert process.stdout is not None
    while not process.stdout.readline().startswith("[1/40] OK"):
        assert process.poll() is None
    process.stdout.close()
    assert process.wait(60) == 1
    assert (project.entry["status"], len(project.entry["runs"])) == ("completed", 40)


def at_a_terminal(project: Project, *arguments: str, stdout: IO[str] | None = None) -> str:
    """What a command writes to a terminal of 200 columns; its stdout may be another file."""
    ours, theirs = pty.openpty()
    variables = {**project.program.environment, **project.environment, "COLUMNS": "200", "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "benchwright", *arguments],
        stdin=subprocess.DEVNULL, stdout=stdout or theirs, stderr=theirs, cwd=project.program.directory, env=variables,
    )  # fmt: skip
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other side is closed
            break
        written += piece
    os.close(ours)
    assert process.wait(30) == 0, written.decode()
    return written.decode()


def what_is_left_of(written: str) -> list[str]:
    """The lines that a terminal shows in the end, of those sequences that displays are made with."""
    lines, row, column = [""], 0, 0
    for text, up, erase in re.findall(r"([^\x1b]+)|\x1b\[(\d+)A|\x1b\[(2K)|\x1b\[[\d;?]*[a-zA-Z]", written):
        if up:
            row -= int(up)
        elif erase:
            lines[row] = ""
        for character in text:
            if character == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif character == "\r":
                column = 0
            else:
                lines[row] = f"{lines[row][:column]:{column}}{character}{lines[row][column + 1 :]}"
                column += 1
    return [line.rstrip() for line in lines]
