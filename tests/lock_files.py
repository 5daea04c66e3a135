"""`make requirements`: makes the files requirements/*.txt anew with the newest versions, and prints what changed.

    make requirements                               # every file, all packages
    make requirements ONLY="dev docs"               # these files
    make requirements PACKAGES="numpy aiohttp"      # only these packages, the others stay
    make requirements KEEP=1                        # only what pyproject.toml or an .in file demands now

uv resolves; it lives in .venv-uv. The files name no index host: only versions and hashes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.environments import installed  # noqa: E402 -- found beside this file however it is started

FOLDER = ROOT / "requirements"
LIKE_DEV = ("--constraint", "requirements/dev.txt")
SOURCES: dict[str, tuple[str, ...]] = {
    "dev": ("--extra", "dev", "pyproject.toml"),
    "all": ("--extra", "all", *LIKE_DEV, "pyproject.toml"),
    "ray": ("pyproject.toml", "requirements/ray.in"),
    "fastmcp2": ("--extra", "mcp", "pyproject.toml", "requirements/fastmcp2.in"),
    "fastmcp3": ("--extra", "mcp", "pyproject.toml", "requirements/fastmcp3.in"),
    "xllamacpp": ("--no-deps", "requirements/xllamacpp.in"),
    "transformers": ("--override", "requirements/peer_guidellm.override", "requirements/transformers.in"),
    "peer_guidellm": ("--override", "requirements/peer_guidellm.override", "requirements/peer_guidellm.in"),
    "readers": ("--override", "requirements/readers.override", "requirements/readers.in"),
}
"""What a file is made of, if that is more than its own .in file; dev comes first, all follows it."""

PYTHONS = {"readers": "3.12"}
WITH_TORCH = ("transformers", "peer_guidellm")
"""Files to which the torch for CPUs is added, which uv does not find."""


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Make the files, and print what changed; return 1 if one cannot be made."""
    parser = argparse.ArgumentParser(description="Makes requirements/*.txt anew and prints what changed.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="file, such as dev (default: all)")
    parser.add_argument("--keep", action="store_true", help="change no version that still fits")
    parser.add_argument("--package", action="append", default=[], help="change this package and no other")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in names(folder)]:
        print(f"Error: there is no requirements/{unknown[0]}.txt; there are: {', '.join(names(folder))}")
        return 1
    upgrade = [word for package in options.package for word in ("--upgrade-package", package)]
    if not upgrade and not options.keep:
        upgrade = ["--upgrade"]
    failed = 0
    for name in options.names or names(folder):
        failed += not refresh(folder, name, upgrade)
    return int(bool(failed))


def names(folder: Path) -> list[str]:
    """Return the names of all files, in the order in which they are made."""
    others = sorted(path.stem for path in folder.glob("*.in"))
    known = (name for name in SOURCES if (folder / f"{name}.txt").exists())
    return list(dict.fromkeys([*known, *others]))


def refresh(folder: Path, name: str, upgrade: list[str]) -> bool:
    """Make one file anew and print what changed; return False, with the old file in place, if it cannot be made."""
    file, new = folder / f"{name}.txt", folder / f"{name}.txt.new"
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    new.write_text(before, encoding="utf-8")
    command = [
        *(str(installed("uv") / "uv"), "pip", "compile", "--quiet", "--universal", "--generate-hashes"),
        *("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate", *upgrade),
        *("--python-version", PYTHONS.get(name, "3.11"), *SOURCES.get(name, (f"requirements/{name}.in",))),
    ]
    try:
        ended = subprocess.run(
            [*command, "--output-file", str(new)],
            cwd=folder.parent,
            stderr=subprocess.PIPE,
            text=True,
            stdout=subprocess.DEVNULL,
        )
        if ended.returncode:
            print(f"Error: requirements/{name}.txt cannot be made: {ended.stderr.strip()}", flush=True)
            return False
        if name in WITH_TORCH:
            with new.open("a", encoding="utf-8") as lines:
                lines.write((folder / "peer_guidellm.torch").read_text(encoding="utf-8"))
        shutil.move(new, file)
    finally:
        new.unlink(missing_ok=True)
    found = list(changes(before, file.read_text(encoding="utf-8")))
    print(f"requirements/{name}.txt: {f'{len(found)} changed' if found else 'unchanged'}", flush=True)
    for line in found:
        print(f"  {line}", flush=True)
    return True


def changes(before: str, after: str) -> Iterator[str]:
    """Yield a line for each package that has another version or other files: `package old → new`."""
    old, new = entries(before), entries(after)
    for name in sorted(old.keys() | new.keys()):
        (was, were), (now, are) = old.get(name, ("", "")), new.get(name, ("", ""))
        if was != now:
            yield f"{name} {was or '(new)'} → {now or '(gone)'}"
        elif were != are:
            yield f"{name} {now}: other files"


def entries(text: str) -> dict[str, tuple[str, str]]:
    """Return the versions of each package in a requirements file, with their hashes.

    A package may have several versions, for several Pythons.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, version, hashes in re.findall(r"^([\w.-]+)\S*==(\S+)(.*(?:\n    .*)*)", text, re.M):
        versions, files = found.get(name, ("", ""))
        found[name] = (
            " ".join(filter(None, [versions, version])),
            files + " ".join(sorted(re.findall(r"[0-9a-f]{64}", hashes))),
        )
    return found


if __name__ == "__main__":
    sys.exit(main())
