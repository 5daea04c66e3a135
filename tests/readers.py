"""Has the programs whose formats `benchwright export` writes read the demo's runs, a pack's, a level of load's, one of
which every trial failed, imported trajectories, and one of a real agent in each dialect, where npm is installed, and
checks that they see the same trials with the same scores as we do. Then it runs a task
of Inspect for two models by `benchwright run inspect:`, and compares these. At last Harbor and we read the same made-up
files task.toml.

Called by `make test-all`. The programs lie in an environment of their own (`.venv-readers`, made on first use), on
Python 3.12, which one of them needs; where that is not installed it says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.app.compare_kit import made, write_run  # noqa: E402 -- found beside this file however it is started
from tests.app.test_real_agents import AGENTS, INSTALLED, SOLVE, TASK  # noqa: E402
from tests.catalog.terminal_bench.terminal_kit import write_files  # noqa: E402
from tests.environments import installed  # noqa: E402
from tests.interop.trajectories_kit import mini, swe_agent  # noqa: E402
from tests.made_up_tasks import made_up_tasks  # noqa: E402
from tests.other_versions import find  # noqa: E402
from tests.simulated import simulated_endpoint  # noqa: E402

from benchwright.analysis.export.counted_trials import counted_trials  # noqa: E402
from benchwright.app.export import export_folder  # noqa: E402
from benchwright.catalog.harbor.settings import Step, TaskSettings, settings_or_problem  # noqa: E402
from benchwright.catalog.harbor.settings_reader import read_settings  # noqa: E402
from benchwright.catalog.harbor.task_file import read_toml  # noqa: E402
from benchwright.errors import UserError  # noqa: E402
from benchwright.runs.table import read_table  # noqa: E402

PYTHON = "3.12"
WITHOUT_SCORES = ("scout",)
"""Readers that list trials and no scores."""

REFUSALS = ("is not a run of a benchmark that the Hugging Face Hub ranks", "has no score")
"""Why a format may not hold a run."""


def main() -> int:
    interpreter = find(PYTHON)
    if interpreter is None:
        print(f"Python {PYTHON}: not installed here; no other program reads what is exported")
        return 0
    try:
        python = installed("readers", python=interpreter) / "python"
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        print(f"No other program reads what is exported: they cannot be installed: {said}")
        return int(bool(os.environ.get("CI")))
    with tempfile.TemporaryDirectory(prefix="benchwright-readers-") as folder:
        runs = [*make_runs(Path(folder)), *runs_of_agents(Path(folder, "agents"))]
        exported = Path(folder, "exported")
        written = {form: export(runs, form, exported / form) for form in ("inspect", "eee", "atif", "hf")}
        read = read_by(python, exported)
        problems = list(disagreements(runs, written, read))
        problems += run_inspect(Path(folder), python)
        problems += read_tasks(Path(folder), python)
    for problem in problems:
        print(problem)
    for program in dict.fromkeys(line["program"] for line in read):
        print(f"{program}: {sum(line['program'] == program for line in read):,} entries read")
    return int(bool(problems))


def make_runs(folder: Path) -> list[Path]:
    """The directories of the runs."""
    examples, home = folder / "project" / "examples", folder / "project" / "demo"
    shutil.copytree(ROOT / "examples", examples, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, str(examples / "demo.py")], check=True, capture_output=True)
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(home), "OPENAI_API_KEY": "none"}
    with simulated_endpoint() as url:
        model = ("--model", "org/simulated", "--base-url", url)
        for command in (
            ("pack", "init", str(folder / "pack"), "--language", "python"),
            ("pack", "run", str(folder / "pack"), *model),
            ("load", *model, "--synthetic-input", "20", "--concurrency", "2", "--requests", "10"),
        ):
            # A pack's failures are not errors of ours, and the simulated model fails its scenarios.
            subprocess.run(
                [sys.executable, "-m", "benchwright", *command],
                cwd=folder,
                env=environment,
                check=command[:2] != ("pack", "run"),
                capture_output=True,
            )
    dead = ("--model", "org/dead", "--base-url", "http://127.0.0.1:9/v1", "--no-probe", "--retries", "0")
    subprocess.run(
        [sys.executable, "-m", "benchwright", "eval", "-d", "questions.jsonl", "--scorer", "mcq", *dead],
        cwd=examples,
        env=environment,
        check=False,
        capture_output=True,
    )
    about: dict[str, Any] = {"benchmark": "mmlu_pro", "variant": None, "metric": "exact", "departures": []}
    write_run(home / "runs" / "a-benchmark", made([1.0, 0.0, 1.0]), kind="benchmark", about=about)
    theirs = [write(folder / write.__name__, "a__b-1", "diff") for write in (mini, swe_agent)]
    subprocess.run(
        [sys.executable, "-m", "benchwright", "import", *map(str, theirs)], env=environment, check=True
    )
    runs = sorted(path.parent for path in (home / "runs").glob("*/run.json"))
    assert len(runs) == 14, runs
    return runs


def runs_of_agents(folder: Path) -> list[Path]:
    """The directories of runs of real agents, a run for each dialect, whose model thinks before it answers."""
    if shutil.which("npm") is None:
        print("npm is not installed: no trajectory of a real agent is read")
        return []
    for place in (folder, INSTALLED):
        place.mkdir(exist_ok=True)
    (folder / "agents").symlink_to(INSTALLED)
    (folder / "rows.jsonl").write_text(json.dumps({"question": TASK, "answer": "The file is written."}))
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(folder), "OPENAI_API_KEY": "none"}

    def benchwright(*command: str) -> None:
        program = [sys.executable, "-m", "benchwright", *command]
        subprocess.run(program, cwd=folder, env=environment, check=True, capture_output=True)

    for agent in [one for one in AGENTS if one.name in ("claude-code", "codex", "opencode")]:
        benchwright("agents", "install", agent.name)
        script = agent.script(TASK, SOLVE, "made.txt")
        with simulated_endpoint(
            "--policy=refusal", "--reasoning", "First the file.", scripts=[script]
        ) as url:
            data = ("-d", "rows.jsonl", "--scorer", "exact", "--model", "org/sim", "--base-url", url)
            benchwright("eval", "--agent", agent.name, *data)
    runs = sorted(path.parent for path in (folder / "runs").glob("*/run.json"))
    assert len(runs) == 3, runs
    return runs


TASKS = 3000


def read_tasks(folder: Path, python: Path) -> list[str]:
    """What Harbor makes of files task.toml otherwise than we do."""
    place = folder / "tasks"
    for number, text in enumerate(made_up_tasks(TASKS, seed=1)):
        write_files(place / f"{number:05}", {"tests/test.sh": "", "task.toml": text})
        (place / f"{number:05}.toml").write_text(text, encoding="utf-8")
    command = [str(python), str(ROOT / "tests" / "reading_tasks.py"), str(place)]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    theirs = [json.loads(line) for line in lines]
    ours = [asked_of(path) for path in sorted(place.glob("*.toml"))]
    assert len(theirs) == len(ours) == TASKS
    print(f"Harbor's task.toml: {TASKS:,} read, {sum(one is not None for one in ours):,} of them accepted")
    pairs = zip(made_up_tasks(TASKS, seed=1), ours, theirs, strict=True)
    return [f"task.toml: {us} here, {them} in Harbor:\n{text}" for text, us, them in pairs if us != them][:5]


def asked_of(path: Path) -> dict[str, Any] | None:
    """What a file asks for as we read it; None where we refuse it. See tests/reading_tasks.py."""
    found = settings_or_problem(read_settings, read_toml(path), path.with_suffix(""))
    if found.problem is not None:
        return None
    return {
        "image": found.image,
        "cpus": found.cpus,
        "memory": found.memory_mb,
        "variables": found.environment,
        "directory": found.directory,
        "steps": [_step_asked(found, step) for step in found.steps],
    }


def _step_asked(task: TaskSettings, step: Step) -> dict[str, Any]:
    own = step.verifier
    tests_are_in = task if own is None else own
    return {
        "name": step.name,
        "agent_seconds": step.agent_seconds,
        "test_seconds": step.test_seconds,
        "agent_user": step.agent_user,
        "test_user": step.test_user,
        "agent_network": task.network if step.agent_network is None else step.agent_network,
        "test_network": tests_are_in.network if step.test_network is None else step.test_network,
        "verifier": own and {"cpus": own.cpus, "memory": own.memory_mb},
        "variables": step.test_environment,
    }


def export(runs: list[Path], form: str, folder: Path) -> list[Path]:
    """Exports all runs that the format can hold; returns these runs."""
    written = []
    for run in runs:
        try:
            list(export_folder(str(run), form, folder / run.name, "nobody"))
        except UserError as error:
            reason = next(one for one in REFUSALS if one in str(error))
            print(f"{form}: {run.name} {reason}")
        else:
            written.append(run)
    return written


def read_by(python: Path, exported: Path) -> list[dict[str, Any]]:
    """What the programs read."""
    command = [str(python), str(ROOT / "tests" / "reading_programs.py"), str(exported)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]


def disagreements(
    runs: list[Path], written: dict[str, list[Path]], read: list[dict[str, Any]]
) -> Iterator[str]:
    """What a program read otherwise than we do."""
    assert len(written["inspect"]) == len(runs)
    for program, form in (
        ("inspect_logs", "inspect"),
        ("scout", "inspect"),
        ("every_eval_ever", "eee"),
        ("harbor", "atif"),
    ):
        ours = trials_of(written[form])
        theirs: dict[str, dict[str, Any]] = {}
        for line in read:
            if line["program"] == program:
                known = theirs.setdefault(line["trial"], line)
                known.setdefault("scores", {}).update(line.get("scores", {}))
        for trial in ours.keys() | theirs.keys():
            if trial not in theirs or trial not in ours:
                yield f"{program}: trial {trial} of {ours.get(trial) or theirs.get(trial)} is on one side only"
            elif program not in WITHOUT_SCORES and theirs[trial]["scores"] != ours[trial]:
                yield f"{program}: trial {trial} has {theirs[trial]['scores']}, not {ours[trial]}"
    (entry,) = (line for line in read if line["program"] == "hub")
    if (entry["dataset"], entry["task"], entry["value"]) != ("TIGER-Lab/MMLU-Pro", "mmlu_pro", 66.6667):
        yield f"hub: {entry}"


def run_inspect(folder: Path, python: Path) -> Iterator[str]:
    """What is wrong with a task of Inspect that is run for two models."""
    environment = {
        **os.environ,
        "BENCHWRIGHT_HOME": str(folder / "tasks"),
        "PATH": f"{python.parent}:{os.environ['PATH']}",
    }
    program = [sys.executable, "-m", "benchwright"]
    task = f"inspect:{ROOT / 'tests' / 'inspect_task.py'}@popularity"
    runs = []
    for model in ("org/one", "org/two"):
        with simulated_endpoint("--ttft", "20ms") as url:
            command = [
                "run",
                task,
                "--model",
                model,
                "--base-url",
                url,
                "--limit",
                "20",
                "--n",
                "2",
                "--json",
            ]
            ended = subprocess.run(
                [*program, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
        if ended.returncode:
            yield f"{task} ended with {ended.returncode}: {ended.stderr}"
            return
        (run,) = json.loads(ended.stdout)["runs"]
        runs.append(run["run"])
        requests = run["targets"][0]["requests"]
        if (run["done"], requests["total_requests"], run["simulated"]) != (40, 40, True):
            yield f"{task}: {run}"
    compared = subprocess.run(
        [*program, "compare", *runs, "--json"], env=environment, capture_output=True, text=True, check=False
    )
    (pair,) = json.loads(compared.stdout)["pairs"]
    print(f"{task.rpartition('/')[2]}: two models compared on {pair['scores'][0]['n']} samples")
    if pair["scores"][0]["n"] != 20:
        yield f"compare: {pair}"


def trials_of(runs: list[Path]) -> dict[str, dict[str, float]]:
    """The scores of all trials of some runs, by the keys of the trials."""
    found = {}
    for run in runs:
        for counted in counted_trials(read_table(run, effort=True)):
            trial = counted.trial
            scores = {**trial.record.scores, **{name: score.value for name, score in trial.scores.items()}}
            found[counted.unique_id] = {name: value for name, value in scores.items() if value is not None}
    return found


if __name__ == "__main__":
    sys.exit(main())
