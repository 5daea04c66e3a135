"""Which programs tests call, and where these are found: the words of their files, and the folders of the path."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from benchwright.records import Record

LARGEST = 256 * 1024
MOST_BYTES = 8 * 1024 * 1024
"""Of the files of tests, what is read for words; data is of no interest."""

_WORD = re.compile(r"[A-Za-z_][\w.+-]*")
_INSTALLS = re.compile(
    r"^.*\b(?:apt|apt-get|aptitude|apk|dnf|yum|pip\d?|uv|npm|pnpm|yarn|cargo|gem|go|conda|mamba|brew)\b.*"
    r"\b(?:install|add|get|-i)\b(.*)$",
    re.MULTILINE,
)
_FOLDERS = re.compile(r"\bPATH=(\S+)")
_HOMES = re.compile(r"\$\{?HOME\}?|~(?=/)")
_SEEN_BY_NOBODY = ("/dev/", "/proc/", "/sys/")


class Called(Record, frozen=True):
    """What tests call by name. `words` are those of their files, `installed` those of them that their scripts install,
    `folders` are where programs are looked for, and `there` names programs that the image has in one of these.
    """

    words: frozenset[str] = frozenset()
    installed: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    there: frozenset[str] = frozenset()


def scripts_in(texts: Mapping[str, str]) -> str:
    """The shell scripts of tests in one text, with lines that go on joined."""
    joined = "\n".join(text for name, text in texts.items() if name.endswith((".sh", ".bash")))
    return joined.replace("\\\n", " ")


def texts_of(folder: Path, places: Iterable[str]) -> dict[str, str]:
    """The texts of the files of tests below a task's folder, by their paths in it."""
    texts: dict[str, str] = {}
    left = MOST_BYTES
    for file in _files(folder, places):
        size = file.stat().st_size
        if size > min(LARGEST, left):
            continue
        try:
            texts[str(file.relative_to(folder))] = file.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        left -= size
    return texts


def called_in(texts: Mapping[str, str], path: Iterable[str], directory: str) -> Called:
    """What tests with these texts call, where programs are looked for in the folders of these values of `PATH`."""
    scripts = scripts_in(texts)
    words = frozenset(word for text in texts.values() for word in _WORD.findall(text))
    installed = frozenset(word for line in _INSTALLS.findall(scripts) for word in _WORD.findall(line))
    return Called(words, installed, folders_in([*path, *_FOLDERS.findall(scripts)], directory))


def folders_in(path: Iterable[str], directory: str, home: str = "/root") -> tuple[str, ...]:
    """The folders of several values of `PATH`, each once; relative ones lie in the directory."""
    found: dict[str, None] = {}
    for value in path:
        for entry in value.strip("\"'").split(":"):
            entry = _HOMES.sub(home, entry)
            if entry and "$" not in entry:
                found[posixpath.normpath(posixpath.join(directory, entry))] = None
    return tuple(found)


def visible(path: str) -> str:
    """A value of `PATH` without folders that the engine does not see, where no program of an image lies."""
    return ":".join(entry for entry in path.split(":") if not entry.startswith(_SEEN_BY_NOBODY))


def paths_of(names: Collection[str], folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Where programs of these names would lie, with their names."""
    return ((name, posixpath.join(folder, name)) for folder in folders for name in names)


def _files(folder: Path, places: Iterable[str]) -> Iterator[Path]:
    for place in places:
        start = folder / place
        for file in sorted([start, *start.rglob("*")]):
            if file.is_file():
                yield file
