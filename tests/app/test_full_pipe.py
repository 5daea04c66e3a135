"""What a program prints for another is whole, also where that one reads slowly."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

ONE_PAGE = 4096
LIST = [sys.executable, "-m", "benchwright", "list", "--json"]


@pytest.fixture
def listed() -> Callable[[str, bool], bytes]:
    """What `list --json` writes into a pipe of one page that nobody reads at first."""

    def listing(unbuffered: str, blocking: bool) -> bytes:
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, ONE_PAGE)
        os.set_blocking(writing, blocking)
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        process = subprocess.Popen(LIST, stdout=writing, env=environment)
        os.close(writing)
        with open(reading, "rb", buffering=0) as pipe:
            first = pipe.read(1)
            time.sleep(0.1)
            for interrupt in (signal.SIGSTOP, signal.SIGCONT):  # ends a write in the middle
                process.send_signal(interrupt)
                time.sleep(0.1)
            rest = b"".join(iter(lambda: pipe.read(ONE_PAGE), b""))
        assert process.wait(60) == 0
        return first + rest

    return listing


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("blocking", [True, False], ids=["waits", "has been made not to wait"])
def test_json_is_whole(listed: Callable[[str, bool], bytes], unbuffered: str, blocking: bool) -> None:
    said = listed(unbuffered, blocking)
    assert len(said) > 2 * ONE_PAGE
    assert json.loads(said)
