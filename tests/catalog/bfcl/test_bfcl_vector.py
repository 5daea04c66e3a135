"""The memory that is searched by vectors; the library that makes them is SIMULATED unless a test says otherwise."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.bfcl.bfcl_kit import Script, calling, saying
from tests.catalog.bfcl.memory_kit import Asked, simulate_library, write_memories
from tests.catalog.catalog_kit import benchmark, samples

from benchwright.catalog.bfcl import encoder
from benchwright.catalog.bfcl.encoder import find_model
from benchwright.errors import TrialError, UserError
from benchwright.records import Message

NOTED = saying("Noted.")


@pytest.fixture
def simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_library(monkeypatch, tmp_path)


def adding(text: Any) -> Message:
    return calling(("core_memory_add", {"text": text}))


def searching(query: str) -> Message:
    return calling(("core_memory_retrieve", {"query": query}))


def results(talk: Script) -> list[str]:
    """What the calls of the last conversation gave."""
    return [one["content"] for one in talk.asked[-1][1] if one["role"] == "tool"]


@pytest.mark.usefixtures("simulated")
async def test_what_is_nearest_is_found_in_a_later_conversation(tmp_path: Path) -> None:
    asked = Asked(tmp_path, "memory_vector")
    told = [adding("Ada"), NOTED, adding("Rome"), NOTED, NOTED]
    outcome, talk = await asked.ask(0, *told, searching("more"), saying("Ada"))
    (found,) = map(json.loads, results(talk))
    assert found == {"nearest": "Rome", "likeness": pytest.approx(1.0)}
    assert "Ada; Rome" in talk.asked[-1][1][0]["content"]
    assert outcome.artifacts["memory"] == {"core_memory": {"0": "Ada", "1": "Rome"}}
    assert await asked.score(0, outcome) == (1.0, None)


@pytest.mark.usefixtures("simulated")
async def test_what_the_library_raises_is_the_result_of_the_call(tmp_path: Path) -> None:
    _, talk = await Asked(tmp_path, "memory_vector").ask(3, adding(5), NOTED, adding({"a": 1}), NOTED)
    assert results(talk) == ["Error during execution: texts only"]


@pytest.mark.usefixtures("simulated")
async def test_a_library_that_ends_is_an_error_and_no_answer_and_the_next_question_is_asked(
    tmp_path: Path,
) -> None:
    asked = Asked(tmp_path, "memory_vector")
    with pytest.raises(TrialError, match="the embedding model failed: the program in the sandbox has ended"):
        await asked.ask(3, adding("end yourself"))
    outcome, _ = await asked.ask(3, adding("tax"), NOTED, saying("tax"))
    assert outcome.artifacts["memory"] == {"core_memory": {"0": "tax"}}


@pytest.mark.usefixtures("simulated")
async def test_a_model_that_cannot_be_loaded_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(tmp_path, "memory_vector")
    monkeypatch.setattr(
        encoder, "sandbox_files", lambda folder: {"encoder.py": b"raise SystemExit('damaged')"}
    )
    with pytest.raises(UserError, match=r"cannot be loaded: the program in the sandbox has ended: damaged"):
        await asked.ask(3, saying("tax"))


def test_a_missing_library_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(encoder, "version", absent)
    with pytest.raises(
        UserError, match=r"needs sentence-transformers: pip install 'benchwright\[bfcl-vector\]'"
    ):
        benchmark("bfcl", {"categories": "memory"}, data_dir=tmp_path)
    assert benchmark("bfcl", {"categories": "memory_kv"}, data_dir=tmp_path).departures == ()


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("lost", ["model.safetensors", "1_Pooling/config.json"])
def test_a_missing_model_says_how_to_get_it(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "nothing"))
    (tmp_path / "all-MiniLM-L6-v2" / lost).unlink()
    with pytest.raises(UserError, match="hf download sentence-transformers/all-MiniLM-L6-v2; or put its"):
        find_model(tmp_path)


@pytest.mark.usefixtures("simulated")
def test_other_weights_and_another_version_are_departures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "version", lambda name: "1.12.0")
    version, weights = benchmark("bfcl", {"categories": "memory_vector"}, data_dir=tmp_path).departures
    assert version == "faiss-cpu 1.12.0 instead of 1.11.0"
    assert weights.startswith("the weights of all-MiniLM-L6-v2 in ")


@pytest.mark.usefixtures("simulated")
def test_rows_tell_which_model_and_those_of_other_categories_do_not_depend_on_it(tmp_path: Path) -> None:
    root = write_memories(tmp_path)
    asked = Asked(tmp_path, "memory_vector")
    before = samples("bfcl", root, {"categories": "memory_kv"})
    assert asked.samples[0].content["embedding_model"] == find_model(tmp_path).digest
    (root / "func_source_code" / "memory_vector.py").write_text("pass")
    assert samples("bfcl", root, {"categories": "memory_kv"}) == before
    changed = list(asked.task.samples(asked.source))
    assert changed[0].content["executables"] != asked.samples[0].content["executables"]


async def test_the_real_library_finds_what_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NOT SIMULATED: with sentence-transformers and the published weights, in ./data or in the hub's cache."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    try:
        directory = find_model(Path("data")).directory
    except UserError as error:
        pytest.skip(str(error))
    (tmp_path / "all-MiniLM-L6-v2").symlink_to(directory.resolve())
    told = [adding("The cat is called Tom."), adding("He lives in Rome."), NOTED]
    asked = Asked(tmp_path, "memory_vector")
    _, talk = await asked.ask(3, *told, searching("Which pet does he have?"), saying("tax"))
    (found,) = map(json.loads, results(talk))
    assert found["nearest"] == "The cat is called Tom."
