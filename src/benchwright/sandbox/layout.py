"""The files of this machine that a sandboxed program can see: system programs, libraries and Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from benchwright.python_commands import interpreter_path
from benchwright.sandbox.limits import Limits

INSIDE_FOLDER = Path(__file__).parent / "inside"

WORK_FOLDER = "/tmp/work"
"""The program's working folder if the sandbox has its own file system."""

_SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share"),
    *("/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
)
_AT_THE_ROOT = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")


def visible_paths() -> list[str]:
    """Return the files and folders that programs can see.

    They are read-only, and have the same paths in the sandbox.
    """
    system = [path for path in _SYSTEM if os.path.exists(path)]
    system += [path for path in _AT_THE_ROOT if os.path.isdir(path) and not os.path.islink(path)]
    python = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(interpreter_path()))]
    added = dict.fromkeys(path for path in python if path not in ("/", "/usr", "/usr/local"))
    return [*system, *added, str(INSIDE_FOLDER)]


def parent_folders(paths: list[str]) -> list[str]:
    """Return the parent folders of these paths, outermost first. They must be created in the sandbox."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(above - {"/"})


def root_links() -> dict[str, str]:
    """Return the links at the root: a mapping from path to target, for /bin and the like if they link into /usr."""
    return {path: os.readlink(path) for path in _AT_THE_ROOT if os.path.islink(path)}


def scratch_folders(limits: Limits) -> dict[str, int]:
    """Return the writable folders: a mapping from the path to the capacity in bytes."""
    return {"/tmp": limits.disk_bytes, "/dev/shm": limits.disk_bytes}


def visible_tree(limits: Limits) -> dict[str, Any]:
    """Return all paths that a program can see, in the format of `inside.namespaces`."""
    return {"shown": visible_paths(), "links": root_links(), "scratch": scratch_folders(limits)}


def program_environment(directory: str) -> dict[str, str]:
    """Return all environment variables of a program that starts in `directory`."""
    programs = [os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "PATH": ":".join(dict.fromkeys(programs)),
        "HOME": directory,
        "TMPDIR": directory,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def module_paths() -> list[str]:
    """Return the folders of installed packages, for Python programs that run without `site`."""
    return [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
