"""Before a run its endpoint is asked for what the run needs, and for nothing else; what is missing is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import mmlu_rows
from tests.catalog.catalog_kit import write_rows
from tests.endpoint.card.played_server import PlayedServer, served

from benchwright.app.needs import NEED_BY_BENCHMARK_FIELD, needs_of_benchmark
from benchwright.catalog.registry import find_about, list_abouts
from benchwright.endpoint.card.needs import Need
from benchwright.runs.cards import read_cards

EXAMPLES = Path(__file__).parents[2] / "examples"
CHAT = "/v1/chat/completions"
SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
NO_TOOLS = (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')


def plain_eval(program: Program, server: PlayedServer, *more: str) -> list[str]:
    return program.evaluating(program.rows(2), server.base_url, "-q", *more)


def with_tools(program: Program, server: PlayedServer, *more: str) -> list[str]:
    """An evaluation of a directory of MCP tools."""
    shutil.copytree(EXAMPLES / "mcp", program.directory / "mcp", dirs_exist_ok=True)
    for name in ("arithmetic.jsonl", "rewards.py"):
        shutil.copy(EXAMPLES / name, program.directory / name)
    own = [
        "--mcp",
        "mcp",
        "-d",
        "arithmetic.jsonl",
        "--eval-fn",
        "rewards:right_number",
        "--limit",
        "2",
        "-q",
    ]
    return ["eval", *own, "--model", "m", "--base-url", server.base_url, *more]


def next_letter(program: Program, server: PlayedServer, *more: str) -> list[str]:
    """A run of mmlu:5shot, which compares log-probabilities."""
    write_rows(program.directory / "data" / "mmlu" / "test.jsonl", mmlu_rows(4))
    write_rows(program.directory / "data" / "mmlu" / "dev.jsonl", mmlu_rows(20))
    return ["run", "mmlu:5shot", "--model", "m", "--base-url", server.base_url, *more]


def trials(server: PlayedServer) -> list[dict[str, Any]]:
    """The bodies of the requests that trials made."""
    probes = ("Call the tool", "sentence about the sea", "Say hello", "capital of France", "square")
    bodies = [each.body for each in server.asked if each.path in (CHAT, "/v1/completions")]
    return [body for body in bodies if not any(words in json.dumps(body) for words in probes)]


class TestWhatIsAsked:
    def test_a_plain_eval_needs_nothing_but_the_model(self, program: Program) -> None:
        with served() as server:
            ended = program.run(*plain_eval(program, server))
        assert ended.returncode == 0, ended.stderr
        assert [each.path for each in server.asked][:2] == ["/v1/models", "/version"]
        assert len(server.asked) == 2 + len(trials(server)) == 4
        assert "Warning" not in ended.stderr

    def test_tools_are_tried_once_and_well_before_the_trials(self, program: Program) -> None:
        with served() as server:
            program.run(*with_tools(program, server))
        tried = [each.body for each in server.asked if "Call the tool" in json.dumps(each.body)]
        assert len(tried) == 1
        assert tried[0]["max_tokens"] <= 64
        assert server.asked.index(next(each for each in server.asked if each.body is tried[0])) == 2

    def test_no_probe_asks_nothing(self, program: Program) -> None:
        with served() as server:
            program.run(*with_tools(program, server, "--no-probe"))
        assert {each.path for each in server.asked} == {CHAT}
        assert len(server.asked) == len(trials(server))

    def test_a_simulated_endpoint_is_not_asked(self, program: Program, echo: str) -> None:
        ended = program.run(*plain_eval(program, PlayedAt(echo), "--budget-tokens", "1000"))  # type: ignore[arg-type]
        assert ended.returncode == 0
        assert "Warning" not in ended.stderr

    def test_what_it_takes_is_not_part_of_the_run(self, program: Program) -> None:
        with served() as server:
            summary = program.summary(*plain_eval(program, server, "--budget-tokens", "1000"))
        (target,) = summary.targets
        assert target.requests.total_requests == len(trials(server)) == 2
        assert any("sentence about the sea" in json.dumps(each.body) for each in server.asked)


class PlayedAt:
    """An endpoint by its address."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url


class TestWhatIsSaid:
    def test_that_token_budgets_never_stop_a_run_without_usage_in_streams(self, program: Program) -> None:
        with served(stream_usage="none") as server:
            ended = program.run(*plain_eval(program, server, "--budget-tokens", "1000"))
        (line,) = [line for line in ended.stderr.splitlines() if line.startswith("Warning:")]
        assert line == (
            f"Warning: m at {server.base_url}: usage in streams: not reported. Tokens and cost are unknown, and token "
            "limits and budgets never stop anything. --no-stream counts them."
        )
        assert ended.returncode == 0

    def test_that_a_json_schema_is_ignored(self, program: Program) -> None:
        with served(json_schema="ignored") as server:
            ended = program.run(
                *plain_eval(program, server, "--param", f"response_format={json.dumps(SCHEMA)}")
            )
        assert "JSON schema: accepted and ignored." in ended.stderr
        assert ended.returncode == 0

    def test_that_calls_come_as_text_and_which_option_helps(self, program: Program) -> None:
        with served(tools="as_text") as server:
            ended = program.run(*with_tools(program, server))
        assert "tool calls: as text in the answer." in ended.stderr
        assert "Start vLLM with --enable-auto-tool-choice --tool-call-parser NAME." in ended.stderr
        assert len(trials(server)) == 2

    def test_that_the_model_made_no_call_does_not_stop_it(self, program: Program) -> None:
        with served(tools="no_call") as server:
            ended = program.run(*with_tools(program, server))
        assert "the model made no call when asked to" in ended.stderr
        assert len(trials(server)) == 2


class TestWhatCannotWork:
    def test_tools_that_are_refused_stop_a_run_with_tools_before_its_first_trial(
        self, program: Program
    ) -> None:
        with served(refusals={"tools": NO_TOOLS}) as server:
            ended = program.run(*with_tools(program, server))
        assert ended.returncode == 1
        assert ended.stderr.rstrip().splitlines()[-1] == (
            f"Error: m at {server.base_url}: tool calls: HTTP 400: {NO_TOOLS[1]}. Benchmarks and agents with tools "
            "cannot be run. Start vLLM with --enable-auto-tool-choice --tool-call-parser NAME. "
            "(--no-probe starts without asking.)"
        )
        assert trials(server) == []

    @pytest.mark.parametrize("behaviour", [{"missing": {"/v1/completions"}}, {"logprobs": frozenset()}])
    def test_mmlu_5shot_needs_log_probabilities_of_completions(
        self, program: Program, behaviour: Any
    ) -> None:
        with served(**behaviour) as server:
            ended = program.run(*next_letter(program, server))
        assert ended.returncode == 1
        assert "mmlu:5shot cannot be run" in ended.stderr
        assert trials(server) == []

    def test_it_is_run_where_they_are(self, program: Program) -> None:
        with served(shape="chat") as server:
            ended = program.run(*next_letter(program, server))
        assert len(trials(server)) == 4, ended.stderr

    def test_a_server_that_was_mended_is_asked_again(self, program: Program) -> None:
        with served(refusals={"tools": NO_TOOLS}) as server:
            first = program.run(*with_tools(program, server))
            server.behaviour.refusals = {}
            again = program.run(*with_tools(program, server))
        assert (first.returncode, again.returncode) == (1, 0), again.stderr
        assert len(program.runs) == 1


class TestTheCardIsKept:
    @pytest.fixture
    def run(self, program: Program) -> str:
        with served() as server:
            program.run(*plain_eval(program, server, "--budget-tokens", "1000"))
        return program.only_run.name

    def test_with_the_run(self, program: Program, run: str) -> None:
        card = read_cards(program.only_run)["primary"]
        assert card.findings.keys() == {"server", "models", "context", "streaming", "usage_in_stream"}
        assert card.findings["server"].detail["version"] == "0.11.0"

    def test_and_shown_with_it(self, program: Program, run: str) -> None:
        shown = " ".join(program.run("show", run).stdout.split())
        assert (
            "Endpoint of m: server: vLLM 0.11.0 (recognised by its list of models); list of models:" in shown
        )

    def test_and_in_a_report(self, program: Program, run: str) -> None:
        program.run("report", run, "-o", "report.html")
        page = (program.directory / "report.html").read_text()
        assert "endpoint: server" in page
        assert "vLLM 0.11.0" in page

    def test_and_not_asked_for_again_when_the_run_is_resumed(self, program: Program) -> None:
        with served() as server:
            asked = plain_eval(program, server, "--budget-tokens", "1")
            first = program.run(*asked)
            probes = len(server.asked) - len(trials(server))
            again = program.run(*asked)
        assert "to resume" in first.stderr
        assert len(trials(server)) == 2, again.stderr
        assert len(server.asked) - len(trials(server)) == probes + 1, "only whether the server is there"


class TestDeclarations:
    def test_every_word_of_a_benchmark_is_known(self) -> None:
        words = {word for each in list_abouts() for word in each.needs}
        assert words - NEED_BY_BENCHMARK_FIELD.keys() == {"sandbox", "containers", "completions"}

    @pytest.mark.parametrize(
        ("name", "needs"),
        [
            ("bfcl", {Need.TOOLS: True}),
            ("tau_bench", {Need.TOOLS: True}),
            ("tau2_bench", {Need.TOOLS: True}),
            ("mmmu_pro", {Need.IMAGES: True}),
            ("hle:images", {Need.IMAGES: False}),
            ("mmlu:5shot", {Need.LOGPROBS: True}),
            ("mmlu", {}),
        ],
    )
    def test_of_benchmarks(self, name: str, needs: dict[Need, bool]) -> None:
        assert needs_of_benchmark(find_about(name), None) == needs

    @pytest.mark.parametrize(
        ("agent", "needs"), [("codex", {Need.TOOLS: False}), ("aider", {}), ("terminus", {})]
    )
    def test_of_command_line_agents(self, agent: str, needs: dict[Need, bool]) -> None:
        assert needs_of_benchmark(find_about("terminal_bench"), agent) == needs
