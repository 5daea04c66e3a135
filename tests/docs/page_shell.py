"""A shell in which the lines of a page are run as its reader pastes them.

`benchwright` and `llm-bench` on its PATH are small programs that have the fork server of this process start the real
one (see `tests.programs`), which takes a quarter of the time of a fresh Python.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.docs.documented_lines import Block, Line
from tests.docs.stand_ins import BY_HAND, OUTCOMES, TYPED
from tests.programs import start_benchwright

SERVERS = (
    "benchwright simulate ",
    "benchwright view",
    "benchwright pack open ",
    "inspect view ",
    "python examples/local_model.py ",
)
"""Beginnings of commands that serve until they are ended."""

START_SECONDS = 60.0
LINE_SECONDS = 300.0

_PROGRAM = """#!{python} -IS
import json, os, signal, socket, sys
connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect({address!r})
start = {{"arguments": sys.argv[1:], "environment": dict(os.environ), "directory": os.getcwd()}}
socket.send_fds(connection, [json.dumps(start).encode() + b"\\n"], [0, 1, 2])
answers = connection.makefile()
number = int(answers.readline())
for one in (signal.SIGINT, signal.SIGTERM):
    signal.signal(one, lambda signal_number, _: os.kill(number, signal_number))
code = int(answers.readline())
sys.exit(code if code >= 0 else 128 - code)
"""


class Failed(Exception):
    """A line ended with an error; the text has the line and what it printed."""


@contextmanager
def forked_programs() -> Iterator[Path]:
    """Yield a folder for PATH with `benchwright` and `llm-bench`, which are forked off when they are started."""
    with tempfile.TemporaryDirectory(prefix="bw-") as folder, socket.socket(socket.AF_UNIX) as door:
        address = f"{folder}/door"
        door.bind(address)
        door.listen()
        programs = Path(folder, "bin")
        programs.mkdir()
        for name in ("benchwright", "llm-bench"):
            (programs / name).write_text(_PROGRAM.format(python=sys.executable, address=address))
            (programs / name).chmod(0o755)
        thread = threading.Thread(target=_answer_the_door, args=[door], daemon=True)
        thread.start()
        try:
            yield programs
        finally:
            door.shutdown(socket.SHUT_RDWR)
            thread.join()


def _answer_the_door(door: socket.socket) -> None:
    while True:
        try:
            connection, _ = door.accept()
        except OSError:
            return
        threading.Thread(target=_start_for, args=[connection], daemon=True).start()


def _start_for(connection: socket.socket) -> None:
    """Start the program with the streams, environment and directory of whoever asks; report its number and its end."""
    with connection:
        message, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        while not message.endswith(b"\n"):
            message += connection.recv(1 << 20)
        start = json.loads(message)
        process = start_benchwright(
            start["arguments"],
            environment=start["environment"],
            directory=Path(start["directory"]),
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
        )
        for stream in streams:
            os.close(stream)
        connection.sendall(f"{process.pid}\n".encode())
        code = process.wait()
        try:
            connection.sendall(f"{code}\n".encode())
        except BrokenPipeError:
            pass


class PageShell:
    """A shell in a directory. `replacements` are texts of the page that are other ones here, such as addresses."""

    def __init__(
        self, directory: Path, variables: Mapping[str, str], replacements: Mapping[str, str]
    ) -> None:
        self.directory = directory
        self._variables = dict(variables)
        self._replacements = replacements
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> PageShell:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            _end(process)

    def run(self, block: Block, mark: str | None = None) -> None:
        """Run the lines of a block that have this mark, by default none, in turn.

        Raises:
            Failed: If a line ends with an error, or if a server does not answer.
        """
        pasted: list[Line] = []
        for line in (line for line in block.lines if line.mark == mark):
            by_hand = [work for sign, work in BY_HAND.items() if sign in line.text]
            serves = line.command.startswith(SERVERS)
            if pasted and (by_hand or serves):
                self._paste(pasted)
                pasted = []
            for work in by_hand:
                work(self.directory)
            if serves:
                self._serve(line)
            else:
                pasted.append(line)
        self._paste(pasted)

    def run_python(self, block: Block) -> None:
        """Run a block of Python as a script.

        Raises:
            Failed: If it ends with an error.
        """
        self._bash(f"{shlex.quote(sys.executable)} -c {shlex.quote(block.text)}", "")

    def _paste(self, lines: list[Line]) -> None:
        text = "\n".join(map(_may_end, lines))
        self._bash(text, "".join(answer for sign, answer in TYPED.items() if sign in text))

    def _bash(self, text: str, typed: str) -> None:
        process = subprocess.Popen(
            ["bash", "-ex", "-c", self._as_here(text)],
            cwd=self.directory,
            env=self._variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(typed, timeout=LINE_SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate()
            raise
        if process.returncode:
            raise Failed(f"{text}\nended with {process.returncode}:\n{out[-1500:]}\n{err[-2500:]}")

    def _serve(self, line: Line) -> None:
        """Start a server and wait until it answers; unless the page starts it with `&`, stop it at once."""
        command = self._as_here(line.command)
        log = self.directory / "server.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-e", "-c", f"exec {command.removesuffix('&')}"],
                cwd=self.directory,
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self._started.append(process)
        words = shlex.split(command)
        _wait_for(int(words[words.index("--port") + 1]), process, line, log)
        if not command.endswith("&"):
            _end(self._started.pop())

    def _as_here(self, text: str) -> str:
        for documented, here in self._replacements.items():
            text = text.replace(documented, here)
        return text


def _may_end(line: Line) -> str:
    """Return a line's text; an exit code that stands in `OUTCOMES` is no failure."""
    codes = [code for sign, code in OUTCOMES.items() if sign in line.text]
    return line.command + "".join(f" || [ $? = {code} ]" for code in codes) if codes else line.text


def _wait_for(port: int, process: subprocess.Popen[bytes], line: Line, log: Path) -> None:
    limit = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < limit:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise Failed(f"{line.text}\ndoes not answer at port {port}:\n{log.read_text(errors='replace')[-2500:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
