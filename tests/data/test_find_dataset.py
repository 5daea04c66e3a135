"""Where the data of a benchmark is looked for, and which files there are taken."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.data.dataset_kit import DEV_FILE, QUIZ, QUIZ_FILES, TEST_FILE, lay, question, questions
from tests.data.loopback_hub import COMMIT, NEWER

from benchwright.data.datasets import Dataset, GitRepository, HubRepository, Wheel, find_dataset
from benchwright.data.errors import DatasetNotFound, DatasetParseError

CACHED = f"datasets--O--N/snapshots/{COMMIT}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def lay_everywhere(tmp_path: Path) -> None:
    lay(tmp_path / "data" / "quiz", {"test.jsonl": question("in its own directory")})
    lay(tmp_path / "data" / "O" / "N", QUIZ_FILES | {TEST_FILE: question("in the hub's layout")})
    lay(tmp_path / "hub cache" / CACHED, QUIZ_FILES | {TEST_FILE: question("in the hub's cache")})


class TestTheOrder:
    def test_the_benchmarks_own_directory_comes_first(self, tmp_path: Path, data: Path) -> None:
        lay_everywhere(tmp_path)
        source = find_dataset(QUIZ, data)
        assert questions(source.rows()) == ["in its own directory"]
        assert (source.provenance, source.revision, source.is_pinned) == ("data directory", None, False)

    def test_then_the_hubs_layout_in_the_data_directory(self, tmp_path: Path, data: Path) -> None:
        lay_everywhere(tmp_path)
        (data / "quiz" / "test.jsonl").unlink()
        source = find_dataset(QUIZ, data)
        assert questions(source.rows()) == ["in the hub's layout"]
        assert source.provenance == "data directory"

    def test_then_the_hubs_cache_at_the_pinned_revision(self, tmp_path: Path, data: Path) -> None:
        lay(tmp_path / "hub cache" / CACHED, QUIZ_FILES)
        source = find_dataset(QUIZ, data)
        assert questions(source.rows()) == ["the test question"]
        assert (source.provenance, source.revision, source.is_pinned) == ("hub cache", COMMIT, True)

    def test_a_named_file_comes_before_all(self, tmp_path: Path, data: Path) -> None:
        lay_everywhere(tmp_path)
        lay(tmp_path, {"mine.jsonl": question("mine")})
        source = find_dataset(QUIZ, data, path=tmp_path / "mine.jsonl")
        assert questions(source.rows()) == ["mine"]
        assert (source.provenance, source.splits) == ("path", ["test"])

    def test_a_named_directory_may_hold_any_layout(self, tmp_path: Path, data: Path) -> None:
        lay(tmp_path / "mine", QUIZ_FILES)
        source = find_dataset(QUIZ, data, path=tmp_path / "mine")
        assert (questions(source.rows("dev")), source.splits) == (["the dev question"], ["test", "dev"])


class TestTheHubsCache:
    def test_another_revision_is_not_taken(self, tmp_path: Path, data: Path) -> None:
        lay(tmp_path / "hub cache" / f"datasets--O--N/snapshots/{NEWER}", QUIZ_FILES)
        with pytest.raises(DatasetNotFound):
            find_dataset(QUIZ, data, offline=True)

    def test_without_a_pin_its_newest_known_commit_is_taken(self, tmp_path: Path, data: Path) -> None:
        cache = tmp_path / "hub cache"
        lay(cache / f"datasets--O--N/snapshots/{NEWER}", QUIZ_FILES)
        lay(cache / "datasets--O--N/refs", {"main": NEWER.encode()})
        unpinned = msgspec.structs.replace(QUIZ, origin=HubRepository("O/N"))
        assert find_dataset(unpinned, data).revision == NEWER

    def test_those_of_models_lie_apart(self, tmp_path: Path, data: Path) -> None:
        lay(tmp_path / "hub cache" / f"models--O--N/snapshots/{COMMIT}", QUIZ_FILES)
        model = msgspec.structs.replace(QUIZ, origin=HubRepository("O/N", COMMIT, kind="model"))
        assert find_dataset(model, data, offline=True).provenance == "hub cache"
        with pytest.raises(DatasetNotFound):
            find_dataset(QUIZ, data, offline=True)

    @pytest.mark.parametrize(
        ("variable", "value", "hub"),
        [("HF_HOME", "home", "home/hub"), ("XDG_CACHE_HOME", "xdg", "xdg/huggingface/hub")],
    )
    def test_it_lies_where_the_hubs_programs_put_it(
        self, variable: str, value: str, hub: str, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HF_HUB_CACHE")
        monkeypatch.setenv(variable, str(tmp_path / value))
        lay(tmp_path / hub / CACHED, QUIZ_FILES)
        assert find_dataset(QUIZ, data).provenance == "hub cache"

    def test_a_snapshot_with_a_shard_missing_is_not_whole(self, tmp_path: Path, data: Path) -> None:
        lay(tmp_path / "hub cache" / CACHED, {"all/test-00000-of-00002.jsonl": question("half")})
        with pytest.raises(DatasetNotFound):
            find_dataset(QUIZ, data, offline=True)


class TestTheFilesOfADirectory:
    """The rules for what somebody laid into `<data-dir>/<benchmark>/`."""

    @pytest.mark.parametrize(
        "names",
        [
            ["test.jsonl"],
            ["quiz_test.jsonl"],
            ["test.jsonl", "test_old.jsonl"],
            ["test-00000-of-00002.jsonl", "test-00001-of-00002.jsonl"],
            ["anything.jsonl"],
            ["quiz.jsonl", "other.jsonl"],
            ["sample.jsonl", "full_original_layout.jsonl"],
            ["anything.jsonl", "dev.jsonl"],
            ["test.jsonl", "dataset_infos.json", "SOURCE.md"],
            [TEST_FILE, DEV_FILE, "stray.jsonl"],
        ],
        ids=" ".join,
    )
    def test_the_first_named_is_taken(self, names: list[str], data: Path) -> None:
        lay(data / "quiz", {name: question(name) for name in names})
        taken = questions(find_dataset(QUIZ, data).rows())
        assert taken == (names if "of-00002" in names[0] else names[:1])

    @pytest.mark.parametrize(
        "names",
        [
            ["a.jsonl", "b.jsonl"],
            ["test.jsonl", "test.csv"],
            ["easy_test.jsonl", "hard_test.jsonl"],
            ["test-00000-of-00003.jsonl", "test-00001-of-00003.jsonl"],
        ],
        ids=" ".join,
    )
    def test_where_several_could_be_meant_all_are_listed(self, names: list[str], data: Path) -> None:
        lay(data / "quiz", {name: question(name) for name in names})
        with pytest.raises(DatasetParseError) as caught:
            find_dataset(QUIZ, data)
        assert all(name in str(caught.value) for name in names)
        assert "--option path=FILE" in str(caught.value)

    def test_the_only_file_is_never_taken_for_another_split(self, data: Path) -> None:
        lay(data / "quiz", {"sample.jsonl": question("a sample")})
        source = find_dataset(QUIZ, data)
        assert source.splits == ["test"]
        with pytest.raises(DatasetNotFound, match=r"no dev rows of quiz; add a file named dev\.jsonl"):
            source.files("dev")

    def test_a_file_of_another_split_is_never_evaluated(self, data: Path) -> None:
        lay(data / "quiz", {"dev.jsonl": question("shots only")})
        with pytest.raises(DatasetNotFound):
            find_dataset(QUIZ, data, offline=True)

    def test_local_patterns_find_other_layouts(self, data: Path) -> None:
        tasks = Dataset("shop", {"tasks": ("envs/*/tasks.py",)}, local={"tasks": ("*_tasks.jsonl",)})
        lay(data / "shop", {"air_tasks.jsonl": question("1"), "rail_tasks.jsonl": question("2")})
        assert questions(find_dataset(tasks, data).rows()) == ["1", "2"]


class TestNothingThere:
    def test_offline_it_fails_at_once_and_names_the_command_that_fetches(
        self, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        with pytest.raises(DatasetNotFound) as caught:
            find_dataset(QUIZ, data)
        text = str(caught.value)
        assert "benchwright fetch quiz" in text
        assert "--option path=" in text
        assert all(str(place) in text for place in (data / "quiz", data / "O/N", tmp_path / "hub cache"))
        assert not data.exists()

    @pytest.mark.parametrize(
        "origin",
        [Wheel("quiz-data", "1.0", "0" * 64), GitRepository("https://example.org/quiz", COMMIT)],
    )
    def test_wheels_and_checkouts_are_fetched_by_command_only(
        self, origin: Wheel | GitRepository, data: Path
    ) -> None:
        with pytest.raises(DatasetNotFound, match="benchwright fetch quiz"):
            find_dataset(msgspec.structs.replace(QUIZ, origin=origin), data)

    def test_without_an_origin_the_directory_to_fill_is_named(self, data: Path) -> None:
        with pytest.raises(DatasetNotFound, match=f"put it into {data / 'quiz'}"):
            find_dataset(msgspec.structs.replace(QUIZ, origin=None), data)

    def test_a_named_file_that_is_missing_is_told(self, tmp_path: Path, data: Path) -> None:
        with pytest.raises(DatasetNotFound, match="not found"):
            find_dataset(QUIZ, data, path=tmp_path / "nowhere.jsonl")

    def test_a_named_directory_without_rows_says_what_it_should_hold(
        self, tmp_path: Path, data: Path
    ) -> None:
        lay(tmp_path / "mine", {"notes.txt": b""})
        with pytest.raises(DatasetNotFound, match=r"test\.jsonl"):
            find_dataset(QUIZ, data, path=tmp_path / "mine")


REAL = {
    "mmlu": ("test", 56),
    "mmlu_pro": ("test", 50),
    "ifeval": ("train", 60),
    "humaneval": ("test", 164),
    "longbench_v2": ("train", None),
    "multi_if": ("train", None),
    "mrcr": ("train", None),
    "graphwalks": ("train", None),
    "swe_bench": ("test", None),
}


@pytest.mark.parametrize("name", REAL)
def test_real_rows_are_found_as_they_were_laid_down(name: str, real_rows: Path) -> None:
    split, count = REAL[name]
    dataset = Dataset(name, {split: ("data/*.parquet",)}, origin=HubRepository("nobody/nothing", COMMIT))
    found = list(find_dataset(dataset, real_rows, offline=True).rows())
    assert found
    assert count in (None, len(found))
