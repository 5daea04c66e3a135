"""`pack dev`: a scenario is tried again whenever a file of the pack is saved."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.pack_kit import need_node
from tests.programs import start_benchwright

SECONDS = 30.0


class Watching:
    """`pack dev` over a new pack, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes], pack: Path, output: Path) -> None:
        self.process, self._pack, self._output = process, pack, output
        self._read = 0

    def shows(self, *parts: str) -> str:
        """Waits until all of these came since the last time; returns what came."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            came = self._output.read_text()[self._read :]
            if all(part in came for part in parts):
                self._read += len(came)
                return came
            time.sleep(0.05)
        raise AssertionError(f"{parts} did not come; instead: {came}")

    def save(self, name: str, old: str, new: str) -> None:
        path = self._pack / "dist/benchlocal" / name
        path.write_text(path.read_text().replace(old, new))


@pytest.fixture
def watching(program: Program, tmp_path: Path) -> Iterator[Watching]:
    need_node()
    pack, output = program.directory / "box", tmp_path / "output"
    assert program.run("pack", "init", str(pack)).returncode == 0
    with open(output, "wb") as out:
        process = start_benchwright(
            ["pack", "dev", str(pack)], stdout=out, stderr=subprocess.STDOUT, directory=program.directory
        )
        try:
            yield Watching(process, pack, output)
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) == 130


@pytest.mark.slow
def test_each_save_shows_what_changed_and_where_it_fails(watching: Watching) -> None:
    watching.shows("A-01: 3 answers", "✓ pass 100  'READY'", "✓ fail 0  'Already done'")

    watching.save("scenarios.js", '"READY"', '"STEADY"')
    watching.shows("✗ partial 50, and the file says pass 100  'READY'", '- "score": 100', '+ "score": 50')

    watching.save("index.js", '"use strict";', '"use strict"; this is none;')
    watching.shows("SyntaxError", "✗ the pack did not load", "(dist/benchlocal/index.js:1)")

    watching.save("index.js", "this is none;", "")
    watching.save("scenarios.js", '"STEADY"', '"READY"')
    watching.shows("✓ pass 100  'READY'")

    watching.save("index.js", "const answer = (", "null.x; const answer = (")
    came = watching.shows("reading 'x'", "✗ the scenario failed: TypeError")
    assert "box/dist/benchlocal/index.js:35:" in came, "the stack names the file and the line"
