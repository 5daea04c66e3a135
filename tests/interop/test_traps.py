"""Results that mislead whoever reads them carelessly: each format with each kind of trap.

Whatever the trap, what is read is right, or it is refused, or a note tells of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interop import (  # noqa: F401  # each puts its traps into the registry
    traps_agents,
    traps_evalscope,
    traps_harbor,
    traps_inspect,
    traps_lm_eval,
    traps_promptfoo,
    traps_score_lines,
)
from tests.interop.foreign_kit import WRITERS
from tests.interop.trap_kit import KINDS, TRAPS

FORMATS = (
    "inspect",
    "lm-eval",
    "evalscope",
    "promptfoo",
    "harbor",
    "atif",
    "mini-swe-agent",
    "swe-agent",
    "scores",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_each_format_stands_each_kind_of_trap(format: str, kind: str, tmp_path: Path) -> None:
    found = TRAPS[format, kind]
    if isinstance(found, str):
        assert found
    else:
        found(tmp_path)


def test_the_traps_are_those_of_all_formats() -> None:
    assert set(WRITERS) | {"atif", "mini-swe-agent", "swe-agent"} == set(FORMATS)
    assert set(TRAPS) == {(format, kind) for format in FORMATS for kind in KINDS}
