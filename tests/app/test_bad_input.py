"""A user's mistake: one clear line on stderr that names the thing and says what to do, and exit code 1.

The commands of the tables run side by side, as soon as the first of them is asked for.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.app.app_kit import NOWHERE, GrowingJournal, Program, finished, one_line_of
from tests.simulated import simulated_endpoint

AGENT = """
from osmosis_ai.rollout import RolloutAgentLoop, RolloutContext, RolloutResult


class Agent(RolloutAgentLoop):
    name = "agent"

    def get_tools(self, request):
        return []

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        raise NotImplementedError


NUMBER = 7
"""

REWARDS = """
def right(solution_str, ground_truth, extra_info=None):
    return 1.0


def odd(x):
    return 1.0
"""

FILES = {
    "agent.py": AGENT,
    "broken.py": "def f(:\n    pass\n",
    "failing.py": "import json\n\nVALUE = json.loads('{')\n",
    "rewards.py": REWARDS,
    "good.jsonl": '{"prompt": "2 + 2?", "answer": "4"}\n',
    "agent_rows.jsonl": '{"system_prompt": "s", "user_prompt": "u", "ground_truth": "g"}\n',
    "line3.jsonl": '{"prompt": "a", "answer": "b"}\n{"prompt": "a", "answer": "b"}\n{"prompt": "a", "ans\n',
    "no_answer.jsonl": '{"prompt": "2 + 2?", "solution_text": "4"}\n',
    "no_prompt.jsonl": '{"text": "2 + 2?", "answer": "4"}\n',
    "blank.jsonl": '{"prompt": "2 + 2?", "answer": "4"}\n{"prompt": "  ", "answer": "4"}\n',
    "null.jsonl": '{"prompt": "2 + 2?", "answer": null}\n',
    "number.jsonl": '{"prompt": 7, "answer": "4"}\n',
    "list.jsonl": '["2 + 2?", "4"]\n',
    "empty.jsonl": "",
    "rows.txt": "2 + 2?\n",
    "agent_null.jsonl": '{"system_prompt": "s", "user_prompt": null, "ground_truth": "g"}\n',
    "agent_missing.jsonl": '{"system_prompt": "s", "user_prompt": "u"}\n',
}  # fmt: skip

MODEL = ["--model", "m", "--base-url", NOWHERE]
EXACT = ["--scorer", "exact", *MODEL]
GOOD = ["eval", "-d", "good.jsonl"]
AGENT_ROWS = ["eval", "-d", "agent_rows.jsonl", *MODEL]


class Case(NamedTuple):
    """A command and what the one line must say."""

    what: str
    command: list[str]
    says: str


MISTAKES = [
    Case("no dataset", ["eval", *EXACT], r"--dataset \(-d\) is required"),
    Case("a hosted judge", ["eval-rubric", "-r", "polite"],
         r"`eval-rubric` asks the hosted judges of Osmosis, .* `benchwright eval --scorer judge "),
    Case("no model", [*GOOD, "--scorer", "exact"], r"--model is required"),
    Case("nothing that scores", [*GOOD, *MODEL], r"--eval-fn is required \(or --scorer"),
    Case("a batch of none", [*GOOD, *EXACT, "--batch-size", "0"], r"--batch-size must be >= 1"),
    Case("no such module", [*AGENT_ROWS, "-m", "agnet:Agent", "--eval-fn", "rewards:right"],
         r"Cannot import module 'agnet': no such module in .*\. Did you mean 'agent'\?"),
    Case("no such attribute", [*AGENT_ROWS, "-m", "agent:Agnet", "--eval-fn", "rewards:right"],
         r"Module 'agent' has no attribute 'Agnet'.*Did you mean 'Agent'\?"),
    Case("no colon", [*AGENT_ROWS, "-m", "agent", "--eval-fn", "rewards:right"],
         r"Invalid module path 'agent'. Expected format: 'module:attribute'"),
    Case("no agent", [*AGENT_ROWS, "-m", "agent:NUMBER", "--eval-fn", "rewards:right"],
         r"'agent:NUMBER' must be a RolloutAgentLoop or a subclass of it, but it is a int"),
    Case("a module with a syntax error", [*AGENT_ROWS, "-m", "broken:Agent", "--eval-fn", "rewards:right"],
         r"Cannot import module 'broken': invalid syntax.*broken\.py:1"),
    Case("a module that fails", [*AGENT_ROWS, "-m", "failing:Agent", "--eval-fn", "rewards:right"],
         r"Cannot import module 'failing': JSONDecodeError.*failing\.py:3"),
    Case("no such eval function", [*AGENT_ROWS, "-m", "agent:Agent", "--eval-fn", "rewards:wright"],
         r"Module 'rewards' has no attribute 'wright'.*Did you mean 'right'\?"),
    Case("an eval function of no known shape", [*AGENT_ROWS, "-m", "agent:Agent", "--eval-fn", "rewards:odd"],
         r"Cannot detect eval function mode: first parameter is 'x'"),
    Case("no such scorer", [*GOOD, "--scorer", "exct", *MODEL], r"exct.*Did you mean 'exact'\?"),
    Case("no such scorer option", [*GOOD, *EXACT, "--scorer-option", "stirct=true"],
         r"stirct.*Did you mean 'strict'\?"),
    Case("no such dataset", ["eval", "-d", "god.jsonl", *EXACT], r"Dataset file not found: god\.jsonl"),
    Case("a dataset of no known kind", ["eval", "-d", "rows.txt", *EXACT],
         r"Unsupported file format: \.txt\. Supported formats: \.json"),
    Case("bad JSON", ["eval", "-d", "line3.jsonl", *EXACT], r"Error: line3\.jsonl: Invalid JSON at line 3: "),
    Case("no rows", ["eval", "-d", "empty.jsonl", *EXACT], r"empty\.jsonl has no rows"),
    Case("rows that are not objects", ["eval", "-d", "list.jsonl", *EXACT],
         r"Error: list\.jsonl, line 1: Row 0: Expected object, got list"),
    Case("no target column", ["eval", "-d", "no_answer.jsonl", *EXACT],
         r"Error: no_answer\.jsonl: .*--column target=NAME.*Columns: prompt, solution_text"),
    Case("no prompt column", ["eval", "-d", "no_prompt.jsonl", *EXACT],
         r"--column prompt=NAME.*Columns: text, answer"),
    Case("a column that is not there", [*GOOD, *EXACT, "--column", "target=anwser"],
         r"No column 'anwser' \(--column target=anwser\)\. Did you mean 'answer'\?"),
    Case("a blank column", ["eval", "-d", "blank.jsonl", *EXACT],
         r"Error: blank\.jsonl, line 2: Row 1: 'prompt' cannot be empty"),
    Case("a null column", ["eval", "-d", "null.jsonl", *EXACT],
         r"Error: null\.jsonl, line 1: Row 0: 'answer' cannot be null"),
    Case("a wrongly typed column", ["eval", "-d", "number.jsonl", *EXACT],
         r"Row 0: 'prompt' must be a string, got int"),
    Case("a null column for an agent",
         ["eval", "-d", "agent_null.jsonl", *MODEL, "-m", "agent:Agent", "--eval-fn", "rewards:right"],
         r"Row 0: 'user_prompt' cannot be null"),
    Case("a missing column for an agent",
         ["eval", "-d", "agent_missing.jsonl", *MODEL, "-m", "agent:Agent", "--eval-fn", "rewards:right"],
         r"Error: agent_missing\.jsonl, line 1: Row 0: Missing required columns: \['ground_truth'\]"),
    Case("a URL without a scheme", [*GOOD, "--scorer", "exact", "--model", "m", "--base-url", "localhost:8000/v1"],
         r"'localhost:8000/v1' is not an http:// or https:// address \(for example http://localhost:8000/v1\)"),
    Case("a URL with a password", [*GOOD, "--scorer", "exact", "--model", "m", "--base-url", "http://a:b@localhost/v1"],
         r"holds a user name or password; give the key with --api-key"),
    Case("a model of an unknown provider", [*GOOD, "--scorer", "exact", "--model", "acme/m"],
         r"Invalid LiteLLM model format\. .* Received model='acme/m'\."),
    Case("a closed port", [*GOOD, *EXACT],
         r"Cannot connect to http://127\.0\.0\.1:9/v1: .*Is the server running, and is --base-url right\?"),
    Case("no such run", ["show", "yesterday"], r"There is no run 'yesterday' in .*runs\."),
]  # fmt: skip

USAGE = [
    Case("no such command", ["evl"], r"Unknown command 'evl'\. Did you mean 'eval'\?"),
    Case("no such option", [*GOOD, "--scroer", "exact"], r"No such option.*--scroer"),
    Case("no number", [*GOOD, *EXACT, "--n", "many"], r"'many' is not a valid integer"),
    Case("no pair", [*GOOD, *EXACT, "--param", "top_p"], r"--param takes KEY=VALUE, got 'top_p'"),
    Case("no such file of options", [*GOOD, *EXACT, "--config", "eval.toml"], r"eval\.toml' does not exist"),
]  # fmt: skip

Ended = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Ended]]]:
    """How the commands of the tables end, two at a time."""
    program = Program(tmp_path_factory.mktemp("mistakes"))
    for name, text in FILES.items():
        program.write(name, text)
    with ThreadPoolExecutor(2) as threads:
        yield {case.what: threads.submit(program.run, *case.command) for case in (*MISTAKES, *USAGE)}
    program.end()


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.what)
def test_a_mistake_is_toldin_one_line(case: Case, ended: dict[str, Future[Ended]]) -> None:
    result = ended[case.what].result()
    assert result.returncode == 1
    assert re.search(case.says, one_line_of(result.stderr)), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("case", USAGE, ids=lambda case: case.what)
def test_wrong_usage_is_told_with_exit_code_2(case: Case, ended: dict[str, Future[Ended]]) -> None:
    result = ended[case.what].result()
    assert result.returncode == 2
    assert re.search(case.says, result.stderr), result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(program: Program) -> None:
    result = program.run("eval", "-d", "nowhere.jsonl", *EXACT, "--debug")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].endswith("Dataset file not found: nowhere.jsonl")


def test_nothing_is_left_behind_by_a_mistake_that_was_found_before_the_run(program: Program) -> None:
    program.run("eval", "-d", "nowhere.jsonl", *EXACT)
    assert not program.home.exists()


KEY = "sk-the-right-one-0123456789"


@pytest.fixture(scope="module")
def strict() -> Iterator[str]:
    """An endpoint that serves one model, and only to those who have the key."""
    with simulated_endpoint("--model=known", f"--api-key={KEY}") as base_url:
        yield base_url


def asking(program: Program, base_url: str, model: str, *more: str) -> list[str]:
    rows = program.rows(50)
    return ["eval", "-d", rows, "--scorer", "exact", "--model", model, "--base-url", base_url, *more]


def test_an_unknown_model(program: Program, strict: str) -> None:
    result = program.run(*asking(program, strict, "unknown", "--api-key", KEY))
    assert result.returncode == 1
    line = one_line_of(result.stderr)
    assert f"{strict} does not serve the model 'unknown'" in line
    assert "Check --model and --base-url" in line
    assert "Traceback" not in result.stderr


def test_a_wrong_key(program: Program, strict: str) -> None:
    wrong = "sk-the-wrong-one-0123456789"
    result = program.run(*asking(program, strict, "known", "--api-key", wrong))
    assert result.returncode == 1
    line = one_line_of(result.stderr)
    assert f"{strict} refused the key" in line
    assert "Give a valid one with --api-key or BENCHWRIGHT_API_KEY" in line
    assert wrong not in result.stderr


def test_a_mistake_that_the_endpoint_finds_stops_the_run_at_once_and_is_put_right(
    program: Program, strict: str
) -> None:
    program.run(*asking(program, strict, "known", "--api-key=sk-wrong-0123456789"))
    summary = program.summary(*asking(program, strict, "known", "--api-key", KEY))
    assert (summary.state, summary.done) == ("finished", 50)
    assert summary.targets[0].requests.failed_requests == 1, "one request was enough to see it"
    assert len(program.runs) == 1, "it went on with the same run"


def test_a_key_that_no_header_can_carry(program: Program) -> None:
    result = program.run(*program.evaluating(program.rows(1), NOWHERE, "--api-key", "sk-with-a-…-in-it"))
    assert result.returncode == 1
    assert "The API key contains characters that are invalid in an HTTP header" in one_line_of(result.stderr)


def test_no_key_for_openai(program: Program) -> None:
    result = program.run("eval", "-d", program.rows(1), "--scorer", "exact", "--model", "gpt-x")
    assert result.returncode == 1
    assert "Missing API key for provider 'openai'. Set OPENAI_API_KEY" in one_line_of(result.stderr)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--baseline-model=gpt-x"],
         r"Error: Baseline gpt-x: Missing API key for provider 'openai'\. .*, or pass --baseline-api-key\. "
         r"If it has an endpoint of its own, give --baseline-base-url\."),
        (["--baseline-model=org/x"], r"Error: Baseline org/x: .* give --baseline-base-url\."),
        (["--baseline-model=gpt-x", "--baseline-base-url=localhost:8000"],
         r"Error: Baseline gpt-x: The base URL 'localhost:8000' is not an http:// or https:// address .*"),
        (["--baseline-model= "], r"Error: Baseline  : Model cannot be empty\. Pass a value with --baseline-model\."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_baseline(program: Program, given: list[str], says: str) -> None:
    result = program.run(*program.evaluating(program.rows(1), NOWHERE, *given))
    assert result.returncode == 1
    assert re.match(says, one_line_of(result.stderr)), result.stderr


def test_a_home_that_cannot_be_written(program: Program, echo: str) -> None:
    program.write("file", "in the way")
    home = str(program.directory / "file" / "home")
    result = program.run(*program.evaluating(program.rows(1), echo), BENCHWRIGHT_HOME=home)
    assert result.returncode == 1
    assert re.search(rf"Cannot write the run to {home}/.*: Not a directory", one_line_of(result.stderr))
    assert "Traceback" not in result.stderr


def test_a_server_that_goes_away_costs_nothing_that_is_done(program: Program, tmp_path: Path) -> None:
    """It dies in the middle, and comes back under the same address."""
    with simulated_endpoint("--first-token=40") as base_url:
        port = int(base_url.split(":")[2].split("/")[0])
        command = program.evaluating(program.rows(60), base_url, "--batch-size=2", "--retries=0")
        process = program.start(*command)
        GrowingJournal(program).wait_for(10, process)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 1
    assert f"Cannot connect to {base_url}" in one_line_of(stderr)
    done = len(finished(program.only_run))
    assert 10 <= done < 60
    log = tmp_path / "truth.jsonl"
    with simulated_endpoint(f"--port={port}", f"--log={log}"):
        assert program.summary(*command).done == 60
    asked = [json.loads(line) for line in log.read_text().splitlines() if "chat" in line]
    assert len(asked) == 60 - done


def test_a_pipe_that_is_closed_early_is_no_traceback(program: Program, echo: str) -> None:
    process = program.start(*program.evaluating(program.rows(2), echo, "--json"))
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
