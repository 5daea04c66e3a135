"""Nothing of the working directory is imported but what the user names: not by a command, not by its processes.

The folder has a module for every name of the standard library that is here, of what is installed, and of our own. Each
leaves its name in a file when it is imported, and has nothing in it that anybody could use.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.benchmark_kit import result_files
from tests.app.eval_kit import Project
from tests.app.test_custom_benchmarks import EXAMPLE
from tests.catalog.made_up_rows import COUNT, WRITERS
from tests.catalog.played import scripts
from tests.simulated import simulated_endpoint
from tests.web.web_kit import viewing

CONSOLE_SCRIPT = Path(sys.executable).with_name("benchwright")
OURS = ("benchwright", "osmosis_ai", "llm_benchmarker")
NAMES = sorted(
    name
    for name in {*sys.stdlib_module_names, *packages_distributions(), *OURS}
    if name.isidentifier() and (name in sys.builtin_module_names or PathFinder.find_spec(name) is not None)
)

BENCHMARKS = ("ifeval", "humaneval")
"""The first is graded by processes of ours, the second in the sandbox."""

BEFORE_US = {
    *("benchwright", "importlib", "warnings", "contextlib", "collections", "keyword", "operator", "reprlib"),
    *("functools", "types"),
}
"""What `python -m benchwright` imports from the working directory before any line of ours runs."""


class Poisoned(Program):
    """The program as its console script, in a folder full of modules that nobody may import."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.command: list[str] = [str(CONSOLE_SCRIPT)]
        self._log = directory.parent / f"{directory.name}.imported"
        for name in NAMES:
            self.write(f"{name}.py", f"open({str(self._log)!r}, 'a').write({name!r} + '\\n')\n")

    def imported(self) -> set[str]:
        """The names of those that were imported all the same, since this was last asked."""
        if not self._log.exists():
            return set()
        names = set(self._log.read_text().split())
        self._log.unlink()
        return names

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.directory,
            env={**self.environment, **environment},
            text=True,
        )
        self._started.append(process)
        return process

    def done(self, *arguments: str, code: int = 0) -> str:
        """What a command prints that must end with this code."""
        ended = self.run(*arguments)
        assert ended.returncode == code, (arguments, ended.stderr)
        assert "Traceback" not in ended.stderr
        return ended.stdout


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Poisoned]:
    program = Poisoned(tmp_path_factory.mktemp("poisoned"))
    for name in BENCHMARKS:
        WRITERS[name](program.directory / "data" / name)
    yield program
    program.end()


@pytest.fixture(autouse=True)
def nothing_is_imported(poisoned: Poisoned) -> Iterator[None]:
    yield
    assert poisoned.imported() == set()


@pytest.fixture(scope="module")
def evaluated(poisoned: Poisoned, echo: str) -> list[str]:
    """The runs of an agent and of eval functions in the folder: in one process, and in two of ours."""
    project = Project(poisoned)
    for workers in ("1", "2"):
        poisoned.done(*project.command(echo, "--workers", workers, "--fresh"))
    return [run.name for run in poisoned.runs if "-data-agent-" in run.name]


def test_an_agent_of_the_folder_has_its_score_with_any_number_of_workers(
    poisoned: Poisoned, evaluated: list[str]
) -> None:
    told = [json.loads(poisoned.done("show", run, "--json")) for run in evaluated]
    assert [one["targets"][0]["scores"][0]["mean"] for one in told] == [2 / 3, 2 / 3]


@pytest.mark.parametrize("name", BENCHMARKS)
async def test_a_benchmark_that_is_graded_in_processes_has_its_accuracy(
    poisoned: Poisoned, name: str
) -> None:
    path = poisoned.directory / "data" / name
    with simulated_endpoint("--policy=refusal", scripts=await scripts(name, path)) as url:
        poisoned.done("--base-url", url, "--model", "m", "--output-dir", name, "run", name)
    (result,) = result_files(poisoned, name)
    assert (result["accuracy"], result["num_samples"]) == (1.0, COUNT)


def test_a_plugin_of_the_folder_is_listed(poisoned: Poisoned) -> None:
    assert "my_benchmark" in poisoned.done("list", "--plugin", poisoned.write("mine.py", EXAMPLE))


def test_a_pack_in_python_has_its_scores(poisoned: Poisoned, echo: str) -> None:
    poisoned.done("pack", "init", "my-pack", "--language", "python")
    told = json.loads(poisoned.done("pack", "validate", "my-pack", "--json"))
    assert (told["valid"], told["scenarios"]) == (True, 4)
    told = json.loads(poisoned.done("pack", "run", "./my-pack", "--model", "m", "--base-url", echo, "--json"))
    (pack,) = told["packs"]
    assert (pack["scenarioCount"], pack.get("error"), pack["shortfalls"]) == (4, None, [])


@pytest.mark.parametrize(
    "command",
    [
        ["runs"],
        ["report", "RUN", "-o", "report.html"],
        ["export", "RUN", "-o", "rows.csv"],
        ["compare", "RUN", "AGAIN"],
        ["eval", "cache", "ls"],
        ["schema"],
        ["check", "--model", "m", "--base-url", "ENDPOINT"],
        ["test", "-m", "agent:agent_loop", "-d", "data.jsonl", "--model", "m", "--base-url", "ENDPOINT"],
        ["validate", "ifeval"],
        ["load", "-d", "data.jsonl", "--model", "m", "--base-url", "ENDPOINT", "--requests", "4", "-q"],
        ["doctor"],
    ],
    ids=lambda command: command[0],
)
def test_it_does_what_it_always_does(
    poisoned: Poisoned, evaluated: list[str], echo: str, command: list[str]
) -> None:
    words = {"RUN": evaluated[0], "AGAIN": evaluated[1], "ENDPOINT": echo}
    poisoned.done(*(words.get(word, word) for word in command))


def test_the_viewer_starts_what_is_started_from_its_page(
    poisoned: Poisoned, evaluated: list[str], echo: str
) -> None:
    with viewing(poisoned) as viewer:
        assert evaluated[0] in viewer.get("/").text
        form = {"what": "check", "check": "1", "model": "m", "base_url": echo}
        assert viewer.post("/start", urlencode(form)).status == 303
        while "done" not in (page := viewer.get("/start").text):
            assert "failed" not in page


def test_the_name_of_another_module_is_refused_in_one_line(poisoned: Poisoned, echo: str) -> None:
    Project(poisoned)
    for name, whose in (("queue", "Python's own"), ("numpy", "an installed one")):
        ended = poisoned.run(
            *("eval", "-m", f"{name}:loop", "-d", "data.jsonl", "--eval-fn", "rewards:right"),
            *("--model", "m", "--base-url", echo),
        )
        line = one_line_of(ended.stderr)
        assert f"Cannot import module '{name}'" in line
        assert f"its name is that of {whose}" in line


def test_as_a_module_of_python_only_what_python_itself_looks_for_first_is_in_danger(
    tmp_path: Path, echo: str
) -> None:
    (tmp_path / "folder").mkdir()
    program = Poisoned(tmp_path / "folder")
    program.command = [sys.executable, "-m", "benchwright"]
    for name in BEFORE_US:
        (program.directory / f"{name}.py").unlink()
    project = Project(program)
    program.done(*project.command(echo, "--workers", "2"))
    assert program.imported() == set()
