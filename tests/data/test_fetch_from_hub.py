"""Fetching from a hub over HTTP: the real huggingface_hub against a server on this machine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import Event
from time import monotonic

import msgspec
import pytest
from tests.data.dataset_kit import DEV_FILE, QUIZ, QUIZ_FILES, TEST_FILE, lay, question, questions
from tests.data.loopback_hub import COMMIT, NEWER, LoopbackHub

from benchwright.data import hub as client
from benchwright.data.datasets import Dataset, HubRepository, find_dataset
from benchwright.data.errors import DatasetError, DatasetNotFound, DatasetParseError
from benchwright.data.fetch import fetch_dataset
from benchwright.secrets import SECRETS

UNPINNED = msgspec.structs.replace(QUIZ, origin=HubRepository("O/N"))
GATED = msgspec.structs.replace(QUIZ, origin=HubRepository("O/N", COMMIT, gated=True))


def quiet(line: str) -> None:
    pass


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TIMEOUT_SECONDS", 0.3)


def left_behind(data: Path) -> list[str]:
    return sorted(path.name for path in data.rglob("*")) if data.exists() else []


class TestWhatComes:
    def test_the_files_of_the_splits_in_the_hubs_layout(self, hub: LoopbackHub, data: Path) -> None:
        directory = fetch_dataset(QUIZ, data, quiet)
        assert directory == data / "O" / "N"
        assert left_behind(data) == sorted(
            ["O", "N", "all", "fetched.json", *map(os.path.basename, (TEST_FILE, DEV_FILE))]
        )
        assert (directory / TEST_FILE).read_bytes() == QUIZ_FILES[TEST_FILE]

    def test_a_manifest_with_the_commit_and_the_digests(self, hub: LoopbackHub, data: Path) -> None:
        manifest = msgspec.json.decode((fetch_dataset(QUIZ, data, quiet) / "fetched.json").read_bytes())
        assert (manifest["revision"], manifest["origin"]) == (COMMIT, "O/N")
        assert {name: file["sha256"] for name, file in manifest["files"].items()} == {
            name: sha256(QUIZ_FILES[name]).hexdigest() for name in (TEST_FILE, DEV_FILE)
        }

    def test_lines_that_say_what_is_done(self, hub: LoopbackHub, data: Path) -> None:
        said: list[str] = []
        fetch_dataset(QUIZ, data, said.append)
        assert len(said) == 3
        assert COMMIT in said[-1]

    def test_a_second_time_nothing_is_asked(self, hub: LoopbackHub, data: Path) -> None:
        fetch_dataset(QUIZ, data, quiet)
        asked = len(hub.requests)
        said: list[str] = []
        fetch_dataset(QUIZ, data, said.append)
        assert (len(hub.requests), "up to date" in said[0]) == (asked, True)

    def test_what_was_fetched_is_found_pinned_and_without_the_network(
        self, hub: LoopbackHub, data: Path
    ) -> None:
        fetch_dataset(QUIZ, data, quiet)
        asked = len(hub.requests)
        source = find_dataset(QUIZ, data, offline=True)
        assert questions(source.rows("dev")) == ["the dev question"]
        assert (source.provenance, source.revision, source.is_pinned) == ("data directory", COMMIT, True)
        assert len(hub.requests) == asked


class TestFindingOnTheHub:
    def test_what_is_nowhere_else_is_fetched(self, hub: LoopbackHub, data: Path) -> None:
        source = find_dataset(QUIZ, data)
        assert questions(source.rows()) == ["the test question"]
        assert (source.provenance, source.revision) == ("hub", COMMIT)
        assert find_dataset(QUIZ, data).provenance == "data directory"

    def test_so_are_the_files_of_a_model(self, hub: LoopbackHub, data: Path) -> None:
        hub.kind = "model"
        model = msgspec.structs.replace(QUIZ, origin=HubRepository("O/N", COMMIT, kind="model"))
        assert find_dataset(model, data).provenance == "hub"
        hub.refusal = 403
        with pytest.raises(DatasetError, match=rf"read {re.escape(hub.endpoint)}/O/N \("):
            find_dataset(model, data / "elsewhere")

    def test_offline_the_hub_is_not_asked(self, hub: LoopbackHub, data: Path) -> None:
        with pytest.raises(DatasetNotFound, match="benchwright fetch quiz"):
            find_dataset(QUIZ, data, offline=True)
        assert hub.requests == []


class TestRevisions:
    def test_only_the_pinned_commit_is_asked_for(self, hub: LoopbackHub, data: Path) -> None:
        hub.commits[NEWER] = {TEST_FILE: question("newer"), DEV_FILE: question("newer")}
        hub.newest = NEWER
        assert questions(find_dataset(QUIZ, data).rows()) == ["the test question"]
        assert all(COMMIT in path for path in hub.paths())

    def test_without_a_pin_the_newest_is_taken_and_kept(self, hub: LoopbackHub, data: Path) -> None:
        assert find_dataset(UNPINNED, data).revision == COMMIT
        hub.commits[NEWER] = {TEST_FILE: question("newer"), DEV_FILE: question("newer")}
        hub.newest = NEWER
        fetch_dataset(UNPINNED, data, quiet)
        source = find_dataset(UNPINNED, data)
        assert (source.revision, source.is_pinned) == (COMMIT, False)

    def test_a_newly_pinned_commit_takes_the_place_of_the_former(self, hub: LoopbackHub, data: Path) -> None:
        fetch_dataset(QUIZ, data, quiet)
        hub.commits[NEWER] = {TEST_FILE: question("newer"), DEV_FILE: question("newer")}
        repinned = msgspec.structs.replace(QUIZ, origin=HubRepository("O/N", NEWER))
        assert not find_dataset(repinned, data).is_pinned
        fetch_dataset(repinned, data, quiet)
        source = find_dataset(repinned, data)
        assert (questions(source.rows()), source.is_pinned) == (["newer"], True)

    def test_a_commit_that_is_not_there_is_told(self, hub: LoopbackHub, data: Path) -> None:
        elsewhere = msgspec.structs.replace(QUIZ, origin=HubRepository("O/N", NEWER))
        with pytest.raises(DatasetError, match=f"The hub has no O/N at revision {NEWER}"):
            fetch_dataset(elsewhere, data, quiet)

    def test_a_repository_without_the_files_is_told(self, hub: LoopbackHub, data: Path) -> None:
        other = Dataset("quiz", {"test": ("data/test-*.parquet",)}, QUIZ.origin)
        with pytest.raises(DatasetError, match=r"O/N has no data/test-\*\.parquet"):
            fetch_dataset(other, data, quiet)
        assert left_behind(data) == []


class TestAccess:
    def test_gated_data_says_how_to_get_access(self, hub: LoopbackHub, data: Path) -> None:
        hub.needs_token = "hf_right"
        with pytest.raises(DatasetError) as caught:
            find_dataset(GATED, data)
        text = str(caught.value)
        assert f"accept its terms at {hub.endpoint}/datasets/O/N" in text
        assert "HF_TOKEN" in text
        assert "401" in text

    def test_the_same_for_an_account_that_has_not_accepted(
        self, hub: LoopbackHub, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hub.needs_token = "hf_right"
        monkeypatch.setenv("HF_TOKEN", "hf_somebody_else")
        with pytest.raises(DatasetError, match=r"accept its terms .* 403"):
            find_dataset(GATED, data)

    def test_the_token_opens_it_is_a_secret_and_goes_to_the_hub_only(
        self, hub: LoopbackHub, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hub.needs_token = "hf_right_token"
        monkeypatch.setenv("HF_TOKEN", "hf_right_token")
        fetch_dataset(GATED, data, quiet)
        assert SECRETS.redact("the token hf_right_token") == "the token [secret]"
        sent = {path.split("/")[1]: headers.get("authorization") for path, headers in hub.requests}
        assert sent == {"api": "Bearer hf_right_token", "datasets": "Bearer hf_right_token", "store": None}

    @pytest.mark.parametrize(
        ("status", "said"), [(401, "HF_TOKEN"), (403, "HF_TOKEN"), (503, "try again later")]
    )
    def test_other_refusals_are_one_line_too(
        self, status: int, said: str, hub: LoopbackHub, data: Path
    ) -> None:
        hub.refusal = status
        with pytest.raises(DatasetError, match=rf"{status}.*{said}"):
            fetch_dataset(QUIZ, data, quiet)


class TestFaults:
    def test_a_transfer_that_breaks_off_is_taken_up_where_it_broke(
        self, hub: LoopbackHub, data: Path
    ) -> None:
        hub.cut_transfers = 2
        fetch_dataset(QUIZ, data, quiet)
        ranges = [
            headers["range"]
            for path, headers in hub.requests
            if path.startswith("/store") and "range" in headers
        ]
        half = len(QUIZ_FILES[TEST_FILE]) // 2
        assert ranges[0] == f"bytes={half}-"
        assert (data / "O" / "N" / TEST_FILE).read_bytes() == QUIZ_FILES[TEST_FILE]

    def test_a_server_without_ranges_starts_again(self, hub: LoopbackHub, data: Path) -> None:
        hub.cut_transfers, hub.ignores_ranges = 1, True
        assert questions(find_dataset(QUIZ, data).rows()) == ["the test question"]

    def test_one_that_always_breaks_off_leaves_nothing(self, hub: LoopbackHub, data: Path) -> None:
        hub.cut_transfers = 99
        with pytest.raises(client.HubUnavailable):
            fetch_dataset(QUIZ, data, quiet)
        assert left_behind(data) == []

    def test_bytes_that_are_not_those_of_the_commit_are_refused(self, hub: LoopbackHub, data: Path) -> None:
        hub.corrupts = True
        with pytest.raises(DatasetError, match="differs from what the hub lists"):
            fetch_dataset(QUIZ, data, quiet)
        assert left_behind(data) == []

    @pytest.mark.usefixtures("short_patience")
    def test_a_silent_hub_is_given_up_soon(self, hub: LoopbackHub, data: Path) -> None:
        hub.silent = True
        started = monotonic()
        # the library's own patience ends first, or ours, whichever thread the machine lets run
        with pytest.raises(
            DatasetNotFound, match=r"(cannot be reached|does not answer).*benchwright fetch quiz"
        ):
            find_dataset(QUIZ, data)
        assert monotonic() - started < 3

    @pytest.mark.usefixtures("short_patience", "hub_client")
    def test_so_is_a_name_that_cannot_be_looked_up(self, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ended = Event()

        def look_up_for_ever(*args: object, **kwargs: object) -> None:
            ended.wait(20)
            raise OSError("no such host")

        monkeypatch.setenv("HF_ENDPOINT", "http://hub.example")
        monkeypatch.setattr(socket, "getaddrinfo", look_up_for_ever)
        try:
            with pytest.raises(DatasetNotFound, match="does not answer"):
                find_dataset(QUIZ, data)
        finally:
            ended.set()

    @pytest.mark.usefixtures("hub_client")
    def test_a_closed_port_is_told_at_once(self, data: Path) -> None:
        started = monotonic()
        with pytest.raises(DatasetNotFound, match=r"cannot be reached.*benchwright fetch quiz"):
            find_dataset(QUIZ, data)
        assert monotonic() - started < 3
        assert not data.exists()

    def test_a_login_page_is_no_hub(self, hub: LoopbackHub, data: Path) -> None:
        hub.garbage = True
        with pytest.raises(DatasetNotFound, match="does not answer like the hub"):
            find_dataset(QUIZ, data)

    def test_two_fetches_at_once_both_end_well(self, hub: LoopbackHub, data: Path) -> None:
        def meanwhile(line: str) -> None:
            if DEV_FILE in line:
                fetch_dataset(QUIZ, data, quiet)

        fetch_dataset(QUIZ, data, meanwhile)
        assert questions(find_dataset(QUIZ, data, offline=True).rows()) == ["the test question"]
        assert not list(data.glob(".fetching-*"))

    def test_an_interrupted_fetch_leaves_nothing(self, hub: LoopbackHub, data: Path) -> None:
        def interrupt(line: str) -> None:
            if DEV_FILE in line:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fetch_dataset(QUIZ, data, interrupt)
        assert left_behind(data) == []


class TestWhatLiesThere:
    def test_a_changed_file_is_noticed_when_it_is_read(self, hub: LoopbackHub, data: Path) -> None:
        directory = fetch_dataset(QUIZ, data, quiet)
        lay(directory, {TEST_FILE: question("another question")})
        with pytest.raises(DatasetParseError, match="has changed since it was fetched"):
            list(find_dataset(QUIZ, data).rows())

    @pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"{}\n")])
    def test_and_fetched_anew_by_the_command(
        self, damage: Callable[[Path], object], hub: LoopbackHub, data: Path
    ) -> None:
        directory = fetch_dataset(QUIZ, data, quiet)
        damage(directory / TEST_FILE)
        fetch_dataset(QUIZ, data, quiet)
        assert (directory / TEST_FILE).read_bytes() == QUIZ_FILES[TEST_FILE]

    def test_files_of_the_users_own_are_never_replaced(self, hub: LoopbackHub, data: Path) -> None:
        lay(data / "O" / "N", {"mine.jsonl": b""})
        with pytest.raises(DatasetError, match="move them away"):
            fetch_dataset(QUIZ, data, quiet)
        assert (data / "O" / "N" / "mine.jsonl").exists()

    def test_a_manifest_that_cannot_be_read_is_told(self, hub: LoopbackHub, data: Path) -> None:
        lay(fetch_dataset(QUIZ, data, quiet), {"fetched.json": b"{"})
        with pytest.raises(DatasetParseError, match="fetch it again"):
            find_dataset(QUIZ, data)

    def test_a_data_directory_that_cannot_be_written_is_told(self, hub: LoopbackHub, data: Path) -> None:
        data.write_bytes(b"a file, not a directory")
        with pytest.raises(DatasetError, match="quiz cannot be fetched into"):
            fetch_dataset(QUIZ, data, quiet)


def in_a_fresh_interpreter(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_huggingface_hub_the_extra_is_named(data: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['huggingface_hub'] = None\n"
        "from benchwright.data.datasets import Dataset, HubRepository, find_dataset\n"
        "try:\n"
        f"    find_dataset(Dataset('quiz', {{'test': ('x',)}}, HubRepository('O/N')), {str(data)!r})\n"
        "except Exception as error:\n"
        "    print(error)\n"
    )
    assert "pip install 'benchwright[hub]'" in in_a_fresh_interpreter(code).stdout


def test_neither_huggingface_hub_nor_pyarrow_is_imported_to_find_what_is_there(
    hub: LoopbackHub, data: Path
) -> None:
    fetch_dataset(QUIZ, data, quiet)
    code = (
        "import sys\n"
        "from benchwright.data.datasets import Dataset, HubRepository, find_dataset\n"
        f"quiz = Dataset('quiz', {QUIZ.splits!r}, HubRepository('O/N', {COMMIT!r}))\n"
        f"rows = list(find_dataset(quiz, {str(data)!r}).rows())\n"
        "print(len(rows), sorted({'huggingface_hub', 'httpx', 'pyarrow'} & set(sys.modules)))\n"
    )
    assert in_a_fresh_interpreter(code).stdout == "1 []\n"
