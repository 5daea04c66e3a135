"""tmux for containers: this machine's tmux, with its libraries and loader, so that an image needs no tmux.

Programs in the terminal are the image's own. Only tmux itself is started by this machine's loader.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from filelock import FileLock

from benchwright.errors import UserError
from benchwright.home import agents_directory
from benchwright.recipes.python_runtime import LIBRARIES_FOLDER, LOADER_FILE, copy_libraries
from benchwright.runs.keys import fingerprint

TMUX_PROGRAM = "tmux"
TMUX_LOCALE = "C.utf8"
"""A UTF-8 locale, without which tmux does not start."""
_LOCALES = Path("/usr/lib/locale")
INSTALL_ADVICE = "install it (Debian and Ubuntu: `apt-get install tmux`)"


def tmux_layer() -> Path:
    """Return the directory with tmux (about 4 MB). The directory is created on first use.

    Raises:
        UserError: If this machine has no tmux, or if its tmux is not linked dynamically.
    """
    found = shutil.which(TMUX_PROGRAM)
    if found is None:
        raise UserError(f"This agent works in tmux, but there is none on this machine: {INSTALL_ADVICE}.")
    program = Path(found).resolve()
    directory = (
        agents_directory() / f"{TMUX_PROGRAM}-{fingerprint(str(program), program.stat().st_mtime_ns)[:12]}"
    )
    directory.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(directory.with_name(f"{directory.name}.lock")):
        if not (directory / LOADER_FILE).exists():
            shutil.rmtree(directory, ignore_errors=True)
            _make(directory, program)
    return directory


def tmux_command(layer: str) -> list[str]:
    """Return the command of tmux for a container in which the directory with tmux is mounted at the path `layer`.

    Programs that tmux starts should not inherit LOCPATH.
    """
    return [
        "env",
        f"LOCPATH={layer}/locale",
        f"{layer}/{LOADER_FILE}",
        "--library-path",
        f"{layer}/{LIBRARIES_FOLDER}",
        f"{layer}/{TMUX_PROGRAM}",
    ]


def tmux_version() -> str | None:
    """Return the version of this machine's tmux, as text (`tmux 3.4`). Return None if it has no tmux."""
    try:
        ended = subprocess.run([TMUX_PROGRAM, "-V"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout.strip() or None


def _make(directory: Path, program: Path) -> None:
    directory.mkdir()
    shutil.copy(program, directory / TMUX_PROGRAM)
    loader = copy_libraries([program], directory / LIBRARIES_FOLDER) if shutil.which("ldd") else None
    if loader is None or not (_LOCALES / TMUX_LOCALE).is_dir():
        shutil.rmtree(directory)
        raise UserError(
            "tmux in containers needs a dynamically linked tmux for Linux, `ldd`, and the locale C.UTF-8 of glibc."
        )
    shutil.copytree(_LOCALES / TMUX_LOCALE, directory / "locale" / TMUX_LOCALE)
    shutil.copy(loader, directory / LOADER_FILE)
