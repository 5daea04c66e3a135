"""Installs a locked requirements file into the environment of the Python that runs this.

If pip refuses, one line says which package moved and what to do, in place of pip's own lines, which end with a hash or
blame the reader. It needs nothing but Python: `make setup` runs it first of all in the new environment.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# The file names every package, so pip has nothing to resolve (where it would stumble over extras); what is imported is
# compiled then.
PIP = (
    *("-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
    *("--no-compile", "--no-deps", "--require-hashes", "--requirement"),
)
ANOTHER_FILE = re.compile(
    r"^ +(?P<name>[\w.\[\]-]+)==(?P<version>\S+) .*\n(?:.*\n)*?.*Got +(?P<got>[0-9a-f]{64})", re.M
)
NOT_THERE = re.compile(r"No matching distribution found for (?P<name>[\w.-]+)\S*?==(?P<version>\S+)")


def main(requirements: str) -> int:
    """Install the file; return pip's exit status."""
    ended = subprocess.run([sys.executable, *PIP, requirements], stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        print(reason(requirements, ended.stderr), file=sys.stderr, flush=True)
    return ended.returncode


def reason(requirements: str, said: str) -> str:
    """Return one line on a package that moved, or what pip said if none did."""
    file = Path(requirements)
    if found := ANOTHER_FILE.search(said):
        why = (
            f"the index has another file of {found['name']} {found['version']} than the locked one "
            f"(its sha256 is {found['got'][:12]}…)"
        )
    elif found := NOT_THERE.search(said):
        why = f"the index has no {found['name']} {found['version']} for this Python and machine"
    else:
        return said.rstrip()
    package = re.sub(r"\[.*", "", found["name"])
    return (
        f"Error: {file.parent.name}/{file.name}: {why}. Nothing was installed: take a new version by "
        f"`make requirements ONLY={file.stem} PACKAGES={package}`, and look at what changed before you commit it."
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
