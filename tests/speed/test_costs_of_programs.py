"""What is said of a program that was run: its own memory, and the CPU of all that it started.

In a process of their own, because watching programs adopts the orphans of all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BUSY = "import time\nwhile time.process_time() < 0.4: pass"


def watched(program: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_memory_is_the_programs_and_not_that_of_who_started_it() -> None:
    memory = watched(
        "import json\nfrom benchmarks.children import run\nheld = bytearray(300_000_000)\n"
        "print(json.dumps(run(['-c', 'import time; held = bytearray(40_000_000); time.sleep(0.2)']).memory))"
    )
    assert 40 < memory < 100


@pytest.mark.parametrize("waited", [True, False], ids=["waited for", "left behind"])
def test_the_cpu_of_what_a_program_starts_counts(waited: bool) -> None:
    child = f"import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {BUSY!r}])\n"
    program = child + ("child.wait()" if waited else "import os; os._exit(0)")
    cpu = watched(
        f"import json\nfrom benchmarks.children import run\nprint(json.dumps(run(['-c', {program!r}]).cpu))"
    )
    assert cpu >= 0.4


def test_a_program_that_fails_is_an_error_that_says_what_it_said() -> None:
    told = watched(
        "import json\nfrom benchmarks.children import run\n"
        "try: run(['-c', 'raise SystemExit(\"no endpoint\")'])\n"
        "except RuntimeError as error: print(json.dumps(str(error)))"
    )
    assert "no endpoint" in told


def test_a_program_that_takes_too_long_is_ended_with_what_it_started() -> None:
    sleeper = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(50)'])"
    told = watched(
        "import json, sys\nfrom benchmarks.children import run_program\n"
        f"try: run_program([sys.executable, '-c', {sleeper!r}], longest=0.5)\n"
        "except RuntimeError as error: print(json.dumps(str(error)))"
    )
    assert "took longer than 0.5 s" in told


def test_connections_are_counted_even_when_they_are_closed() -> None:
    opened = watched(
        "import json, socket\nfrom benchmarks.processes import connections_opened\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "for _ in range(3):\n"
        "    client = socket.create_connection(server.getsockname())\n"
        "    server.accept()[0].close()\n"
        "    client.close()\n"
        "held = socket.create_connection(server.getsockname())\n"
        "print(json.dumps(connections_opened(f'http://127.0.0.1:{server.getsockname()[1]}/v1')))"
    )
    assert opened == 4
