"""What of this machine a program in the sandbox can see: the system's programs and libraries, and Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from benchwright.own_processes import interpreter
from benchwright.sandbox.limits import Limits

INSIDE = Path(__file__).parent / "inside"

WORK = "/tmp/work"
"""Where a program starts and finds its files, where there is a file system of its own."""

_SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share"),
    *("/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
)
_AT_THE_ROOT = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")


def shown() -> list[str]:
    """The files and folders that are shown, read-only, under their own names."""
    system = [path for path in _SYSTEM if os.path.exists(path)]
    system += [path for path in _AT_THE_ROOT if os.path.isdir(path) and not os.path.islink(path)]
    python = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(interpreter()))]
    added = dict.fromkeys(path for path in python if path not in ("/", "/usr", "/usr/local"))
    return [*system, *added, str(INSIDE)]


def folders_above(paths: list[str]) -> list[str]:
    """The folders that have to be made for the paths to lie in, outermost first."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(above - {"/"})


def links() -> dict[str, str]:
    """The links at the root (/bin and the like, where they lead into /usr)."""
    return {path: os.readlink(path) for path in _AT_THE_ROOT if os.path.islink(path)}


def scratch(limits: Limits) -> dict[str, int]:
    """The folders that can be written to, each with the bytes it holds at most."""
    return {"/tmp": limits.disk_bytes, "/dev/shm": limits.disk_bytes}


def view(limits: Limits) -> dict[str, Any]:
    """All of the above, as `inside.namespaces` reads it."""
    return {"shown": shown(), "links": links(), "scratch": scratch(limits)}


def environment(directory: str) -> dict[str, str]:
    """All environment variables that a program gets."""
    programs = [os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "PATH": ":".join(dict.fromkeys(programs)),
        "HOME": directory,
        "TMPDIR": directory,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def module_paths() -> list[str]:
    """The folders of installed packages, for Python programs that are executed without `site`."""
    return [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
