"""Every shell line of the llm-benchmarker document runs as written, and comes to what its answers are worth.

A shell runs the lines, with the program that is installed as `llm-bench`; addresses are replaced by that of a
simulated server, nothing else. What must come out is worked out beside the program, in `llm_bench_project.py`. The
document is read where BENCHWRIGHT_SPEC_DIR says; `llm_bench_shell.md` holds the same commands in our own words.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.swe_bench.conftest import running_engine, swe_bench_rows
from tests.catalog.swe_bench.test_swe_bench_rows import ROW
from tests.docs.llm_bench_project import (
    ADDRESSES,
    COMPARISON,
    MODELS,
    MODELS_COMPARED,
    TIERS,
    Run,
    compared,
    conversations,
    runs,
    write_data,
    write_own_package,
    write_results,
)
from tests.simulated import simulated_endpoint

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SPEC = Path(os.environ.get("BENCHWRIGHT_SPEC_DIR", ROOT.parent / "shared" / "spec"))
OURS, DOCUMENT = HERE / "llm_bench_shell.md", SPEC / "llm-benchmarker.md"
DOCUMENTS = [OURS, DOCUMENT]
ABSENT = f"{DOCUMENT.name} is not there; BENCHWRIGHT_SPEC_DIR says where the documents are"

INSTALLS = "it would install packages; that the extras are there is tested below"
ELSEWHERE = "it belongs to a repository that the document does not name"
NOT_RUN = {
    "pip install llm-benchmarker": INSTALLS,
    'pip install "llm-benchmarker[docker]"': INSTALLS,
    'pip install -e ".[dev]"': INSTALLS,
    "git clone <repo-url>": ELSEWHERE,
    "cd llm-benchmarker": ELSEWHERE,
    "pytest": ELSEWHERE,
    "ruff check src/": ELSEWHERE,
    "ruff format src/": ELSEWHERE,
    "python -m vllm.entrypoints.openai.api_server --model meta-llama/Llama-3.1-8B-Instruct --port 8000": (
        "it starts a server that needs a GPU; a simulated one stands in its place"
    ),
}
__all__ = ["running_engine", "swe_bench_rows"]

IN_CONTAINERS = "run swe_bench"
"""Lines of benchmarks of tier 4: they run on stand-ins for the official images."""


def blocks(document: Path, language: str = "bash") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)


def lines(block: str) -> list[str]:
    """The commands of a block as they stand there: lines that go on joined as a shell does, a loop as one."""
    joined = block.replace("\\\n", "")
    return re.findall(r"^for (?:.*\n)*?done$|^(?!#).*\S.*$", joined, re.M)


def plain(line: str) -> str:
    return " ".join(line.split())


def examples(*signs: str) -> list[Any]:
    """The different lines of all documents that are there which hold one of these texts."""
    found: dict[str, Any] = {}
    for document in (each for each in DOCUMENTS if each.exists()):
        for number, line in enumerate((line for block in blocks(document) for line in lines(block)), 1):
            if plain(line) not in NOT_RUN and any(sign in line for sign in signs):
                found.setdefault(plain(line), pytest.param(line, id=f"{document.stem}-{number}"))
    return list(found.values())


class Shell:
    """A shell in a directory with the data, and a server at every address of the document."""

    def __init__(self, directory: Path, data: Path, base_url: str) -> None:
        self.directory = directory
        self.base_url = base_url
        (directory / "data").symlink_to(data)
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(directory / "home"),
            "BENCHWRIGHT_HOME": str(directory / "home"),
            "BENCHWRIGHT_BASE_URL": base_url,
        }

    def attempt(self, line: str) -> subprocess.CompletedProcess[str]:
        for documented in ADDRESSES:
            line = line.replace(documented, self.base_url)
        return subprocess.run(
            ["bash", "-c", line],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Runs a line that must end well."""
        done = self.attempt(line)
        assert done.returncode == 0, done.stderr
        assert not re.search(r"^(Error|WARNING|Traceback)", done.stderr, re.M), done.stderr
        return done

    def use_data(self, rows: list[dict[str, Any]], name: str) -> None:
        """Lays these rows into a data directory of its own."""
        (self.directory / "data").unlink()
        write_rows(self.directory / "data" / name / "test.jsonl", rows)

    def asked(self) -> int:
        """How many questions the server has answered, by its own count."""
        with urlopen(f"{self.base_url.removesuffix('/v1')}/metrics") as page:
            text = page.read().decode()
        (answered,) = re.findall(r"^benchwright_simulated_answered_total (\d+)", text, re.M)
        return int(answered)

    def results(self, directory: str) -> list[tuple[str, dict[str, Any]]]:
        """Names and contents of the result files in a directory, in the order in which they were written."""
        found = sorted((self.directory / directory).glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        return [(path.name, json.loads(path.read_text())) for path in found]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("benchmarks") / "data")


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[str]:
    served = [part for model in MODELS for part in ("--model", model)]
    said = asyncio.run(conversations(data))
    with simulated_endpoint(*served, "--policy=refusal", "--between-tokens=1", scripts=said) as url:
        yield url


@pytest.fixture
def shell(tmp_path: Path, data: Path, server: str) -> Shell:
    return Shell(tmp_path, data, server)


RUNS = [each for each in examples(" run ") if not each.values[0].startswith("for ")]


@pytest.mark.parametrize("line", [each for each in RUNS if IN_CONTAINERS not in each.values[0]])
def test_a_run_comes_to_what_its_answers_are_worth(line: str, shell: Shell) -> None:
    if "my_benchmark" in line:
        put_into_the_package(shell)
    before = shell.asked()
    check_runs(shell, runs(line), before, shell.run(line))


def check_runs(shell: Shell, wanted: list[Run], before: int, done: subprocess.CompletedProcess[str]) -> None:
    """What was asked, printed and written."""
    assert shell.asked() - before == sum(len(one.correct) for run in wanted for one in run.scored)
    check_printed(done, wanted)
    check_files(shell, wanted)


def put_into_the_package(shell: Shell) -> None:
    """As the document says: the benchmark in a file of the package, and an import of it."""
    document = DOCUMENT if DOCUMENT.exists() else HERE / "llm_bench_python.md"
    *_, benchmark, importing = blocks(document, "python")
    write_own_package(shell.directory / "site", benchmark, importing)
    shell.environment["PYTHONPATH"] = str(shell.directory / "site")


def check_printed(done: subprocess.CompletedProcess[str], wanted: list[Run]) -> None:
    """For each benchmark its accuracy, of how many, and where the file is."""
    scored = [one for run in wanted for one in run.scored]
    told = re.findall(r": accuracy (\d\.\d{4})  \((\d+) of (\d+) correct", done.stdout)
    assert told == [(f"{one.accuracy:.4f}", str(sum(one.correct)), str(len(one.correct))) for one in scored]
    assert done.stdout.count("SIMULATED") == len(scored)
    written = re.findall(r"^Results: (\S+)$", done.stderr, re.M)
    assert len(written) == len(scored)
    for path, (directory, pattern) in zip(
        written,
        [(run.directory, run.file_name(one.benchmark)) for run in wanted for one in run.scored],
        strict=True,
    ):
        assert Path(path).parent == Path(directory)
        assert re.fullmatch(pattern, Path(path).name)


def check_files(shell: Shell, wanted: list[Run]) -> None:
    (directory,) = {run.directory for run in wanted}
    written = shell.results(directory)
    expected = [(run, one) for run in wanted for one in run.scored]
    assert len(written) == len(expected)
    for (name, result), (run, one) in zip(written, expected, strict=True):
        assert re.fullmatch(run.file_name(one.benchmark), name)
        assert name.endswith(f"_{result['timestamp']}.json")
        assert (result["benchmark"], result["name"], result["model"]) == (*[one.benchmark] * 2, run.model)
        assert result["config"] == run.config(one.benchmark, shell.base_url)
        assert result["num_samples"] == len(one.correct)
        assert result["accuracy"] == one.accuracy
        assert [sample["correct"] for sample in result["sample_results"]] == one.correct
        assert result["simulated"] is True
        check_timings(result, run)
        check_metrics_of_the_server(result, run)


def check_timings(result: dict[str, Any], run: Run) -> None:
    """Every sample has been timed; the first token only where it was streamed."""
    aggregated = result["aggregated_metrics"]
    metrics = [sample["metrics"] for sample in result["sample_results"]]
    assert all(one["total_latency_seconds"] > 0 for one in metrics)
    assert all(one["prompt_tokens"] > 0 and one["completion_tokens"] > 0 for one in metrics)
    assert [one["ttft_seconds"] is not None for one in metrics] == [run.streaming] * len(metrics)
    assert ("ttft_p50" in aggregated) == run.streaming
    assert (aggregated["total_requests"], aggregated["failed_requests"]) == (len(metrics), 0)
    assert aggregated["total_prompt_tokens"] == sum(one["prompt_tokens"] for one in metrics)
    rate = len(metrics) / aggregated["wall_time_seconds"]
    assert aggregated["effective_throughput_rps"] == pytest.approx(rate)


def check_metrics_of_the_server(result: dict[str, Any], run: Run) -> None:
    assert ("prometheus_metrics" in result) == run.scrapes
    if run.scrapes:
        assert "# TYPE vllm:" in result["prometheus_metrics"]
        grown = {name.partition("{")[0]: value for name, value in result["prometheus_delta"].items()}
        assert grown["benchwright_simulated_answered_total"] == result["num_samples"]


@pytest.mark.parametrize("line", [each for each in RUNS if IN_CONTAINERS in each.values[0]])
def test_a_benchmark_in_containers_runs_every_task_in_its_own(
    line: str, shell: Shell, swe_bench_rows: list[dict[str, Any]]
) -> None:
    shell.use_data(swe_bench_rows, "swe_bench")
    if engine := os.environ.get("DOCKER_HOST"):  # one that the tests have started
        shell.environment["DOCKER_HOST"] = engine
    before = shell.asked()
    shell.run(line)
    ((_, result),) = shell.results("results")
    assert (result["benchmark"], result["num_samples"], result["accuracy"]) == ("swe_bench", 2, 0.0)
    assert shell.asked() == before + 2, "the model refuses each task at once"


@pytest.mark.parametrize("line", [each for each in RUNS if IN_CONTAINERS in each.values[0]])
def test_without_an_engine_a_benchmark_in_containers_ends_in_one_line(
    line: str, shell: Shell, tmp_path: Path
) -> None:
    shell.use_data([ROW], "swe_bench")
    shell.environment["DOCKER_HOST"] = f"unix://{tmp_path}/docker.sock"
    before = shell.asked()
    done = shell.attempt(line)
    assert (done.returncode, done.stdout) == (1, "")
    (said,) = [each for each in done.stderr.splitlines() if each.startswith("Error:")]
    assert re.match(r"Error: Docker is not (installed|running): .* set DOCKER_HOST\.", said)
    assert shell.asked() == before


@pytest.mark.parametrize("line", examples(" check"))
def test_a_model_that_is_served_is_available(line: str, shell: Shell) -> None:
    done = shell.run(line)
    model = re.search(r"--model (\S+)", line)
    assert model is not None
    assert done.stdout == f"Connected to {shell.base_url}. Model '{model[1]}' is available.\n"
    assert done.stderr == ""


@pytest.mark.parametrize("line", examples(" list"))
def test_the_list_has_every_benchmark_with_its_tier(line: str, shell: Shell) -> None:
    done = shell.run(line)
    table = done.stdout.partition("Further Benchmarks")[0]
    assert "Available Benchmarks" in table
    assert listed(table) == TIERS
    assert done.stderr == ""


def listed(table: str) -> dict[str, int]:
    return {name: int(tier) for name, tier in re.findall(r"^│ *(\w+) *│ *(\d) *│", table, re.M)}


def test_the_document_lists_the_same_benchmarks_and_tiers() -> None:
    if not DOCUMENT.exists():
        pytest.skip(ABSENT)
    assert listed(DOCUMENT.read_text(encoding="utf-8")) == TIERS


@pytest.mark.parametrize("line", examples("llm-bench compare"))
def test_result_files_stand_side_by_side(line: str, shell: Shell) -> None:
    write_results(shell.directory, compared(line))
    done = shell.run(line)
    check_comparison(done.stdout, [str(model["model"]) for model in MODELS_COMPARED], COMPARISON)
    assert done.stderr == ""


def check_comparison(printed: str, models: list[str], rows: Mapping[str, tuple[str, ...]]) -> None:
    """A column for each file, under its benchmark and model; these rows among its rows, in this order."""
    table = [
        [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
        for line in printed.splitlines()
        if line.startswith(("│", "┃"))
    ]
    assert table[:2] == [["", *["mmlu"] * len(models)], ["Metric", *models]]
    assert [(name, tuple(cells)) for name, *cells in table[2:] if name in rows] == list(rows.items())


LOOPS = [
    pytest.param(block, id=document.stem)
    for document in DOCUMENTS
    if document.exists()
    for block in blocks(document)
    if re.search("^for ", block, re.M)
]


@pytest.mark.parametrize("block", LOOPS)
def test_models_that_were_run_in_a_loop_are_compared(block: str, shell: Shell) -> None:
    loop, comparing = lines(block)
    wanted = runs(loop)
    before = shell.asked()
    check_runs(shell, wanted, before, shell.run(loop))
    printed = shell.run(comparing).stdout
    scored = [one for run in wanted for one in run.scored]
    rows = {
        "Accuracy": tuple(f"{one.accuracy:.4f}" for one in scored),
        "Samples": tuple(str(len(one.correct)) for one in scored),
    }
    check_comparison(printed, [run.model for run in wanted], rows)
    assert "SIMULATED" in printed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.stem)
def test_the_keys_that_a_document_shows_are_written(document: Path, shell: Shell) -> None:
    if not document.exists():
        pytest.skip(ABSENT)
    shown = [re.findall(r'^ *"(\w+)":', block, re.M) for block in blocks(document, "json")]
    shell.run("llm-bench --model mymodel run mmlu --max-samples 9")
    ((_, result),) = shell.results("results")
    sample = result["sample_results"][0]
    places = (
        {**result, **result["config"]},
        result["aggregated_metrics"],
        {**sample, **sample["details"], **sample["metrics"]},
    )
    for keys, place in zip(shown, places, strict=True):
        assert keys
        assert [key for key in keys if key not in place] == []


def test_the_extras_that_the_document_installs_are_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = {re.split(r"[>=<\[]", requirement)[0] for requirement in extras["dev"]}
    assert {"pytest", "pytest-asyncio", "ruff"} <= names


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.stem)
def test_no_command_of_a_document_is_passed_over(document: Path) -> None:
    """Whatever begins a line of a shell block is run, or is listed with a reason."""
    if not document.exists():
        pytest.skip(ABSENT)
    shown = [
        line
        for block in blocks(document)
        for line in block.splitlines()
        if line.strip() and not line.startswith((" ", "#", "done"))
    ]
    found = [line for block in blocks(document) for line in lines(block)]
    assert len(found) == len(shown) > 0
    tested = {
        plain(each.values[0])
        for sign in (" run ", " check", " list", "llm-bench compare")
        for each in examples(sign)
    }
    assert [line for line in map(plain, found) if line not in tested and line not in NOT_RUN] == []
