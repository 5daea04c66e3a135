"""Datasets of Harbor's registry: tasks from repositories on this disk, each at the commit that the registry names."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.http_server import QuietHandler, served_by

from benchwright.catalog.registry import find_about
from benchwright.data.datasets import Dataset, find_dataset
from benchwright.data.errors import DatasetError
from benchwright.data.fetch import fetch_dataset
from benchwright.data.registry import REGISTRY_VARIABLE
from benchwright.errors import UserError


def quiet(line: str) -> None:
    pass


class Repository:
    """A repository with the tasks `one` and `two`."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True)
        self._git("init", "--quiet")
        self.commits = [self.commit("first"), self.commit("second")]

    def commit(self, said: str) -> str:
        for name in ("one", "two"):
            folder = self.place / "tasks" / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "task.toml").write_text(f"# {said}\n")
            (folder / "instruction.md").write_text(f"{said} of {name}\n")
        self._git("add", "--all")
        self._git("-c", "user.name=n", "-c", "user.email=e@x", "commit", "--quiet", "--message", said)
        return self._git("rev-parse", "HEAD").strip()

    def task(self, name: str, **changes: Any) -> dict[str, Any]:
        """A task as a registry has it, at the first commit."""
        entry = {
            "name": name,
            "git_url": f"file://{self.place}",
            "git_commit_id": self.commits[0],
            "path": f"tasks/{name}",
        }
        return {**entry, **changes}

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.place), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the registry's file lies."""
    monkeypatch.setenv(REGISTRY_VARIABLE, str(tmp_path / "registry.json"))
    return tmp_path / "registry.json"


def write(registry: Path, *tasks: dict[str, Any]) -> None:
    """Writes a registry with one dataset, `quiz` 1.0."""
    registry.write_text(json.dumps([{"name": "quiz", "version": "1.0", "description": "", "tasks": tasks}]))


def dataset(reference: str = "quiz@1.0") -> Dataset:
    return find_about(f"harbor:{reference}").dataset


def test_tasks_come_at_the_commits_that_the_registry_names(
    repository: Repository, registry: Path, tmp_path: Path
) -> None:
    write(registry, repository.task("one"), repository.task("two", git_commit_id=repository.commits[1]))
    place = fetch_dataset(dataset(), tmp_path / "data", quiet)
    assert place == tmp_path / "data" / "harbor:quiz@1.0"
    assert (place / "one" / "instruction.md").read_text() == "first of one\n"
    assert (place / "two" / "instruction.md").read_text() == "second of two\n"
    registry.unlink()
    found = find_dataset(dataset(), tmp_path / "data", offline=True)
    assert (found.is_pinned, found.revision) == (True, "+".join(sorted(repository.commits)))
    assert [file.parent.name for file in found.files()] == ["one", "two"]


def test_a_registry_may_lie_at_an_address(
    repository: Repository, registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(registry, repository.task("one"))

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.answer(200 if self.path == "/registry.json" else 404, registry.read_bytes())

    with served_by(Handler) as address:
        monkeypatch.setenv(REGISTRY_VARIABLE, f"{address}/registry.json")
        assert (fetch_dataset(dataset(), tmp_path / "data", quiet) / "one" / "task.toml").is_file()
        monkeypatch.setenv(REGISTRY_VARIABLE, f"{address}/other.json")
        with pytest.raises(DatasetError, match="cannot be read"):
            fetch_dataset(dataset("quiz@2.0"), tmp_path / "data", quiet)


def test_what_changed_since_is_told(repository: Repository, registry: Path, tmp_path: Path) -> None:
    write(registry, repository.task("one"))
    (fetch_dataset(dataset(), tmp_path / "data", quiet) / "one" / "task.toml").write_text("# mine\n")
    with pytest.raises(DatasetError, match="has changed since it was fetched"):
        find_dataset(dataset(), tmp_path / "data", offline=True).files()


def test_without_fetching_the_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"benchwright fetch harbor:quiz@1\.0"):
        find_dataset(dataset(), tmp_path / "data", offline=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"git_commit_id": None}, "does not pin one at a commit"),
        ({"git_commit_id": "main"}, "does not pin one at a commit"),
        ({"git_url": None}, "does not pin one at a commit"),
        ({"path": "tasks/three"}, "has no task tasks/three"),
        ({"path": "../tasks/one"}, r"has no task \.\./tasks/one"),
        ({"git_commit_id": "0" * 40}, "git cannot fetch 0000"),
    ],
)
def test_a_task_that_is_not_pinned_or_not_there_is_told_and_nothing_stays(
    repository: Repository, registry: Path, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    write(registry, repository.task("one", **changes))
    with pytest.raises(DatasetError, match=said):
        fetch_dataset(dataset(), tmp_path / "data", quiet)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("reference", "said"),
    [("quiz@2.0", "quiz has the versions 1.0, and no 2.0"), ("quis@1.0", "Did you mean 'quiz'?")],
)
def test_a_dataset_that_is_not_in_the_registry_is_told(
    repository: Repository, registry: Path, tmp_path: Path, reference: str, said: str
) -> None:
    write(registry, repository.task("one"))
    with pytest.raises(DatasetError) as raised:
        fetch_dataset(dataset(reference), tmp_path / "data", quiet)
    assert said in str(raised.value)


def test_a_registry_that_is_none_or_cannot_be_read_is_told(registry: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=f"cannot be read: No such file.*{REGISTRY_VARIABLE}"):
        fetch_dataset(dataset(), tmp_path / "data", quiet)
    registry.write_text('{"no": "list"}')
    with pytest.raises(DatasetError, match="is not one of Harbor's"):
        fetch_dataset(dataset(), tmp_path / "data", quiet)


def test_a_name_needs_its_version() -> None:
    with pytest.raises(UserError, match="harbor:NAME@VERSION"):
        find_about("harbor:terminal-bench")
