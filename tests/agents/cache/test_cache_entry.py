"""Cache files: written whole, read back, set aside and never over one another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agents.cache.cache_kit import run

from benchwright.agents.cache.entry import (
    CacheMismatch,
    back_up_entry,
    entry_files,
    format_time,
    new_entry,
    read_entry,
    read_entry_head,
    rename_corrupt_entry,
    samples_path,
    unused_entry_path,
    write_entry,
)
from benchwright.errors import UserError

RUNS = [run(0, 0, 1.0), run(1, 0, None, tag="baseline")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A cache file with two runs, and samples beside it."""
    path = tmp_path / "model" / "data" / "1767225600_aaaaaaaaaaaa.json"
    write_entry(path, new_entry({"model": "m", "n_runs": 2}, "a" * 32, "a" * 12, tmp_path / "run"), RUNS)
    samples_path(path).write_text("{}\n")
    return path


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def test_a_file_is_json_with_one_run_a_line(path: Path) -> None:
    text = path.read_text()
    content = json.loads(text)
    assert [len(run) for run in content["runs"]] == [8, 8]
    assert content["runs"][1] == {
        "row_index": 1,
        "run_index": 0,
        "success": False,
        "scores": {},
        "duration_ms": 2.5,
        "tokens": 10,
        "model_tag": "baseline",
        "error": "it failed",
    }
    assert content["summary"] is None
    assert sum(line.lstrip().startswith('{"row_index"') for line in text.splitlines()) == 2


@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_is_written_is_read_back(tmp_path: Path, count: int) -> None:
    entry = new_entry({"model": "m"}, "b" * 32, "b" * 12, tmp_path / "run")
    entry.status, entry.summary = "completed", {"total_runs": count}
    path = tmp_path / "1_b.json"
    write_entry(path, entry, (run(row, 0, 1.0) for row in range(count)))
    read = read_entry(path)
    assert read is not None
    assert len(read.runs) == count
    for name in ("version", "task_id", "config_hash", "status", "config", "summary", "run", "created_at"):
        assert getattr(read, name) == getattr(entry, name)


@pytest.mark.parametrize("summary", [None, {"total_runs": 2}])
def test_its_head_is_all_but_runs_and_summary(path: Path, summary: dict[str, int] | None) -> None:
    entry = read_entry(path)
    assert entry is not None
    entry.summary = summary
    write_entry(path, entry, RUNS)
    head = read_entry_head(path)
    assert head is not None
    assert (head.config, head.run, head.status, head.runs) == (entry.config, entry.run, "in_progress", [])
    path.write_text(json.dumps(json.loads(path.read_text())))
    read = read_entry_head(path)
    assert read is not None
    assert (read.config, len(read.runs)) == (entry.config, 2), "of another layout all is read"


def test_the_head_of_a_newer_versions_file_is_not_read_either(path: Path) -> None:
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(CacheMismatch, match="newer version"):
        read_entry_head(path)


@given(st.binary() | st.just(b'{"version": 1}') | st.just(b'{"version": "1"}') | st.just(b"[]"))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_cache_file_is_not_read(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "1_c.json"
    path.write_bytes(data)
    assert read_entry(path) is None
    assert path.read_bytes() == data, "it is left as it is"


def test_nor_is_one_that_is_not_there(tmp_path: Path) -> None:
    assert read_entry(tmp_path / "1_c.json") is None


def test_one_of_a_newer_version_is_an_error_that_the_documents_name(path: Path) -> None:
    path.write_text('{"version": 2, "shape": "unknown"}')
    with pytest.raises(
        CacheMismatch, match=r"^Cache file created by a newer version of osmosis \(v2\)\."
    ) as told:
        read_entry(path)
    assert isinstance(told.value, RuntimeError)
    assert isinstance(told.value, UserError), "so that it is one line and no traceback"


def test_entries_are_listed_the_newest_first(tmp_path: Path) -> None:
    for name in (
        "999_a.json",
        "1000_a.json",
        "1000_b.json",
        "x_a.json",
        "1000_a.jsonl",
        "1_a.json.backup.5",
        "a.lock",
    ):
        (tmp_path / name).touch()
    assert [path.name for path in entry_files(tmp_path, "a")] == ["1000_a.json", "999_a.json", "x_a.json"]
    assert [path.name for path in entry_files(tmp_path)][:2] == ["1000_b.json", "1000_a.json"]
    assert entry_files(tmp_path / "nowhere") == []


def test_a_new_path_is_never_one_that_is_taken(tmp_path: Path) -> None:
    first = unused_entry_path(tmp_path, "a")
    first.touch()
    second = unused_entry_path(tmp_path, "a")
    assert second != first
    assert entry_files(tmp_path, "a") == [first]
    second.touch()
    assert entry_files(tmp_path, "a") == [second, first]


def test_backups_keep_file_and_samples_together_and_never_replace_each_other(path: Path) -> None:
    first = path.read_bytes()
    back_up_entry(path)
    path.write_text("second")
    back_up_entry(path)
    assert [name.split(".backup.")[0] for name in names(path)] == [
        path.name,
        path.name,
        samples_path(path).name,
    ]
    one, two = sorted(path.parent.glob("*.json.backup.*"))
    assert (one.read_bytes(), two.read_text()) == (first, "second")


def test_what_is_corrupt_is_set_aside_with_its_samples(path: Path) -> None:
    aside = rename_corrupt_entry(path)
    suffix = aside.name.removeprefix(path.name)
    assert suffix.startswith(".corrupt.")
    assert names(path) == [path.name + suffix, samples_path(path).name + suffix]


def test_moments_are_utc_in_whole_seconds() -> None:
    assert format_time(1_767_225_600.9) == "2026-01-01T00:00:00Z"
