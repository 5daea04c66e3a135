"""The simulated endpoint in a process of its own, for tests that run the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.programs import start_benchwright


@contextmanager
def simulated_endpoint(
    *options: str,
    answers: Sequence[dict[str, Any]] = (),
    scripts: Sequence[dict[str, Any]] = (),
    program: Sequence[str] = (),
) -> Iterator[str]:
    """Starts `benchwright simulate` with these options, answer key and scripts; yields its base URL.

    `program` are the arguments of a Python that starts another server in its place.
    """
    with tempfile.TemporaryDirectory() as directory:
        port_file = Path(directory, "port")
        keyed = []
        for name, entries in (("answers", answers), ("scripts", scripts)):
            if entries:
                path = Path(directory, f"{name}.jsonl")
                path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
                keyed += [f"--{name}", str(path)]
        arguments = ["--port", "0", "--port-file", str(port_file), *keyed, *options]
        process: subprocess.Popen[Any]
        if program:
            command = [sys.executable, *program, *arguments]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        else:
            process = start_benchwright(
                ["simulate", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
        try:
            yield f"http://127.0.0.1:{_port(port_file, process)}/v1"
        finally:
            process.terminate()
            process.communicate(timeout=10)


def _port(file: Path, process: subprocess.Popen[Any]) -> str:
    for _ in range(400):
        if file.exists():
            return file.read_text().strip()
        if process.poll() is not None:
            assert process.stderr is not None
            raise RuntimeError(str(process.stderr.read()))
        time.sleep(0.025)
    raise RuntimeError("the simulated endpoint did not start")
