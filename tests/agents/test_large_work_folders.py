"""Whatever an agent leaves in its folders, its trial ends as it did, and other trials go on meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.agents.outside_kit import Ran, run_trial, write_rows
from tests.recipes.recipe_kit import write_recipe

from benchwright.agents import recipe_task as module
from benchwright.agents.recipe_task import recipe_task
from benchwright.recipes.collected_files import files_below, texts_below
from benchwright.recipes.recipe import read_recipe
from benchwright.records import Status


async def run(tmp_path: Path, program: str, **recipe: Any) -> Ran:
    """Run one trial of an agent that asks its model and then does this."""
    path = write_recipe(
        tmp_path / "recipes", f"ask([{{'role': 'user', 'content': 'Hi'}}])\n{program}", **recipe
    )
    rows = write_rows(tmp_path / "rows.jsonl", {"question": "Hello", "answer": "Hello"})
    return await run_trial(recipe_task(rows, read_recipe(path), ()))


LEFT = {
    "folders nested 3,000 deep": "for _ in range(3000): os.mkdir('d'); os.chdir('d')\nopen('deep.txt', 'w').close()",
    "a folder that may not be written to": "os.mkdir('d'); open('d/f', 'w').close(); os.chmod('d', 0o500)",
    "a folder that may not be read": "os.mkdir('d'); os.chmod('d', 0)",
    "a pipe": "os.mkfifo('pipe')",
    "a socket": "import socket; socket.socket(socket.AF_UNIX).bind('socket')",
    "links in a circle": "os.symlink('.', 'here'); os.symlink('b', 'a'); os.symlink('a', 'b')",
    "a link to everything": "os.symlink('/', 'all')",
    "a name that is no text": "open(b'\\xff.txt', 'w').close()",
    "a sparse file of a terabyte": "os.truncate(os.open('large', os.O_CREAT | os.O_WRONLY), 10**12)",
}


@pytest.mark.parametrize("left", LEFT)
async def test_what_cannot_be_kept_is_no_failure_of_the_trial(
    tmp_path: Path, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "places").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "places"))
    ran = await run(tmp_path, f"open('kept.txt', 'w').write('kept')\n{LEFT[left]}")
    assert ran.record.status is Status.ANSWERED
    assert ran.body.artifacts["files"]["kept.txt"] == "kept"
    assert list((tmp_path / "places").iterdir()) == [], "nothing is left on the disk"


async def test_a_link_in_the_place_of_its_folders_is_not_followed(tmp_path: Path) -> None:
    """Else files of the user's would be kept with the trial, or removed after it."""
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "ours.txt").write_text("ours")
    program = f"""
import shutil
for place in (os.environ["HOME"], os.getcwd()):
    shutil.rmtree(place)
    os.symlink({str(ours)!r}, place)
"""
    ran = await run(tmp_path, program, records=["*.txt"])
    assert (ran.body.artifacts["files"], ran.body.artifacts["records"]) == ({}, {})
    assert (ours / "ours.txt").read_text() == "ours"


async def test_a_folder_with_many_files_is_not_kept_and_the_trial_says_so(tmp_path: Path) -> None:
    ran = await run(tmp_path, "for number in range(2000): open(f'{number}.txt', 'w').close()")
    assert (ran.record.status, ran.body.artifacts["files"]) == (Status.ANSWERED, {})
    assert ran.record.notes == ["the work folder has more than 500 files; none is kept"]


async def test_the_event_loop_does_not_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def note(name: str) -> None:
        real = getattr(module, name)

        def noting(*arguments: object, **options: object) -> object:
            threads.append((name, threading.current_thread() is threading.main_thread()))
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, noting)

    for name in ("files_below", "texts_of", "texts_below", "_remove"):
        note(name)
    await run(tmp_path, "")
    assert dict(threads) == dict.fromkeys(("files_below", "texts_of", "texts_below", "_remove"), False)


def test_patterns_are_of_names_and_of_any_folders(tmp_path: Path) -> None:
    for name in (
        ".codex/sessions/1.jsonl",
        ".codex/sessions/2026/11/2.jsonl",
        "a.md",
        "b/a.md",
        "b/.git/config",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert files_below(tmp_path, [".codex/sessions/**/*.jsonl"]) == [
        ".codex/sessions/1.jsonl",
        ".codex/sessions/2026/11/2.jsonl",
    ]
    assert files_below(tmp_path, ["*.md"]) == ["a.md"]
    assert list(texts_below(tmp_path, ["**/*"], without=[".git", ".codex"])) == ["a.md", "b/a.md"]
    assert files_below(tmp_path / "missing", ["**/*"]) == []


def test_a_folder_without_end_is_looked_at_for_so_long_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.recipes.collected_files.MAX_PATHS_EXAMINED", 10)
    for number in range(30):
        (tmp_path / str(number)).touch()
    assert len(files_below(tmp_path, ["**/*"])) == 10
