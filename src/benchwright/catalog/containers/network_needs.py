"""Network needs of shell scripts, found in their text: programs that download, and hosts that scripts name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from benchwright.records import Record
from benchwright.sandbox.egress import PACKAGE_MIRRORS, host_problem

MAX_FILE_BYTES = 256 * 1024
"""Maximum size in bytes of a file that is read. Larger files are skipped."""

_URL = re.compile(r"\b(?:https?|git)://(?:[^\s/@\"']*@)?([A-Za-z0-9_.-]+)")
_BEGINS = r"(?:^|[;&|(]|\b(?:then|do|else|sudo)\b)\s*(?:\w+=\S+\s+)*(?:sudo\s+(?:-\S+\s+)*)?"
_FETCHES = re.compile(
    rf"""{_BEGINS}(?P<program>
      apt(?:-get)?(?=(?:\s+-\S+)*\s+(?:update|install)\b)
    | apk(?=(?:\s+-\S+)*\s+(?:add|update)\b)
    | (?:(?:uv|python3?(?:\.\d+)?\s+-m)\s+)?pip3?(?=\s+install\b)
    | uvx\b | uv(?=\s+(?:run|add|sync|tool|python|init|venv)\b)
    | npm(?=\s+(?:ci|i|install)\b) | npx\b | yarn(?=\s+(?:add|install)\b)
    | go(?=\s+(?:get|install|mod\s+download)\b)
    | cargo(?=\s+(?:install|add|fetch)\b)
    | git(?=\s+clone\s+.*://)
    | (?:curl|wget)(?=\s.*https?://)
    )""",
    re.VERBOSE,
)
_OFFLINE = re.compile(r"--no-index|--offline|\bUV_OFFLINE=|\blocalhost\b|127\.0\.0\.1|\bfile://")
_USUAL = {
    "pip": PACKAGE_MIRRORS["PyPI"],
    "uv": (*PACKAGE_MIRRORS["PyPI"], "astral.sh"),
    "apt": (*PACKAGE_MIRRORS["Debian"], *PACKAGE_MIRRORS["Ubuntu"]),
    "apk": PACKAGE_MIRRORS["Alpine"],
    "npm": PACKAGE_MIRRORS["npm"],
    "go": PACKAGE_MIRRORS["Go modules and checksums"],
    "cargo": PACKAGE_MIRRORS["crates and Rust toolchains"],
}
"""Mapping from a program to the hosts that it contacts if its command names no host.

uv loads Python versions from the host of its installer.
"""
_KINDS = {"uvx": "uv", "apt-get": "apt", "pip3": "pip", "npx": "npm", "yarn": "npm"}


NetworkClosedBy = Literal["", "option", "task"]


class NetworkNeeds(Record, frozen=True):
    """Network needs of scripts: the programs that download, by command name, and the hosts that these programs contact.

    `closed_by`: what turns the network off in spite of these needs. It is `option` (the user's network
    option), `task` (the task's own settings), or "" if nothing turns it off.
    """

    programs: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    closed_by: NetworkClosedBy = ""


def find_network_needs(scripts: Iterable[str]) -> NetworkNeeds:
    """Return the network needs of shell scripts. Comments, and lines that work offline, are ignored."""
    programs: dict[str, None] = {}
    hosts: dict[str, None] = {}
    for script in scripts:
        if re.search(r"^\s*(?:export\s+)?UV_OFFLINE=", script, re.MULTILINE):
            continue
        for line in script.replace("\\\n", " ").splitlines():
            if line.lstrip().startswith("#") or _OFFLINE.search(line):
                continue
            for found in _FETCHES.finditer(line):
                word = found["program"].split()[-1]
                programs[word] = None
                hosts.update(dict.fromkeys(_USUAL.get(_KINDS.get(word, word), ())))
                hosts.update(dict.fromkeys(hosts_in(line)))
    return NetworkNeeds(tuple(programs), tuple(hosts))


def hosts_in(text: str) -> tuple[str, ...]:
    """Return the hosts in a text's URLs, each once."""
    named = (found[1].lower().strip(".") for found in _URL.finditer(text))
    return tuple(dict.fromkeys(host for host in named if host_problem(host) is None))


def read_texts_below(places: Iterable[Path], only: str = "") -> Iterator[str]:
    """Yield the texts of the files at `places`, and of all files in the folders at `places`.

    Only files whose names end with `only` are read.

    Files that are large or not text are skipped.
    """
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            try:
                if (
                    not path.name.endswith(only)
                    or path.is_symlink()
                    or not path.is_file()
                    or path.stat().st_size > MAX_FILE_BYTES
                ):
                    continue
                yield path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
