"""Every shell line of the Osmosis documents runs as written, and comes to the numbers that its answers are worth.

A shell runs the lines, with the program that is installed as `osmosis`; addresses of models are replaced by those of
simulated ones, nothing else. What must come out is worked out beside the program, in `osmosis_project.py`. The
documents are read where BENCHWRIGHT_SPEC_DIR says; `osmosis_shell.md` holds the same commands in our own words.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.docs.anthropic_server import AnthropicServer, anthropic_server
from tests.docs.osmosis_project import (
    ANTHROPIC,
    ENDPOINT,
    KEYS,
    OPENAI,
    OSMOSIS,
    ROWS,
    SECOND_ENDPOINT,
    Evaluation,
    answer,
    answer_key,
    clean,
    holding,
    prompt,
    write_project,
)
from tests.simulated import simulated_endpoint

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SPEC = Path(os.environ.get("BENCHWRIGHT_SPEC_DIR", ROOT.parent / "shared" / "spec"))
DOCUMENTS = [
    SPEC / f"osmosis-{name}.md" for name in ("bench-mode", "eval-mode", "eval-mode-cache-and-resume")
]
OURS = HERE / "osmosis_shell.md"

NOT_RUN = {
    "pip install osmosis-ai[mcp]": "it would install packages; that the extra is there is tested below"
}


def blocks(document: Path) -> list[str]:
    return re.findall(r"^```bash\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)


def lines(document: Path) -> list[str]:
    """The commands of a document's blocks as they stand there, lines that go on joined as a shell does."""
    joined = "".join(blocks(document)).replace("\\\n", "").splitlines()
    return [line for line in joined if line.strip() and not line.startswith("#")]


def examples(only: str = "", without: str = "\0") -> list[Any]:
    """The different lines of all documents that are there which hold the one text and not the other."""
    found: dict[str, Any] = {}
    for document in (each for each in (OURS, *DOCUMENTS) if each.exists()):
        for number, line in enumerate(lines(document), 1):
            words = " ".join(line.split())
            if words not in NOT_RUN and only in words and without not in words:
                found.setdefault(words, pytest.param(line, id=f"{document.stem}-{number}"))
    return list(found.values())


class Shell:
    """A shell in the directory of the project, whose user has all the keys."""

    def __init__(self, directory: Path, addresses: dict[str, str], anthropic: AnthropicServer) -> None:
        self.directory = directory
        self.cache = directory / "cache" / "eval"
        self._addresses = addresses
        self._anthropic = anthropic
        self._environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(directory / "home"),
            "BENCHWRIGHT_HOME": str(directory / "home"),
            "OSMOSIS_CACHE_DIR": str(directory / "cache"),
            "OSMOSIS_API_KEY": KEYS[OSMOSIS],
            "OPENAI_API_KEY": KEYS[OPENAI],
            "OPENAI_BASE_URL": addresses[OPENAI],
            "ANTHROPIC_API_KEY": KEYS[ANTHROPIC],
            "ANTHROPIC_API_BASE": anthropic.base_url,
        }

    def start(self, line: str) -> subprocess.Popen[str]:
        for documented, actual in self._addresses.items():
            line = line.replace(documented, actual)
        return subprocess.Popen(
            ["bash", "-c", line],
            cwd=self.directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Runs a line that must end well."""
        process = self.start(line)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return subprocess.CompletedProcess(line, process.returncode, out, err)

    def requests(self) -> Counter[str]:
        """How many questions each model has answered, by its own count."""
        counts = Counter({ANTHROPIC: self._anthropic.requests})
        for documented, actual in self._addresses.items():
            with urlopen(f"{actual.removesuffix('/v1')}/metrics") as page:
                text = page.read().decode()
            (answered,) = re.findall(r"^benchwright_simulated_answered_total (\d+)", text, re.M)
            counts[documented] = int(answered)
        return counts

    def cached(self) -> dict[str, Any]:
        """What the only cache file says."""
        (path,) = self.cache.glob("*/*/*.json")
        content: dict[str, Any] = json.loads(path.read_text())
        return content


@pytest.fixture(scope="module")
def models() -> Iterator[tuple[dict[str, str], AnthropicServer]]:
    with ExitStack() as stack:
        addresses = {}
        for address in (ENDPOINT, SECOND_ENDPOINT, OSMOSIS, OPENAI):
            key = ["--api-key", KEYS[address]] if address in KEYS else []
            endpoint = simulated_endpoint(*key, answers=answer_key(address))
            addresses[address] = stack.enter_context(endpoint)
        row_of = {prompt(row): row for row in range(ROWS)}
        said = {text: answer(ANTHROPIC, row) for text, row in row_of.items()}
        yield addresses, stack.enter_context(anthropic_server(KEYS[ANTHROPIC], said.__getitem__))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("osmosis")
    write_project(directory)
    return directory


@pytest.fixture
def shell(project: Path, models: tuple[dict[str, str], AnthropicServer]) -> Shell:
    clean(project)
    return Shell(project, *models)


@pytest.mark.parametrize("line", examples(without="eval cache"))
def test_a_line_comes_to_what_its_answers_are_worth(line: str, shell: Shell) -> None:
    wanted = Evaluation(line)
    need(wanted)
    before = shell.requests()
    done = shell.run(line)

    assert shell.requests() - before == wanted.requests
    check_printed(done, wanted)
    check_cache_file(shell.cached(), wanted)
    if output := wanted.option("-o") or wanted.option("--output"):
        check_output(json.loads((shell.directory / output).read_text()), wanted)
    for key in KEYS.values():
        assert not holding(shell.directory, key), "no file holds a key"
        assert key not in done.stdout + done.stderr


def need(wanted: Evaluation) -> None:
    """Skips what an extra is missing for."""
    if "--mcp" in wanted.given and find_spec("fastmcp") is None:
        pytest.skip("the extra `mcp` is not installed")
    if wanted.requests[ANTHROPIC] and find_spec("litellm") is None:
        pytest.skip("the extra `litellm` is not installed")


def check_printed(done: subprocess.CompletedProcess[str], wanted: Evaluation) -> None:
    """What is run, a line for each run, each model's figures with the primary's first, and where they are."""
    total = len(wanted.rows) * wanted.repeats * len(wanted.tried)
    primary, *others = wanted.tried
    assert re.search(r"^osmosis-(eval|bench) v\d", done.stdout, re.M)
    assert f"\nModel: {primary.model}\n" in done.stdout
    assert all(f"\nBaseline model: {one.model}\n" in done.stdout for one in others)
    ran = rf"^\[(\d+)/{total}\] (?:\[(\w+)\] )?OK \([\d.]+m?s, [\d,]+ tokens\) \[(.*)\]$"
    told = list(re.finditer(ran, done.stdout, re.M))
    assert [int(match[1]) for match in told] == list(range(1, total + 1))
    assert Counter((match[2], match[3]) for match in told) == Counter(
        (tag, ", ".join(f"{fn}={score:.3f}" for fn, score in scores.items()))
        for _, _, tag, scores in wanted.runs
    )
    assert re.search(r"^Cache: ", done.stdout, re.M)
    assert not re.search(r"^(Error|WARNING|Traceback|Resuming)", done.stdout + done.stderr, re.M)
    for fn in wanted.eval_fns:
        figure = r"(\d\.\d{3})"
        line = rf"^  {fn}: mean={figure} std={figure} min={figure} max={figure}$"
        shown = re.findall(rf"{line}\n((?:    pass@\d+: [\d.]+%\n)*)", done.stdout, re.M)
        expected = [wanted.summary(one)[fn] for one in wanted.tried]
        names = ("mean", "std", "min", "max")
        assert shown == [
            (
                *(f"{figures[name]:.3f}" for name in names),
                "".join(
                    f"    pass@{name.removeprefix('pass_at_')}: {100 * value:.1f}%\n"
                    for name, value in figures.items()
                    if name.startswith("pass_at_")
                ),
            )
            for figures in expected
        ]
        if len(expected) > 1:
            difference = expected[0]["mean"] - expected[1]["mean"]
            assert re.search(
                rf"^primary - baseline +{fn} +{re.escape(f'{difference:+.3f}')} ", done.stdout, re.M
            )


def check_cache_file(cached: dict[str, Any], wanted: Evaluation) -> None:
    primary, *_ = wanted.tried
    assert cached["status"] == "completed"
    assert cached["config"]["model"] == primary.model
    assert cached["config"]["n_runs"] == wanted.repeats
    runs = [(run["row_index"], run["run_index"], run["model_tag"], run["scores"]) for run in cached["runs"]]
    assert runs == list(wanted.runs)
    assert all(run["success"] and run["error"] is None and run["tokens"] > 0 for run in cached["runs"])
    assert cached["summary"]["total_runs"] == len(runs)
    assert cached["summary"]["eval_fns"] == approximately(wanted.summary(primary))


def check_output(written: dict[str, Any], wanted: Evaluation) -> None:
    primary, *others = wanted.tried
    assert written["config"]["model"] == primary.model
    assert written["config"].get("baseline_model") == (others[0].model if others else None)
    assert written["summary"]["total_rows"] == len(wanted.rows)
    assert written["summary"]["eval_fns"] == approximately(wanted.summary(primary))
    assert [row["row_index"] for row in written["rows"]] == list(wanted.rows)
    both = {one["model_tag"]: one["eval_fns"] for one in written.get("model_summaries", [])}
    assert both == ({one.tag: approximately(wanted.summary(one)) for one in wanted.tried} if others else {})


def approximately(summary: dict[str, dict[str, float]]) -> dict[str, Any]:
    return {fn: pytest.approx(figures, abs=1e-12) for fn, figures in summary.items()}


RESUMED = examples("--eval-fn rewards:score --model my-model", without="my-model -")


@pytest.mark.parametrize("line", RESUMED)
def test_after_ctrl_c_the_same_line_goes_on(line: str, shell: Shell) -> None:
    before = shell.requests()
    (shell.directory / "slow").touch()
    process = shell.start(line)
    while (shell.requests() - before)[OPENAI] < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    (shell.directory / "slow").unlink()
    kept = len(shell.cached()["runs"])
    assert process.returncode == 130
    assert f"Evaluation interrupted. Progress: {kept}/{ROWS} runs.\n" in err
    assert "Re-run the same command to resume from where you left off.\n" in err
    assert shell.cached()["status"] == "in_progress"
    assert 5 <= kept < ROWS

    done = shell.run(line)
    assert (
        f"""\
Resuming eval ({kept}/{ROWS} runs completed)
Note: Module fingerprint covers file server.py. External dependency changes
      are not detected. Use --fresh if you changed external imports.
"""
        in done.stdout
    )
    check_cache_file(shell.cached(), Evaluation(line))
    assert shell.requests() - before == {OPENAI: ROWS}, "none was asked twice"


@pytest.mark.parametrize("line", examples("--fresh"))
def test_fresh_asks_all_again_and_keeps_a_backup(line: str, shell: Shell) -> None:
    shell.run(line)
    first = shell.cached()
    before = shell.requests()
    shell.run(line)
    assert shell.requests() - before == {OPENAI: ROWS}
    (backup,) = shell.cache.glob("my-model/data/*.json.backup.*")
    assert json.loads(backup.read_text()) == first
    check_cache_file(shell.cached(), Evaluation(line))


@pytest.mark.parametrize("line", examples("--retry-failed"))
def test_retry_failed_asks_only_what_failed(line: str, shell: Shell) -> None:
    (shell.directory / "broken").touch()
    shell.run(line.replace("--retry-failed", ""))
    failed = {run["row_index"]: run["error"] for run in shell.cached()["runs"] if not run["success"]}
    assert failed == dict.fromkeys(range(0, ROWS, 10), "ValueError: this agent is broken")
    (shell.directory / "broken").unlink()
    before = shell.requests()
    shell.run(line)
    assert shell.requests() - before == {OPENAI: len(failed)}
    check_cache_file(shell.cached(), Evaluation(line))


@pytest.mark.parametrize("line", examples("--log-samples"))
def test_conversations_are_logged_beside_the_cache_file(line: str, shell: Shell) -> None:
    shell.run(line)
    (path,) = shell.cache.glob("my-model/data/*.jsonl")
    assert path.with_suffix(".json").exists()
    samples = [json.loads(sample) for sample in path.read_text().splitlines()]
    assert sorted((sample["row_index"], sample["run_index"]) for sample in samples) == [
        (row, 0) for row in range(ROWS)
    ]
    for sample in samples:
        row = sample["row_index"]
        assert [message["content"] for message in sample["messages"]] == [
            "Be brief.",
            prompt(row),
            answer(OPENAI, row),
        ]


@pytest.mark.parametrize("line", examples("--output-path ./results"))
def test_results_are_written_to_the_documented_places(line: str, shell: Shell) -> None:
    done = shell.run(line)
    (results,) = shell.directory.glob("results/my-model/data/results_*.json")
    assert f"Written: {results.relative_to(shell.directory)}\n" in done.stderr
    assert json.loads(results.read_text()) == shell.cached()
    assert re.fullmatch(rf"results_\d+_{shell.cached()['task_id']}\.json", results.name)
    samples = list(shell.directory.glob("results/my-model/data/samples_*.jsonl"))
    assert [path.stem for path in samples] == (
        [results.stem.replace("results", "samples")] if "--log-samples" in line else []
    )


@pytest.mark.parametrize("line", examples("eval cache dir"))
def test_the_cache_has_its_documented_place(line: str, shell: Shell) -> None:
    done = shell.run(line)
    assert (done.stdout, done.stderr) == (f"{shell.cache}\n", "")


def test_the_extra_that_the_documents_install_is_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(requirement.startswith("fastmcp") for requirement in extras["mcp"])


@pytest.mark.parametrize("document", [OURS, *DOCUMENTS], ids=lambda document: document.stem)
def test_no_command_of_a_document_is_passed_over(document: Path) -> None:
    """Whatever in a document begins like a command is one that is run, or is listed with a reason."""
    if not document.exists():
        pytest.skip(f"{document.name} is not there; BENCHWRIGHT_SPEC_DIR says where the documents are")
    fenced = re.findall(r"^(```\w*|(?:osmosis|pip) .*)$", document.read_text(encoding="utf-8"), re.M)
    shown, language = 0, ""
    for match in fenced:
        if match.startswith("```"):
            language = match.removeprefix("```")
        elif language == "bash":
            shown += 1
    found = [line for line in lines(document) if line.startswith(("osmosis ", "pip "))]
    assert len(found) == len(lines(document)) == shown > 0
