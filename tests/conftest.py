"""What all tests share: servers that nobody here wrote, and real rows of real datasets."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.left_behind import Traces, traces

pytest_plugins = ["tests.real_servers", "tests.told"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell, whose SIGINT is ignored; the programs under test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

try:
    from hypothesis import HealthCheck
    from hypothesis import settings as examples
except ImportError:
    pass  # not in the environments of other fastmcps and of Ray, whose tests have no properties
else:
    slow_is_no_fault = "slow is no fault"
    no_clock = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    examples.register_profile(slow_is_no_fault, examples(), **no_clock)
    examples.load_profile(slow_is_no_fault)


gc.disable()


def pytest_collection_finish() -> None:
    """Collects garbage again, but for the tests themselves: half a million objects that stay to the end."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Processes where `-n auto` is asked for: more than cores, as many tests wait for containers and browsers."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """A test leaves the process as it found it, so that the order of tests does not matter."""
    before: Traces = traces()
    yield
    assert traces().beyond(before) == {}, "the test left this behind in the process"


REAL_ROWS = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def real_rows() -> Path:
    """The directory with real rows of real datasets, one directory each."""
    if not REAL_ROWS.is_dir():
        pytest.skip(f"no real rows at {REAL_ROWS} (set BENCHWRIGHT_TEST_DATA)")
    return REAL_ROWS
