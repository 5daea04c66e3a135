"""Takes parts of Linux away from a Python process, so that it finds what it would find on another system.

Python imports this module at its start if this folder is on PYTHONPATH. The variable `WITHOUT` names the parts,
separated by commas. Isolated helper processes (`python -I`) keep their parts.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import fcntl
import io
import os
import resource
import shutil
import signal
import socket
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

NAMES: dict[str, list[tuple[Any, str]]] = {
    "TCP_INFO": [(socket, "TCP_INFO")],
    "affinity": [(os, "sched_getaffinity"), (os, "sched_setaffinity")],
    "boot clock": [(time, "CLOCK_BOOTTIME")],
    "fdatasync": [(os, "fdatasync")],
    "pidfd": [(os, "pidfd_open"), (signal, "pidfd_send_signal")],
    "pipe sizes": [(fcntl, "F_SETPIPE_SZ"), (fcntl, "F_GETPIPE_SZ")],
    "urgency": [
        *((os, name) for name in ("sched_getscheduler", "sched_setscheduler", "sched_param", "SCHED_RR")),
        *((os, name) for name in ("SCHED_OTHER", "SCHED_RESET_ON_FORK")),
        (resource, "RLIMIT_RTTIME"),
    ],
}
"""The names that a part has in Python's modules, by part."""

LIBRARY_NAMES = {
    "kernel timer": {"timerfd_create", "timerfd_settime"},
    "mallopt": {"mallopt", "malloc_trim"},
    "prctl": {"prctl", "unshare", "setns", "mount"},
}
"""The names that a part has in the C library, by part."""

FILES = {"cgroups": "/sys/fs/cgroup", "docker socket": "/var/run/docker.sock", "proc": "/proc"}
"""The file, folder or socket that a part consists of, by part."""

PROGRAMS = {"bubblewrap": {"bwrap"}, "docker program": {"docker", "dockerd"}}
"""The programs that a part consists of, by part."""

PARTS = (*NAMES, *LIBRARY_NAMES, *FILES, *PROGRAMS)


def take_names(parts: set[str]) -> None:
    """Delete the names of these parts from Python's modules."""
    for part in parts & NAMES.keys():
        for module, name in NAMES[part]:
            if hasattr(module, name):
                delattr(module, name)


def take_library_names(parts: set[str]) -> None:
    """Let the C library lack the names of these parts."""
    taken: set[str] = set().union(*(LIBRARY_NAMES[part] for part in parts & LIBRARY_NAMES.keys()))

    class Library(ctypes.CDLL):
        def __getattr__(self, name: str) -> Any:
            if name in taken:
                raise AttributeError(name)
            return super().__getattr__(name)

    if taken:
        ctypes.CDLL = Library  # type: ignore[misc]


def take_files(parts: set[str]) -> None:
    """Let the files, folders and sockets of these parts not exist."""
    hidden = [FILES[part] for part in parts & FILES.keys()]

    def check(path: Any) -> None:
        if isinstance(path, (str, os.PathLike)):
            text = os.path.normpath(os.fspath(path))
            if isinstance(text, str) and any(text == one or text.startswith(f"{one}/") for one in hidden):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)

    class Socket(socket.socket):
        def connect(self, address: Any) -> None:
            check(address)
            super().connect(address)

    def hiding(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def replacement(path: Any = ".", *arguments: Any, **named: Any) -> Any:
            check(path)
            return function(path, *arguments, **named)

        return replacement

    if hidden:
        socket.socket = Socket  # type: ignore[misc]
        builtins.open = io.open = hiding(io.open)
        for name in ("open", "stat", "lstat", "scandir", "listdir", "readlink", "access"):
            setattr(os, name, hiding(getattr(os, name)))


def take_programs(parts: set[str]) -> None:
    """Let the programs of these parts not be on the PATH."""
    taken: set[str] = set().union(*(PROGRAMS[part] for part in parts & PROGRAMS.keys()))
    which = shutil.which

    @wraps(which)
    def replacement(command: Any, *arguments: Any, **named: Any) -> Any:
        return None if command in taken else which(command, *arguments, **named)

    if taken:
        shutil.which = replacement  # type: ignore[assignment]


def take_away(parts: set[str]) -> None:
    """Take these parts away from this process."""
    if unknown := parts - set(PARTS):
        raise ValueError(f"unknown parts: {unknown}")
    take_names(parts)
    take_library_names(parts)
    take_files(parts)
    take_programs(parts)


take_away(set(filter(None, os.environ.get("WITHOUT", "").split(","))))
