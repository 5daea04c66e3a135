"""A program that is forked off is what a Python started for it would be."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.programs import Fork, run_benchwright, start_benchwright

Run = Callable[..., subprocess.CompletedProcess[str]]


def really_started(
    arguments: list[str], *, environment: dict[str, str], directory: Path, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchwright", *arguments]
    return subprocess.run(
        command, env=environment, cwd=directory, input=typed, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        (["--version"], ""),
        (["no-such-command"], ""),
        (["runs"], ""),
        (["eval", "cache", "dir"], ""),
        (["eval", "-m", "mine:agent", "-d", "rows.jsonl", "--eval-fn", "mine:f", "--model", "m"], ""),
        (["test", "-m", "mine:agent", "-d", "rows.jsonl", "--model", "m", "--interactive"], "q\n"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_it_says_what_one_that_is_started_says(tmp_path: Path, arguments: list[str], typed: str) -> None:
    (tmp_path / "mine.py").write_text(
        "import os, sys\nprint(sys.argv, sys.path[0], os.getcwd())\nf = len\nagent = 1\n"
    )
    (tmp_path / "rows.jsonl").write_text('{"user_prompt": "a", "system_prompt": "b", "ground_truth": "c"}\n')
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "EMPTY"}
    runs: list[Run] = [run_benchwright, really_started]
    forked, started = (
        run(arguments, environment=environment, directory=tmp_path, typed=typed) for run in runs
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        *(started.returncode, started.stdout),
        started.stderr,
    )


def open_files(process: int) -> set[str]:
    """The files, pipes and sockets that a process has open."""
    found = set()
    for path in list(Path(f"/proc/{process}/fd").iterdir()):
        with suppress(FileNotFoundError):
            found.add(os.readlink(path))
    return {name for name in found if name.startswith(("/", "pipe:", "socket:"))}


def serving(tmp_path: Path, **more: Any) -> subprocess.Popen[str]:
    port = tmp_path / "port"
    arguments = ["simulate", "--port", "0", "--port-file", str(port)]
    nothing = subprocess.DEVNULL
    process = start_benchwright(arguments, stdin=nothing, stdout=nothing, stderr=nothing, **more)
    while not port.exists():
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signals_reach_it_and_its_end_is_told(tmp_path: Path, number: signal.Signals) -> None:
    process = serving(tmp_path)
    assert isinstance(process, Fork)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    assert os.getpgid(process.pid) == os.getpgid(0)
    process.send_signal(number)
    assert process.wait(30) == (-9 if number == signal.SIGKILL else process.returncode)
    assert process.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_no_file_of_ours_is_open_in_it(tmp_path: Path) -> None:
    with (tmp_path / "ours").open("w"), socket.create_server(("127.0.0.1", 0)):
        process = serving(tmp_path)
        shared = open_files(process.pid) & open_files(os.getpid())
        process.kill()
        process.wait()
    assert isinstance(process, Fork)
    assert shared == {os.devnull}


def test_what_python_reads_at_its_start_is_read(tmp_path: Path) -> None:
    process = serving(tmp_path, environment={**os.environ, "PYTHONIOENCODING": "latin-1"})
    process.kill()
    process.wait()
    assert not isinstance(process, Fork)


def test_each_has_its_own_environment_and_directory(tmp_path: Path) -> None:
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.mkdir()
        environment = {**os.environ, "BENCHWRIGHT_HOME": str(home)}
        ended = run_benchwright(["doctor", "--json"], environment=environment, directory=home)
        assert str(home) in json.dumps(json.loads(ended.stdout)), ended.stderr
