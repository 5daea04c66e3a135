"""Starts a sandbox with one program in it, and ensures that all its processes are ended."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import PurePosixPath
from tempfile import mkdtemp
from typing import Any, NamedTuple

from benchwright.errors import ExecutionError
from benchwright.python_commands import standard_library_command
from benchwright.sandbox import layout
from benchwright.sandbox.limits import Limits
from benchwright.sandbox.running_program import RunningProgram

SUPERVISOR_START_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inside.supervisor import main; "
    "del sys.path[0]; main(int(sys.argv[2]))"
)


class Isolation(NamedTuple):
    """How one program is isolated. `user`: the user id under which the program runs; None for the current user."""

    method_name: str
    user: int | None
    limits: Limits


@asynccontextmanager
async def start_program(
    cell: Isolation,
    program: Mapping[str, Any],
    files: Mapping[str, bytes],
    *,
    stdin: bool,
    line_bytes: int = 2**16,
) -> AsyncIterator[RunningProgram]:
    """Start a program in a sandbox. On exit, end all processes of the sandbox.

    `program`: {"argv": [...]} or, for a Python program, {"program": source}. `line_bytes`: the maximum length
    of a line that can be read.

    Raises:
        ExecutionError: If the sandbox or the program did not start.
    """
    directory = _scratch_directory(cell)
    try:
        work = _work(cell, program, files, directory or layout.WORK_FOLDER)
        spawning = asyncio.ensure_future(_spawn(cell, stdin, line_bytes))
        try:
            running = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            await (await spawning).stop()
            raise
        try:
            await running.start(work)
            yield running
        finally:
            await asyncio.shield(running.stop())
    finally:
        if directory:  # it still exists if the supervisor was killed
            await asyncio.shield(_remove(directory))


async def _spawn(cell: Isolation, stdin: bool, line_bytes: int) -> RunningProgram:
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    try:
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=line_bytes, loop=loop),
            *_command(cell, theirs.fileno()),
            stdin=PIPE if stdin else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env={"LANG": "C.UTF-8"},
            cwd="/",
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise ExecutionError(f"the sandbox did not start: {error}") from None
    finally:
        theirs.close()
    return RunningProgram(
        transport, Process(transport, protocol, loop), *await asyncio.open_unix_connection(sock=ours)
    )


def _command(cell: Isolation, descriptor: int) -> list[str]:
    folder = str(layout.INSIDE_FOLDER.parent)
    supervisor = standard_library_command(SUPERVISOR_START_CODE, folder, str(descriptor))
    return [*_bubblewrap(cell.limits), *supervisor] if cell.method_name == "bubblewrap" else supervisor


def _bubblewrap(limits: Limits) -> list[str]:
    arguments = [shutil.which("bwrap") or "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    arguments += ["--unshare-uts", "--die-with-parent", "--as-pid-1"]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    for path, size in layout.scratch_folders(limits).items():
        arguments += ["--size", str(size), "--perms", "1777", "--tmpfs", path]
    for path in layout.parent_folders(layout.visible_paths()):
        arguments += ["--perms", "0755", "--dir", path]
    for path in layout.visible_paths():
        arguments += ["--ro-bind", path, path]
    for path, target in layout.root_links().items():
        arguments += ["--symlink", target, path]
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/", "--"]


def _scratch_directory(cell: Isolation) -> str | None:
    if cell.method_name != "limits":
        return None
    directory = mkdtemp(prefix="benchwright-")
    if cell.user is not None:
        os.chown(directory, cell.user, cell.user)
    return directory


async def _remove(directory: str) -> None:
    """Remove the directory with `rm`, because programs can nest folders too deeply for shutil.rmtree."""
    arguments = ["rm", "-rf", "--", directory]
    await (await asyncio.create_subprocess_exec(*arguments, stdin=DEVNULL, stderr=DEVNULL)).wait()


def _work(
    cell: Isolation, program: Mapping[str, Any], files: Mapping[str, bytes], directory: str
) -> dict[str, Any]:
    """Return the message that is sent to `inside.supervisor`."""
    limits = cell.limits
    processes = limits.processes + _counted_with_it(cell)
    return {
        **program,
        "files": {_relative(name): bytes(content) for name, content in files.items()},
        "paths": layout.module_paths(),
        "directory": directory,
        "environment": layout.program_environment(directory),
        "user": cell.user,
        "own_files": cell.method_name != "limits",
        "own_network": cell.method_name != "limits",
        "enter_namespaces": cell.method_name == "namespaces",
        "view": layout.visible_tree(limits),
        "wall_seconds": limits.wall_seconds,
        "cpu_seconds": limits.cpu_seconds,
        "memory_bytes": limits.memory_bytes,
        "limits": {
            "RLIMIT_CPU": (limits.cpu_seconds, limits.cpu_seconds + 1),
            "RLIMIT_DATA": (limits.memory_bytes, limits.memory_bytes),
            "RLIMIT_FSIZE": (limits.file_bytes, limits.file_bytes),
            "RLIMIT_NOFILE": (limits.open_files, limits.open_files),
            "RLIMIT_NPROC": (processes, processes),
            "RLIMIT_CORE": (0, 0),
            "RLIMIT_MSGQUEUE": (0, 0),
        },
    }


def _counted_with_it(cell: Isolation) -> int:
    """Return how many other processes and threads of the same user count towards the program's limit on processes."""
    if cell.user is not None:
        return 0
    if cell.method_name != "limits":
        return 1  # the supervisor; a user namespace counts from the start
    mine = [entry for entry in os.scandir("/proc") if entry.name.isdecimal() and _is_mine(entry.path)]
    return sum(_threads(entry.path) for entry in mine)


def _is_mine(path: str) -> bool:
    try:
        return os.stat(path).st_uid == os.geteuid()
    except OSError:
        return False


def _threads(path: str) -> int:
    try:
        return len(os.listdir(f"{path}/task"))
    except OSError:
        return 0


def _relative(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ExecutionError(f"a file of the sandbox has no place in its folder: {name!r}")
    return name
