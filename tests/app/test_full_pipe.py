"""What a program prints for another is whole, also where that one reads slowly."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time

ONE_PAGE = 4096


def test_json_is_whole_where_whoever_shares_our_stdout_has_made_it_not_wait() -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, ONE_PAGE)
    os.set_blocking(writing, False)
    process = subprocess.Popen([sys.executable, "-m", "benchwright", "list", "--json"], stdout=writing)
    os.close(writing)
    with open(reading, "rb", buffering=0) as pipe:
        time.sleep(0.5)
        said = b"".join(iter(lambda: pipe.read(ONE_PAGE), b""))
    assert process.wait(60) == 0
    assert len(said) > 2 * ONE_PAGE
    assert json.loads(said)
