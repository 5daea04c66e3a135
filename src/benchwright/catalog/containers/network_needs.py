"""What scripts need of a network, as far as their text shows it: the programs that fetch, and the hosts they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from benchwright.records import Record
from benchwright.sandbox.egress import MIRRORS, host_problem

LARGEST = 256 * 1024
"""Bytes of a file that is looked through."""

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
    "pip": MIRRORS["PyPI"],
    "uv": (*MIRRORS["PyPI"], "astral.sh"),
    "apt": (*MIRRORS["Debian"], *MIRRORS["Ubuntu"]),
    "apk": MIRRORS["Alpine"],
    "npm": MIRRORS["npm"],
    "go": MIRRORS["Go modules and checksums"],
    "cargo": MIRRORS["crates and Rust toolchains"],
}
"""The hosts that programs ask which name none; uv loads its Pythons from where its installer comes from."""
_KINDS = {"uvx": "uv", "apt-get": "apt", "pip3": "pip", "npx": "npm", "yarn": "npm"}


Closed = Literal["", "option", "task"]


class Needs(Record, frozen=True):
    """The programs of scripts that fetch something, as their words, and the hosts that they ask.

    `closed` says by what those who run the scripts have no network all the same: the user's option, or the task.
    """

    programs: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    closed: Closed = ""


def needs_of(scripts: Iterable[str]) -> Needs:
    """What shell scripts need; lines that work without a network, and comments, need nothing."""
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
    return Needs(tuple(programs), tuple(hosts))


def hosts_in(text: str) -> tuple[str, ...]:
    """The hosts that the URLs of a text name, each once."""
    named = (found[1].lower().strip(".") for found in _URL.finditer(text))
    return tuple(dict.fromkeys(host for host in named if host_problem(host) is None))


def texts_below(places: Iterable[Path], only: str = "") -> Iterator[str]:
    """The texts of files whose names end so, and of those below folders; what is no text or long is passed over."""
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            try:
                if (
                    not path.name.endswith(only)
                    or path.is_symlink()
                    or not path.is_file()
                    or path.stat().st_size > LARGEST
                ):
                    continue
                yield path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
