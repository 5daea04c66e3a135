"""`benchwright test`: an agent on a few rows in a batch, against a simulated model."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest
from tests.app.adder_kit import FIRST, KEY, SECOND, TOKENS, trying, without_times, write_project
from tests.app.app_kit import NOWHERE, Program, one_line_of
from tests.simulated import simulated_endpoint

Ended = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with simulated_endpoint(answers=KEY) as base_url:
        yield base_url


@pytest.fixture
def project(program: Program) -> Program:
    return write_project(program)


def row_lines(text: str) -> list[str]:
    """The lines about rows."""
    return without_times([line for line in text.splitlines() if re.match(r"\[\d+/\d+\] ", line)])


class TestABatch:
    def test_has_a_line_for_each_row_and_a_summary(self, project: Program, model: str) -> None:
        ended = project.run(*trying(model))
        assert ended.returncode == 1
        assert row_lines(ended.stdout) == [
            f"[1/4] Row 0: OK (TIME, {TOKENS[0]} tokens)",
            f"[2/4] Row 1: FAILED (TIME, {TOKENS[1]} tokens) - the page that was wanted did not load, and neit...",
            f"[3/4] Row 2: OK (TIME, {TOKENS[2]} tokens)",
            f"[4/4] Row 3: FAILED (TIME, {TOKENS[3]} tokens) - out of ideas",
        ]
        summary = ended.stdout[ended.stdout.index("Summary:") :].splitlines()
        assert [*summary[:4], summary[5]] == [
            "Summary:",
            "  Total: 4",
            "  Passed: 2",
            "  Failed: 2",
            f"  Total tokens: {sum(TOKENS.values())}",
        ]
        assert re.fullmatch(r"  Duration: (\d+ms|\d+\.\ds)", summary[4])
        assert ended.stderr == ""

    def test_says_first_what_it_loads(self, project: Program, model: str) -> None:
        ended = project.run(*trying(model, "--limit=2", "--offset=2"))
        assert ended.stdout.splitlines()[:6] == [
            f"Connecting to endpoint: {model}",
            "  Model: m",
            "Loading agent: my_agent:Agent",
            "  Agent name: adder",
            "Loading dataset: rows.jsonl",
            "  Total rows: 4 (testing 2)",
        ]

    def test_tells_the_whole_of_the_first_error_at_the_end(self, project: Program, model: str) -> None:
        last = project.run(*trying(model)).stdout.splitlines()[-1]
        assert last == (
            "  First error: row 1: the page that was wanted did not load, and neither did the next"
        )

    def test_counts_rows_from_the_start_of_the_file(self, project: Program, model: str) -> None:
        ended = project.run(*trying(model, "--offset=2", "--limit=1"))
        assert row_lines(ended.stdout) == [f"[1/1] Row 2: OK (TIME, {TOKENS[2]} tokens)"]
        assert ended.returncode == 0

    def test_quiet_shows_the_result_only(self, project: Program, model: str) -> None:
        ended = project.run(*trying(model, "-q"))
        assert (ended.returncode, ended.stdout.splitlines()[0], ended.stderr) == (1, "Summary:", "")

    def test_keeps_nothing(self, project: Program, model: str) -> None:
        before = sorted(path.name for path in project.directory.iterdir())
        project.run(*trying(model, "--limit=1"), PYTHONDONTWRITEBYTECODE="1")
        assert sorted(path.name for path in project.directory.iterdir()) == before

    def test_with_debug_writes_what_the_agent_logs(self, project: Program, model: str) -> None:
        project.run(*trying(model, "--limit=1", "--debug"))
        lines = (project.directory / "test_debug" / "test-0.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in lines] == [
            {"event": "answer", "rollout_id": "test-0", "turn": turn} for turn in (0, 1)
        ]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, model: str) -> tuple[Ended, str]:
    """A batch that prints its results and writes them too, and what it wrote."""
    program = write_project(Program(tmp_path_factory.mktemp("results")))
    ended = program.run(*trying(model, "--json", "-o", "new/results.json"))
    return ended, (program.directory / "new" / "results.json").read_text()


class TestResults:
    def test_are_one_object_on_stdout_and_the_same_in_the_file(self, results: tuple[Ended, str]) -> None:
        ended, file = results
        assert json.loads(ended.stdout) == json.loads(file)
        assert row_lines(ended.stderr)[0] == f"[1/4] Row 0: OK (TIME, {TOKENS[0]} tokens)"
        assert ended.stderr.splitlines()[-1] == "Written: new/results.json"

    def test_begin_with_a_summary(self, results: tuple[Ended, str]) -> None:
        document = json.loads(results[1])
        assert list(document) == ["summary", "results"]
        duration = document["summary"].pop("total_duration_ms")
        assert document["summary"] == {
            "total": 4, "passed": 2, "failed": 2, "total_tokens": sum(TOKENS.values())
        }  # fmt: skip
        assert duration >= sum(row["duration_ms"] for row in document["results"]) > 0

    def test_tell_how_a_row_passed(self, results: tuple[Ended, str]) -> None:
        row = json.loads(results[1])["results"][0]
        assert row.pop("duration_ms") > 0
        assert row == {
            "row_index": 0,
            "success": True,
            "error": None,
            "token_usage": {
                "prompt_tokens": FIRST[0] + SECOND[0],
                "completion_tokens": FIRST[1] + SECOND[1],
                "total_tokens": TOKENS[0],
                "num_llm_calls": 2,
            },
            "reward": 1.0,
            "finish_reason": "stop",
        }

    def test_and_how_it_failed(self, results: tuple[Ended, str]) -> None:
        rows = json.loads(results[1])["results"]
        told = [
            (row["success"], row["error"], row["reward"], row["finish_reason"]) for row in (rows[1], rows[3])
        ]
        assert told == [
            (False, "the page that was wanted\ndid not load, and neither did the next", None, None),
            (False, "out of ideas", None, "error"),
        ]


class TestWhatReachesTheModel:
    def test_max_tokens_does_if_the_agent_passes_it_on(self, project: Program, model: str) -> None:
        ended = project.run(*trying(model, "--offset=2", "--limit=1", "--max-tokens=1", "--json"))
        (row,) = json.loads(ended.stdout)["results"]
        assert row["token_usage"]["completion_tokens"] == 1
        assert row["reward"] == 1.0, "the one word is the right one"

    def test_max_turns_ends_the_agent(self, project: Program, model: str) -> None:
        ended = project.run(*trying(model, "--limit=1", "--max-turns=1", "--json"))
        (row,) = json.loads(ended.stdout)["results"]
        assert row["finish_reason"] == "max_turns"
        assert row["token_usage"]["total_tokens"] == sum(FIRST)

    def test_the_documented_model_is_asked_unless_told_otherwise(self, project: Program) -> None:
        with simulated_endpoint("--model=gpt-5-mini", "--api-key=sk-abcdef123") as base_url:
            ended = project.run(
                "test", "--agent", "my_agent:Agent", "-d", "rows.jsonl", "--limit=1", "-q",
                OPENAI_BASE_URL=base_url, OPENAI_API_KEY="sk-abcdef123",
            )  # fmt: skip
        assert (ended.returncode, ended.stderr) == (0, "")

    def test_mcp_tools_need_no_agent(self, project: Program, model: str) -> None:
        ended = project.run(*trying(model, "--json", agent=("--mcp", "tools")))
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr.splitlines()[2:4] == ["Loading MCP tools: tools", "  Tools: add"]
        document = json.loads(ended.stdout)
        assert [row["token_usage"]["total_tokens"] for row in document["results"]] == list(TOKENS.values())
        assert {row["finish_reason"] for row in document["results"]} == {"stop"}


class TestAModelThatCannotBeAsked:
    REASON = (
        f"Cannot connect to {NOWHERE}: Connection refused. Is the server running, and is --base-url right?"
    )

    def test_stops_the_batch_at_the_first_row(self, project: Program) -> None:
        ended = project.run(*trying(NOWHERE))
        assert ended.returncode == 1
        assert row_lines(ended.stdout) == [
            f"[1/4] Row 0: FAILED (TIME, 0 tokens) - {self.REASON[:47]}...",
        ]
        assert "  Total: 1\n" in ended.stdout
        assert ended.stdout.splitlines()[-1] == f"  Stopped early: {self.REASON}"

    def test_is_told_to_whoever_wants_quiet_too(self, project: Program) -> None:
        ended = project.run(*trying(NOWHERE, "-q", "--json"))
        assert one_line_of(ended.stderr) == f"Error: {self.REASON}"
        summary = json.loads(ended.stdout)["summary"]
        assert (summary["stopped_early"], summary["stop_reason"]) == (True, self.REASON)


class Case(NamedTuple):
    """Arguments of `test`, and what the one line must say."""

    what: str
    arguments: list[str]
    says: str


AGENT_GIVEN = ["-m", "my_agent:Agent"]
ROWS_GIVEN = ["-d", "rows.jsonl", "--model", "m", "--base-url", NOWHERE]
GIVEN = [*AGENT_GIVEN, *ROWS_GIVEN]

MISTAKES = [
    Case("no dataset", AGENT_GIVEN, r"--dataset \(-d\) is required\."),
    Case("no agent", ROWS_GIVEN, r"Either --module \(-m\) or --mcp is required\."),
    Case("two agents", [*GIVEN, "--mcp", "tools"], r"--module and --mcp are mutually exclusive\."),
    Case("no rows wanted", [*GIVEN, "--limit", "0"], r"--limit must be >= 1\."),
    Case("no turns", [*GIVEN, "--max-turns", "0"], r"--max-turns must be >= 1\."),
    Case("an offset before the start", [*GIVEN, "--offset", "-1"], r"--offset must be >= 0\."),
    Case("a row of a batch", [*GIVEN, "--row", "1"], r"--row can only be used with --interactive\."),
    Case("a row that is not there", [*GIVEN, "-i", "--offset", "1", "--row", "4"],
         r"Row index out of range: 4\. Rows: 1 to 3\."),
    Case("an interactive file", [*GIVEN, "-i", "-o", "x.json"],
         r"--json and --output cannot be combined with --interactive\."),
    Case("an offset behind the end", [*GIVEN, "--offset", "4"], r"rows\.jsonl has no rows to test \(--offset 4\)"),
    Case("no such dataset", [*GIVEN, "-d", "row.jsonl"], r"Dataset file not found: row\.jsonl"),
    Case("no such agent", [*ROWS_GIVEN, "-m", "my_agent:Agnet"], r"no attribute 'Agnet'.*Did you mean 'Agent'\?"),
    Case("no such tools", [*ROWS_GIVEN, "--mcp", "tool"], r"MCP directory does not exist: tool"),
    Case("no tools in them", [*ROWS_GIVEN, "--mcp", "bare"], r"The MCP server in bare has no tools"),
    Case("no key for OpenAI", [*AGENT_GIVEN, "-d", "rows.jsonl"],
         r"Missing API key for provider 'openai'\. Set OPENAI_API_KEY"),
    Case("an address that is none", [*GIVEN, "--base-url", "localhost:8000"], r"is not an http:// or https:// address"),
]  # fmt: skip


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Ended]]]:
    """How the commands of the table end, two at a time."""
    program = write_project(Program(tmp_path_factory.mktemp("mistakes")))
    (program.directory / "bare").mkdir()
    program.write("bare/main.py", "from fastmcp import FastMCP\n\nmcp = FastMCP('bare')\n")
    with ThreadPoolExecutor(2) as threads:
        yield {case.what: threads.submit(program.run, "test", *case.arguments) for case in MISTAKES}
    program.end()


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.what)
def test_a_mistake_is_told_in_one_line(case: Case, mistakes: dict[str, Future[Ended]]) -> None:
    ended = mistakes[case.what].result()
    assert ended.returncode == 1
    assert re.search(case.says, one_line_of(ended.stderr))
    assert "Traceback" not in ended.stderr


class TestCtrlC:
    @pytest.fixture
    def interrupted(self, project: Program) -> Ended:
        """A batch of which the second row is interrupted; the first is done."""
        project.write("my_agent.py", (project.directory / "my_agent.py").read_text().replace(*STUCK))
        with simulated_endpoint(answers=KEY) as base_url:
            process = project.start(*trying(base_url, "-o", "results.json"))
            wait_for(project.directory / "stuck")
            process.send_signal(signal.SIGINT)
            return Ended(process.args, process.returncode, *process.communicate(timeout=30))

    def test_shows_what_was_done_until_then(self, project: Program, interrupted: Ended) -> None:
        assert row_lines(interrupted.stdout) == [f"[1/4] Row 0: OK (TIME, {TOKENS[0]} tokens)"]
        summary = interrupted.stdout[interrupted.stdout.index("Summary:") :].splitlines()
        assert summary[1:4] == ["  Total: 1", "  Passed: 1", "  Failed: 0"]
        assert summary[-1] == "  Stopped early: interrupted"
        assert interrupted.stderr == "Test interrupted.\nWritten: results.json\n"

    def test_writes_it_too(self, project: Program, interrupted: Ended) -> None:
        written = json.loads((project.directory / "results.json").read_text())
        assert [row["row_index"] for row in written["results"]] == [0]
        assert written["summary"].pop("total_duration_ms") > 0
        assert written["summary"] == {
            "total": 1, "passed": 1, "failed": 0, "total_tokens": TOKENS[0],
            "stopped_early": True, "stop_reason": "interrupted",
        }  # fmt: skip

    def test_ends_with_130_before_the_first_row_is_done_too(self, project: Program) -> None:
        with simulated_endpoint("--first-token=600000") as stuck:
            process = project.start(*trying(stuck, "-q"))
            wait_until_asked(stuck)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (130, "", "Test interrupted.\n")


STUCK = (
    'raise ValueError("the page that was wanted',
    '__import__("pathlib").Path("stuck").touch()\n                '
    'await __import__("asyncio").sleep(600)\n                raise ValueError("the page that was wanted',
)
"""What the agent does instead of exploding: it waits, and says so by a file."""


def wait_for(path: Path) -> None:
    """Returns when there is such a file."""
    end = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < end, "nobody came so far"
        time.sleep(0.02)


def wait_until_asked(base_url: str) -> None:
    """Returns when the server is at work on a request, by its own count."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with urlopen(f"{base_url.removesuffix('/v1')}/metrics") as page:
            if re.search(r"^vllm:num_requests_running\S* 1$", page.read().decode(), re.MULTILINE):
                return
        time.sleep(0.02)
    raise AssertionError("nobody asked")
