"""How `python -m benchmarks.profile` tells the parts of a program by the stacks that were seen."""

from __future__ import annotations

import pytest
from benchmarks.profile import IMPORTS, LIBRARIES, LOOP, STEPS, part_of, parts, steps

MAIN = "main (/x/src/benchwright/cli/main.py:9)"
LOOP_FRAME = "run_until_complete (/x/site-packages/uvloop/__init__.py:61)"
METER = "data (/x/src/benchwright/endpoint/meter.py:90)"
JOURNAL = "write (/x/src/benchwright/runs/journal.py:70)"


@pytest.mark.parametrize(
    ("stack", "part"),
    [
        ([MAIN, METER], "endpoint/meter.py"),
        ([MAIN, METER, "loads (/usr/lib/python3/json/__init__.py:3)"], "endpoint/meter.py"),
        ([MAIN, LOOP_FRAME], LOOP),
        ([MAIN, "_find_and_load (<frozen importlib._bootstrap>:1176)", METER], IMPORTS),
        (["worker (/usr/lib/python3/threading.py:5)"], LIBRARIES),
    ],
)
def test_a_sample_is_of_the_innermost_part_of_ours(stack: list[str], part: str) -> None:
    assert part_of(stack) == part


def test_shares_are_of_all_samples_and_largest_first() -> None:
    folded = [f"{MAIN};{METER} 1", f"{MAIN};{JOURNAL} 2", f"{MAIN};{JOURNAL};read (x.py:1) 1"]
    assert list(parts(folded)) == [("runs/journal.py", 0.75), ("endpoint/meter.py", 0.25)]


def test_every_part_is_of_one_step() -> None:
    shares = [("runs/journal.py", 0.5), ("engine/run.py", 0.2), (IMPORTS, 0.2), ("web/viewer.py", 0.1)]
    told = steps(shares)
    assert sum(told.values()) == pytest.approx(1)
    assert list(told) == [step for step, _ in STEPS]
    assert told["the journal: encoding and writing"] == 0.5
    assert told["everything else"] == 0.1
