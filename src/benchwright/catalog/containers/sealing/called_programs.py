"""Programs that tests call, and the folders of `PATH` that contain them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from benchwright.records import Record

MAX_FILE_BYTES = 256 * 1024
MAX_TOTAL_BYTES = 8 * 1024 * 1024
"""`MAX_FILE_BYTES`: maximum size in bytes of a test file that is searched for names of programs.

`MAX_TOTAL_BYTES`: maximum number of bytes of all searched test files together. Larger files are skipped: they are
data, which call no programs.
"""

_WORD = re.compile(r"[A-Za-z_][\w.+-]*")
_INSTALLS = re.compile(
    r"^.*\b(?:apt|apt-get|aptitude|apk|dnf|yum|pip\d?|uv|npm|pnpm|yarn|cargo|gem|go|conda|mamba|brew)\b.*"
    r"\b(?:install|add|get|-i)\b(.*)$",
    re.MULTILINE,
)
_FOLDERS = re.compile(r"\bPATH=(\S+)")
_HOMES = re.compile(r"\$\{?HOME\}?|~(?=/)")
_SEEN_BY_NOBODY = ("/dev/", "/proc/", "/sys/")


class CalledPrograms(Record, frozen=True):
    """The programs that tests call by name.

    - `test_words`: the words in the test files.
    - `installed_words`: the words that follow installation commands in the test scripts.
    - `program_folders`: the folders in which programs are searched.
    - `image_programs`: the names for which the image has a program in one of these folders.
    """

    test_words: frozenset[str] = frozenset()
    installed_words: frozenset[str] = frozenset()
    program_folders: tuple[str, ...] = ()
    image_programs: frozenset[str] = frozenset()


def scripts_in(texts: Mapping[str, str]) -> str:
    """Return all shell scripts among the test files as one text. Continued lines are joined."""
    joined = "\n".join(text for name, text in texts.items() if name.endswith((".sh", ".bash")))
    return joined.replace("\\\n", " ")


def read_test_texts(folder: Path, places: Iterable[str]) -> dict[str, str]:
    """Return the texts of the test files at these places in a task's folder, keyed by relative path."""
    texts: dict[str, str] = {}
    left = MAX_TOTAL_BYTES
    for file in _files(folder, places):
        size = file.stat().st_size
        if size > min(MAX_FILE_BYTES, left):
            continue
        try:
            texts[str(file.relative_to(folder))] = file.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        left -= size
    return texts


def find_called_programs(texts: Mapping[str, str], path: Iterable[str], directory: str) -> CalledPrograms:
    """Return the programs that tests call. `texts`: the test files, keyed by path.

    `path`: the values of `PATH` with which the tests run. `directory`: the folder to which relative folders
    in `PATH` refer.
    """
    scripts = scripts_in(texts)
    words = frozenset(word for text in texts.values() for word in _WORD.findall(text))
    installed = frozenset(word for line in _INSTALLS.findall(scripts) for word in _WORD.findall(line))
    return CalledPrograms(words, installed, folders_in([*path, *_FOLDERS.findall(scripts)], directory))


def folders_in(path: Iterable[str], directory: str, home: str = "/root") -> tuple[str, ...]:
    """Return the folders in several values of `PATH`, without duplicates.

    Relative folders are taken as below `directory`.
    """
    found: dict[str, None] = {}
    for value in path:
        for entry in value.strip("\"'").split(":"):
            entry = _HOMES.sub(home, entry)
            if entry and "$" not in entry:
                found[posixpath.normpath(posixpath.join(directory, entry))] = None
    return tuple(found)


def find_visible_path(path: str) -> str:
    """Return a value of `PATH` without folders that the engine cannot see and no image contains, such as /proc/."""
    return ":".join(entry for entry in path.split(":") if not entry.startswith(_SEEN_BY_NOBODY))


def paths_in_folders(names: Collection[str], folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, path) for each path at which a program with one of these names could be."""
    return ((name, posixpath.join(folder, name)) for folder in folders for name in names)


def _files(folder: Path, places: Iterable[str]) -> Iterator[Path]:
    for place in places:
        start = folder / place
        for file in sorted([start, *start.rglob("*")]):
            if file.is_file():
                yield file
