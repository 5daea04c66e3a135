"""Self-test before a load: measures what this machine's client can handle, against the simulated server.

Client and server run as separate processes, as in a real measurement, with a temporary home directory.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np

from benchwright.analysis.load.records import LoadLevel, LoadReport, SelfTest
from benchwright.endpoint.simulate import read_truth
from benchwright.errors import UserError
from benchwright.python_commands import module_command
from benchwright.records import DECODE_ERRORS
from benchwright.runs.table import read_table
from benchwright.text import Say, make_safe

REQUESTS_IN_FLIGHT = 64
MEASURED_SECONDS = 4.0
TIME_TO_FIRST_TOKEN_MS = 50
TIME_BETWEEN_TOKENS_MS = 10
TOKENS_PER_ANSWER = 32

START_TIMEOUT = 30.0
MEASUREMENT_TIMEOUT = 120.0
"""`START_TIMEOUT`: maximum seconds for the server to start. `MEASUREMENT_TIMEOUT`: "
"maximum seconds for a measurement to end."""


def self_test(say: Say) -> SelfTest:
    """Measure for about ten seconds what the client on this machine can handle. Return the figures.

    Requests per second are measured with the smallest possible requests, 64 at once. Chunks per second are computed
    for one core, from the processor time of 64 streams with a token every 10 ms. The error of the TTFT (time to
    first token) is measured with the same streams. It is the difference between the client's value and the value in
    the server's log.

    Raises:
        UserError: If the simulated server or the client did not run.
    """
    say(
        f"Self-test: {REQUESTS_IN_FLIGHT} at once against a simulated server, about {3 * MEASURED_SECONDS:.0f} s."
    )
    with tempfile.TemporaryDirectory(prefix="benchwright-") as name:
        directory = Path(name)
        with _server(directory, "--words", "1") as url:
            small = _measured(directory, url, "--no-stream")
        options = [
            "--first-token",
            str(TIME_TO_FIRST_TOKEN_MS),
            "--between-tokens",
            str(TIME_BETWEEN_TOKENS_MS),
        ]
        with _server(directory, "--words", str(TOKENS_PER_ANSWER), *options) as url:
            streams = _measured(directory, url)
        return _read(directory, small, streams)


def capacity_warnings(found: SelfTest, levels: Sequence[LoadLevel]) -> list[str]:
    """Return a warning for each load level that exceeds what this machine can handle."""
    return [
        f"{level.name} is beyond what this machine can measure ({found.requests:,.0f} requests/s): its figures will be "
        "those of the client"
        for level in levels
        if level.rate is not None and level.rate > found.requests
    ]


def _read(directory: Path, small: LoadReport, streams: LoadReport) -> SelfTest:
    (level,) = streams.levels
    table = read_table(directory / "runs" / level.run, effort=True)
    said = {
        request.id: request
        for trial in table.read_trials(range(len(table)))
        for request in trial.record.requests
        if request.ttft is not None
    }
    errors = [
        (request.ttft - (truth.first_token - truth.received)) / 1e6
        for truth in read_truth(directory / "truth.jsonl")
        if (request := said.get(truth.id)) is not None and request.ttft is not None
    ]
    if not errors or small.levels[0].achieved is None:
        raise UserError("The self-test found nothing: the simulated server answered too few requests.")
    chunks = sum(request.chunks for request in said.values())
    middle, late = np.percentile(errors, [50, 99])
    busy = level.cpu_share * table.sessions.wall_seconds
    return SelfTest(
        requests=small.levels[0].achieved.value,
        chunks=chunks / busy if busy else 0.0,
        ttft_error_p50=float(middle) / 1e3,
        ttft_error_p99=float(late) / 1e3,
    )


@contextmanager
def _server(directory: Path, *options: str) -> Iterator[str]:
    """Start a simulated server in a separate process, and yield its URL. Stop the server on exit.

    The server logs the true times of its responses to a new file in `directory`. `options`: the server's
    command-line options.
    """
    port_file, truth = directory / "port", directory / "truth.jsonl"
    port_file.unlink(missing_ok=True)
    truth.unlink(missing_ok=True)
    command = module_command(
        *("benchwright", "simulate", "--port", "0", "--port-file", str(port_file), "--log", str(truth)),
        *("--policy", "words", *options),
    )
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_TIMEOUT
        while not port_file.exists():
            if server.poll() is not None or time.monotonic() > end:
                raise UserError(
                    "The simulated server of the self-test did not start: run `benchwright doctor`."
                )
            time.sleep(0.02)
        yield f"http://127.0.0.1:{int(port_file.read_text())}/v1"
    finally:
        server.terminate()
        server.wait()


def _measured(directory: Path, url: str, *options: str) -> LoadReport:
    command = module_command(
        *("benchwright", "load", "--model", "simulated", "--base-url", url, "--synthetic-input", "16"),
        *(
            "--concurrency",
            str(REQUESTS_IN_FLIGHT),
            "--duration",
            str(MEASURED_SECONDS),
            "--no-metrics",
            "--json",
            "--quiet",
        ),
        *options,
    )
    own = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWRIGHT_")}
    ended = subprocess.run(
        command,
        capture_output=True,
        env={**own, "BENCHWRIGHT_HOME": str(directory)},
        cwd=directory,
        timeout=MEASUREMENT_TIMEOUT,
        check=False,
    )
    try:
        return msgspec.json.decode(ended.stdout, type=LoadReport)
    except DECODE_ERRORS:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UserError(f"The client of the self-test did not run: {make_safe(said)}") from None
