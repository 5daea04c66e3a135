"""Which files a patch changes, and which of them are tests."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TESTED = re.compile(r"diff --git a/.* b/(.*)")
_HEADER = re.compile(r"diff --git a/(.*) b/(.*)")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")

_NO_TESTS = (".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
"""How the names of files end that a test patch brings along and that are no tests."""


def changed_files(patch: str) -> list[str]:
    """The files that a patch changes, removes or renames, under their old names; not those that it adds."""
    return [old for old in _old_names(patch) if old is not None]


def _old_names(patch: str) -> Iterator[str | None]:
    lines = iter(patch.split("\n"))
    pending: str | None = None
    for line in lines:
        header, hunk = _HEADER.match(line), _HUNK.match(line)
        if header:
            yield pending
            pending = header[1]
        elif line.startswith("new file mode") or line == "--- /dev/null":
            pending = None
        elif line.startswith("--- a/"):
            pending = line[len("--- a/") :].partition("\t")[0]
        elif hunk:
            _skip_hunk(lines, *(1 if count is None else int(count) for count in hunk.groups()))
    yield pending


def _skip_hunk(lines: Iterator[str], old: int, new: int) -> None:
    """Lines of a hunk may look like headers, and are not."""
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            return
        old -= line[:1] in ("-", " ", "")
        new -= line[:1] in ("+", " ", "")


def files_to_test(repo: str, test_patch: str) -> list[str]:
    """What is given to the test command: the files of the test patch, as modules for Django's runner."""
    files = [name for name in _TESTED.findall(test_patch) if not name.endswith(_NO_TESTS)]
    return [_module(name) for name in files] if repo == "django/django" else files


def _module(name: str) -> str:
    return name.removesuffix(".py").removeprefix("tests/").replace("/", ".")
