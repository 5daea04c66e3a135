"""Commands of docs/benchmarks.md and docs/grading.md, and README.md's `llm-bench` commands, run as written.

The model is a simulated one that answers certain samples wrongly, so that what must come out is known beforehand.
Addresses are replaced by those of the servers of the test, nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import samples
from tests.catalog.made_up_rows import COUNT, write_all
from tests.catalog.played import scripts
from tests.catalog.punkt_model import lay_fetched
from tests.data.loopback_hub import LoopbackHub, serving
from tests.docs.llm_bench_project import COMPARISON, write_results
from tests.simulated import simulated_endpoint

from benchwright.catalog.registry import (
    ADDED_BENCHMARKS,
    BENCHMARKS,
    DOCUMENTED_BENCHMARKS,
    find_about,
    list_abouts,
)
from benchwright.data.dataset_spec import HubRepository

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")

CAPITALS: dict[str, str] = runpy.run_path(str(ROOT / "examples" / "capitals.py"))["CAPITALS"]

MODEL, OTHER = "http://localhost:8000/v1", "http://localhost:9000/v1"

WRONG = {
    "mmlu": (1,),
    "mmlu:5shot": (0, 1),
    "mmlu_pro": (0, 2),
    "humaneval": (3,),
    "hle": (2,),
    "capitals": (1,),
}
"""The numbers of the samples that are answered wrongly; of other benchmarks all are answered rightly."""

RUNS = {
    "llm-bench --model my-model run mmlu --max-samples 50": {"mmlu": COUNT},
    "llm-bench --model my-model run mmlu_pro humaneval ifeval --concurrency 32": (
        dict.fromkeys(("mmlu_pro", "humaneval", "ifeval"), COUNT)
    ),
    "benchwright run mmlu --model my-model --where category=stem --n 4 --temperature 0.7": {"mmlu": 2},
    "benchwright run mmlu mmlu_pro --model my-model --shuffle --seed 7 --limit 2 --output-dir few": (
        {"mmlu": 2, "mmlu_pro": 2}
    ),
    "benchwright run mmlu --model my-model --where 'id=mmlu_[01]' --where id=mmlu_3": {"mmlu": 3},
    "benchwright run mmlu --model my-model --metrics --no-stream": {"mmlu": COUNT},
    "benchwright run mmlu:5shot --model my-base-model": {"mmlu:5shot": COUNT},
    "benchwright run hle --model my-model --judge-model my-judge --judge-base-url http://localhost:9000/v1": {
        "hle": COUNT
    },
    "benchwright run longbench_v2 --model my-model --option max_input_tokens=120000": {"longbench_v2": COUNT},
    "benchwright run mrcr --model my-model --option max_context=128000": {"mrcr": COUNT},
    "benchwright run bfcl --model my-model --option categories=simple_python": {"bfcl": COUNT},
    "benchwright run tau_bench --model my-model --n 2 --option domain=retail --option user_model=my-user "
    "--option user_base_url=http://localhost:9000/v1": {"tau_bench": 2},
    "benchwright run tau2_bench --model my-model --n 2 --option domain=telecom --option user_model=my-user "
    "--option user_base_url=http://localhost:9000/v1": {"tau2_bench": 2},
    "llm-bench --model my-model run capitals --plugin examples/capitals.py": {"capitals": len(CAPITALS)},
    "llm-bench --model my-model --base-url http://localhost:8000/v1 run ifeval": {"ifeval": COUNT},
    "llm-bench --model my-model run mmlu humaneval --max-samples 50 --concurrency 16": (
        {"mmlu": COUNT, "humaneval": COUNT}
    ),
}
"""Every run of the documents and of NOT_SHOWN, and how many samples of each benchmark it has."""

WITHOUT_CONTAINERS = [name for name in BENCHMARKS if "containers" not in find_about(name).needs]

NOT_SHOWN = (
    "benchwright run mmlu --model my-model --where 'id=mmlu_[01]' --where id=mmlu_3",
    "benchwright run mmlu --model my-model --metrics --no-stream",
    "benchwright run mmlu:5shot --model my-base-model",
    "benchwright run longbench_v2 --model my-model --option max_input_tokens=120000",
    "benchwright run mrcr --model my-model --option max_context=128000",
    "benchwright run bfcl --model my-model --option categories=simple_python",
)
"""Runs with options that the documents describe without an example."""

REPEATS = {line: int(match[1]) for line in RUNS if (match := re.search(r"--n (\d+)", line))}

OTHERS = (
    "benchwright fetch ifeval",
    "llm-bench --model my-model check",
    "benchwright run mmlu --model my-model --dry-run",
    "llm-bench compare results/mmlu_my-model_*.json few/mmlu_my-model_*.json",
    "llm-bench compare results/mmlu_my-model_*.json results/mmlu_other-model_*.json",
    "llm-bench list",
    "llm-bench list --plugin examples/capitals.py",
    "benchwright validate mmlu ifeval bfcl tau_bench",
)
"""Every other command of the documents; each has a test of its own below."""


def commands(name: str) -> list[str]:
    blocks = re.findall(r"^```bash\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    return [" ".join(line.split()) for line in lines if line.strip()]


def test_every_command_is_run_below() -> None:
    found = [*commands("docs/benchmarks.md"), *commands("docs/grading.md")]
    found += [line for line in commands("README.md") if line.startswith("llm-bench") or " fetch " in line]
    assert set(found) == {*RUNS, *OTHERS} - {*NOT_SHOWN}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("benchmarks") / "data")


@pytest.fixture(scope="module")
def addresses(data: Path) -> Iterator[dict[str, str]]:
    """The model, and a second one that judges and plays the customer."""
    said = {
        name: asyncio.run(scripts(name, data / name.partition(":")[0], WRONG.get(name, ())))
        for name in (*WITHOUT_CONTAINERS, "mmlu:5shot")
    }
    played = [script for scripts_of in said.values() for script in scripts_of]
    key = [
        {
            "prompt": f"the capital of {country}?",
            "answer": "Atlantis" if number in WRONG["capitals"] else capital,
        }
        for number, (country, capital) in enumerate(CAPITALS.items())
    ]
    verdicts = [
        {"prompt": "Judge whether the following", "answer": "correct: yes"},
        {"prompt": "[question]: What is the hardest number after 2?", "answer": "correct: no"},
    ]
    customers = said["tau_bench"] + said["tau2_bench"]
    with (
        simulated_endpoint("--policy=refusal", "--model=my-model", "--model=my-base-model",
                           scripts=played, answers=key) as model,
        simulated_endpoint("--policy=refusal", scripts=customers, answers=verdicts) as other,
    ):  # fmt: skip
        yield {MODEL: model, OTHER: other}


class Place:
    """A directory with the data and the examples, in which commands are run."""

    def __init__(self, directory: Path, data: Path, addresses: dict[str, str]) -> None:
        self.directory = directory
        self.addresses = addresses
        (directory / "data").symlink_to(data)
        (directory / "examples").symlink_to(ROOT / "examples")
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(directory / "home"),
            "BENCHWRIGHT_HOME": str(directory / "home"),
            "BENCHWRIGHT_BASE_URL": addresses[MODEL],
        }

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Runs a line that must end well."""
        for documented, actual in self.addresses.items():
            line = line.replace(documented, actual)
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done

    def results(self) -> dict[str, dict[str, Any]]:
        """The result files by benchmark."""
        files = [
            json.loads(path.read_text())
            for directory in ("results", "few")
            for path in (self.directory / directory).glob("*.json")
        ]
        return {
            result["benchmark"] + (f":{result['variant']}" if result["variant"] else ""): result
            for result in files
        }


@pytest.fixture
def place(tmp_path: Path, data: Path, addresses: dict[str, str]) -> Place:
    return Place(tmp_path, data, addresses)


def right_answers(benchmark: str, data: Path) -> dict[str, bool]:
    """Whether the model is right, by the ids of the samples."""
    if benchmark == "capitals":
        ids = list(CAPITALS)
    else:
        ids = [sample.id for sample in samples(benchmark, data / benchmark.partition(":")[0])]
    return {identity: number not in WRONG.get(benchmark, ()) for number, identity in enumerate(ids)}


@pytest.mark.parametrize("line", RUNS, ids=lambda line: line.partition(" run ")[2][:40])
def test_a_run_comes_to_what_its_answers_are_worth(line: str, place: Place, data: Path) -> None:
    done = place.run(line)
    results = place.results()
    assert results.keys() == RUNS[line].keys()
    for benchmark, count in RUNS[line].items():
        result, right = results[benchmark], right_answers(benchmark, data)
        outcomes = [(sample["id"], sample["correct"]) for sample in result["sample_results"]]
        assert outcomes == [(identity, right[identity]) for identity, _ in outcomes]
        assert result["num_samples"] == count
        assert len(outcomes) == count * REPEATS.get(line, 1)
        assert result["accuracy"] == sum(correct for _, correct in outcomes) / len(outcomes)
        assert f": accuracy {result['accuracy']:.4f} " in done.stdout
        assert result["aggregated_metrics"]["total_requests"] >= len(outcomes)
        assert ("ttft_p50" in result["aggregated_metrics"]) == ("--no-stream" not in line)
        assert ("prometheus_delta" in result) == ("--metrics" in line)


@pytest.mark.parametrize("role", ["judge", "user"])
def test_requests_of_other_roles_are_counted_apart(role: str, place: Place) -> None:
    line = next(line for line in RUNS if f"{role}_model=" in line or f"--{role}-model " in line)
    place.run(line)
    (result,) = place.results().values()
    assert list(result["other_roles"]) == [role]
    assert result["other_roles"][role] >= len(result["sample_results"])
    assert not [text for text in result["protocol"]["departures"] if "plays the simulated user" in text]


def test_the_file_of_a_fetch_is_the_pinned_one(place: Place, data: Path) -> None:
    origin = find_about("ifeval").dataset.origin
    assert isinstance(origin, HubRepository)
    assert origin.revision is not None
    files = {"ifeval_input_data.jsonl": (data / "ifeval" / "train.jsonl").read_bytes()}
    (place.directory / "data").unlink()
    with serving(LoopbackHub(files, origin.revision, origin.repository)) as hub:
        place.environment |= {"HF_ENDPOINT": hub.endpoint, "NO_PROXY": "*"}
        lay_fetched(place.directory / "data")
        place.run("benchwright fetch ifeval")
    fetched = json.loads((place.directory / "data" / origin.repository / "fetched.json").read_text())
    assert (fetched["revision"], list(fetched["files"])) == (origin.revision, list(files))


def test_the_model_is_there(place: Place) -> None:
    assert "'my-model' is available" in place.run("llm-bench --model my-model check").stdout


def test_a_dry_run_says_what_would_be_asked(place: Place) -> None:
    done = place.run("benchwright run mmlu --model my-model --dry-run")
    assert done.stdout.startswith(f"mmlu: {COUNT} trials, data from data/mmlu\n")
    assert "No requests were sent" in done.stderr
    assert place.results() == {}


@pytest.mark.parametrize("line", [line for line in OTHERS if " compare " in line])
def test_result_files_stand_side_by_side(line: str, place: Place) -> None:
    write_results(place.directory, [word.replace("*", "1") for word in line.split()[2:]])
    printed = place.run(line).stdout
    for name, cells in COMPARISON.items():
        assert re.search(
            "│ ".join(f"{re.escape(text)} +" for text in (name, *cells)), re.sub(" +", " ", printed)
        )


@pytest.mark.parametrize("line", [line for line in OTHERS if " list" in line])
def test_the_list_has_the_catalog_and_ones_own(line: str, place: Place) -> None:
    first, _, rest = place.run(line).stdout.partition("Further Benchmarks")
    own = ["capitals"] if "--plugin" in line else []
    assert names_in(first) == sorted([*DOCUMENTED_BENCHMARKS, *own])
    assert names_in(rest.partition("Variants")[0]) == sorted(ADDED_BENCHMARKS)


def names_in(table: str) -> list[str]:
    """The names in the first column of a printed table."""
    return [name for name in re.findall(r"^│ (\w+) +│", table, re.M) if name != "Name"]


def test_the_graders_are_right(place: Place) -> None:
    (line,) = [line for line in OTHERS if " validate " in line]
    printed = place.run(line).stdout
    for name in line.split()[2:]:
        assert re.search(rf"^{name} +{COUNT} +\d+ +0 +0 +ok *$", printed, re.M)


def test_a_result_file_has_the_keys_of_the_formats_document_in_their_order(place: Place) -> None:
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").partition("## Result files")[2]
    (block,) = re.findall(r"^```json\n(.*?)^```", text, re.M | re.S)[:1]
    shown = json.loads(block)
    place.run("llm-bench --model my-model run mmlu")
    written = place.results()["mmlu"]
    assert list(written) == list(shown)
    for key in ("config", "protocol"):
        assert set(shown[key]) <= set(written[key])
    assert set(shown["protocol"]["data"]) == set(written["protocol"]["data"])
    assert list(written["sample_results"][0]) == list(shown["sample_results"][0])
    assert set(shown["aggregated_metrics"]) - {"..."} <= set(written["aggregated_metrics"])
    for part in ("figures", "breakdowns"):
        assert list(written[part][0]) == list(shown[part][0])


def test_the_table_says_of_each_benchmark_what_the_catalog_says() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(#\1\) \| ([\d,]+) \|.*\| (.*) \|$", TEXT, re.M)
    assert [(name, int(items.replace(",", ""))) for name, items, _ in rows] == sorted(
        [(one.name, one.items) for one in list_abouts() if one.variant is None],
        key=lambda row: [name for name, *_ in rows].index(row[0]),
    )
    assert {name for name, *_ in rows[:14]} == set(DOCUMENTED_BENCHMARKS)
    assert "the first 14" in TEXT
    assert {one.name for one in list_abouts() if one.variant == "documented"} == set(DOCUMENTED_BENCHMARKS)
    for name, _, data in rows:
        assert find_about(name).dataset.licence in data
    tiers = {
        int(tier): re.findall(r"\w+", names) for tier, names in re.findall(r"Tier (\d): ([\w,\s]+)", TEXT)
    }
    named = {name: tier for tier in (2, 3, 4) for name in tiers[tier]}
    assert tiers[1] == ["all", "others"]
    for name, *_ in rows:
        assert find_about(name).tier == named.get(name, 1)


def options_of_containers() -> dict[str, set[str]]:
    """The options in the table of benchmarks in containers, by benchmark."""
    section = TEXT.partition("## Benchmarks in containers")[2].partition("\n### ")[0]
    containers = [name for name in BENCHMARKS if "containers" in find_about(name).needs]
    found: dict[str, set[str]] = {name: set() for name in containers}
    for options, names in re.findall(r"^\| (`\w+=`(?:, `\w+=`)*) \| ([^|]+) \|", section, re.M):
        patterns = ["*"] if names == "all" else names.split(", ")
        for name in containers:
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                found[name] |= set(re.findall(r"\w+", options))
    return found


def test_the_table_of_options_has_exactly_those_of_each_benchmark_in_containers() -> None:
    for name, options in options_of_containers().items():
        section = re.findall(rf"^### {name}\n(.*?)(?=^##)", TEXT, re.M | re.S)[0]
        others = {option for option in find_about(name).options if option not in options}
        assert options <= set(find_about(name).options)
        assert all(f"{option}=" in section for option in others)


def test_every_variant_and_option_has_its_place_in_the_section_of_its_benchmark() -> None:
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", TEXT, re.M | re.S))
    tabulated = options_of_containers()
    for one in list_abouts():
        section = sections[one.name]
        if one.variant == "documented":
            assert one.name in DOCUMENTED_BENCHMARKS
        elif one.variant is not None:
            assert f"`{one.full_name}`" in section
        for option in one.options:
            assert f"{option}=" in section or option in tabulated.get(one.name, ())
        for role in one.roles:
            assert f"{role}_model" in section or f"--{role}-model" in section
