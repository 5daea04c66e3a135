"""What a program in the sandbox cannot see or reach: secrets, the user's files, the network, other processes."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path

import pytest
from tests.sandbox.hostile_kit import run_source

from benchwright.sandbox import LocalSandbox


async def test_no_secret_of_the_environment_gets_in(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    ended = await run_source(sandbox, "import json, os; print(json.dumps(dict(os.environ)))")
    assert set(json.loads(ended.stdout)) <= {
        *("PATH", "HOME", "TMPDIR", "LANG", "PYTHONDONTWRITEBYTECODE", "LC_CTYPE"),
    }


async def test_no_process_in_sight_has_the_secret(
    walled: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    ended = await walled.run(["sh", "-c", "cat /proc/*/environ /proc/*/cmdline"])
    assert b"PATH=" in ended.stdout
    assert b"sk-very-secret" not in ended.stdout


async def test_the_users_files_are_not_there(
    walled: LocalSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "key"
    secret.write_text("sk-very-secret")
    secret.chmod(0o644)
    monkeypatch.chdir(tmp_path)
    paths = [
        str(secret),
        str(Path.home()),
        str(Path(__file__)),
        "/etc/passwd",
        "/etc/shadow",
        "/var",
        str(Path("~root/.ssh").expanduser()),
    ]
    source = f"""
    import os
    for path in {paths!r}:
        try:
            print(sorted(os.listdir(path)) if os.path.isdir(path) else open(path).read())
        except OSError:
            print("nothing")
    """
    ended = await run_source(walled, source)
    lines = ended.stdout.decode().splitlines()
    home = lines.pop(1)
    assert lines == ["nothing"] * (len(paths) - 1)
    # Of the home only the way to the interpreter is there, where it lies in it.
    interpreters = [Path(sys.prefix), Path(sys.base_prefix)]
    below = {
        path.relative_to(Path.home()).parts[0] for path in interpreters if path.is_relative_to(Path.home())
    }
    assert home in ("nothing", repr(sorted(below)))


async def test_nothing_but_the_scratch_space_can_be_written(walled: LocalSandbox) -> None:
    source = f"""
    import os
    for folder in ("/", "/usr/bin", "/etc", "/dev", "/proc/sys/kernel", {sys.base_prefix!r}, {sys.prefix!r}):
        try:
            open(folder + "/new", "w")
            print("written to", folder)
        except OSError:
            pass
    """
    ended = await run_source(walled, source)
    assert (ended.exit_code, ended.stdout) == (0, b"")


async def test_the_interpreter_of_the_caller_is_the_one_within(sandbox: LocalSandbox) -> None:
    ended = await run_source(sandbox, "import sys; print(sys.version)")
    assert ended.stdout.decode().strip() == sys.version.strip()


async def test_it_leaves_nothing_behind(sandbox: LocalSandbox) -> None:
    first = await run_source(sandbox, "import os; os.makedirs('a/' * 300); print(os.getcwd())")
    assert first.exit_code == 0
    second = await run_source(sandbox, "import os; print(sorted(os.listdir()))")
    assert second.stdout == b"['main.py']\n"
    assert not os.path.exists(first.stdout.decode().strip())


async def test_a_server_on_this_machine_cannot_be_reached(sandbox: LocalSandbox) -> None:
    reached = []
    server = await asyncio.start_server(lambda *_: reached.append(True), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    source = f"""
    import socket
    try:
        socket.create_connection(("127.0.0.1", {port}), timeout=2)
        print("reached")
    except OSError:
        print("not reached")
    """
    async with server:
        ended = await run_source(sandbox, source)
    assert ended.stdout == b"not reached\n"
    assert reached == []


async def test_no_packet_leaves(sandbox: LocalSandbox) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        source = f"""
        import socket
        try:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", {listener.getsockname()!r})
        except OSError:
            pass
        """
        await run_source(sandbox, source)
        with pytest.raises(BlockingIOError):
            listener.recv(10)


async def test_an_abstract_socket_of_this_machine_cannot_be_reached(walled: LocalSandbox) -> None:
    name = f"\0benchwright-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        source = f"""
        import socket
        try:
            socket.socket(socket.AF_UNIX).connect({name!r})
            print("reached")
        except OSError:
            print("not reached")
        """
        ended = await run_source(walled, source)
    assert ended.stdout == b"not reached\n"


async def test_a_program_can_serve_itself_over_loopback(walled: LocalSandbox) -> None:
    source = """
    import socket
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            server.accept()[0].sendall(b"hello")
            print(client.recv(5))
    """
    ended = await run_source(walled, source)
    assert ended.stdout == b"b'hello'\n"


async def test_ways_around_the_limits_are_closed(sandbox: LocalSandbox) -> None:
    source = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    for call, *arguments in (
        (libc.unshare, 0x10000000),  # a user namespace, to be root in
        (libc.mount, b"none", b"/tmp", b"tmpfs", 0, b""),
        (libc.ptrace, 16, 1, 0, 0),
        (libc.shmget, 0, 4096, 0o1600),
        (libc.memfd_create, b"x", 0),
    ):
        print(call(*arguments), ctypes.get_errno())
    """
    ended = await run_source(sandbox, source)
    assert ended.stdout.splitlines() == [b"-1 1"] * 5  # EPERM


async def test_it_has_no_privileges(sandbox: LocalSandbox) -> None:
    ended = await sandbox.run(["sh", "-c", "grep -E 'CapEff|CapPrm|NoNewPrivs|Seccomp:' /proc/self/status"])
    lines = dict(line.split(b":\t") for line in ended.stdout.splitlines())
    assert lines == {b"CapPrm": b"0" * 16, b"CapEff": b"0" * 16, b"NoNewPrivs": b"1", b"Seccomp": b"2"}


async def test_nothing_of_the_sandbox_is_left_open(sandbox: LocalSandbox) -> None:
    ended = await sandbox.run(["sh", "-c", "exec ls /proc/self/fd"])
    # 3 is the folder that ls itself reads.
    assert ended.stdout.split() == [b"0", b"1", b"2", b"3"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program another user")
async def test_each_program_is_a_user_of_its_own(sandbox: LocalSandbox) -> None:
    crowd = LocalSandbox(at_once=3, protection=sandbox.isolation_method)
    source = "import os, time; print(os.getuid(), os.getgid(), os.getgroups()); time.sleep(0.5)"
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_source(crowd, source)) for _ in range(3)]
    users = {task.result().stdout.split()[0] for task in tasks}
    assert len(users) == 3
    assert all(int(user) > 10_000 for user in users)
