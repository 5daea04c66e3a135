"""The sandbox of an ordinary user, where the tests run as root: it gets by without any privilege."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import benchwright

ORDINARY_USER = 54321

SOURCE = """
import asyncio, json, os, sys
from benchwright.sandbox import LocalSandbox, choose_isolation_method, run_python

async def main():
    protection = choose_isolation_method(sys.argv[1])
    sandbox = LocalSandbox(protection=protection)
    passed = await run_python(sandbox, "assert 1 + 1 == 2")
    cheated = await run_python(sandbox, "import os; os._exit(0)")
    network = await run_python(
        sandbox, "import socket; socket.create_connection(('192.0.2.1', 80), timeout=2)"
    )
    forks = await run_python(sandbox, "import os\\nwhile os.fork() or True: pass", seconds=0.5)
    ended = await sandbox.run(["id", "-u"])
    reasons = [verdict.reason.split(":")[0] for verdict in (passed, cheated, network, forks)]
    print(json.dumps({"words": protection.description, "reasons": reasons, "user": int(ended.stdout)}))

asyncio.run(main())
"""


def as_ordinary_user(*arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(Path(benchwright.__file__).parents[1]), *sys.path]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    return subprocess.run(
        [os.path.realpath(sys.executable), "-B", "-c", *arguments],
        user=ORDINARY_USER,
        group=ORDINARY_USER,
        extra_groups=[],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
@pytest.mark.parametrize("name", ["bubblewrap", "namespaces", "limits"])
def test_it_holds_without_privileges(name: str) -> None:
    try:
        reachable = as_ordinary_user("import benchwright.sandbox").returncode == 0
    except PermissionError:
        reachable = False
    if not reachable:
        pytest.skip("this Python, or the project, lies in a folder that other users cannot enter")
    done = as_ordinary_user(textwrap.dedent(SOURCE), name)
    if "does not work here" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    found = json.loads(done.stdout)
    assert "the same user" in found["words"]
    assert found["user"] == ORDINARY_USER
    assert found["reasons"] == ["passed", "failed", "failed", "failed"]
