"""mypy refuses to format what may be no number, which it takes by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HEAD = "from benchwright.statistic import NoScore, Statistic, is_number\n"

REFUSED = {
    "a statistic": 'def shown(mean: Statistic) -> str:\n    return f"{mean:.3f}"\n',
    "one that may be no score": 'def shown(mean: float | NoScore, w: int) -> str:\n    return f"{mean:{w}.2f}"\n',
    "one that may not be known": 'def shown(mean: float | None) -> str:\n    return f"{mean:+.1f} points"\n',
}
TAKEN = {
    "a number": 'def shown(mean: float, count: int) -> str:\n    return f"{mean:.3f} {count:,}"\n',
    "what was asked for": (
        'def shown(mean: Statistic) -> str:\n    return f"{mean:.3f}" if is_number(mean) else f"{mean}"\n'
    ),
}


STATISTIC = """
class NoScore: ...
Statistic = float | NoScore | None
from typing import TypeGuard
def is_number(value: Statistic) -> TypeGuard[float]: ...
"""
"""In place of the module, which would have mypy read all that it imports."""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What mypy says of each of these modules."""
    place = tmp_path_factory.mktemp("formats")
    (place / "benchwright").mkdir()
    (place / "benchwright" / "statistic.pyi").write_text(STATISTIC)
    (place / "benchwright" / "__init__.pyi").write_text("")
    (place / "mypy.ini").write_text(
        f"[mypy]\nstrict = true\nplugins = {ROOT / 'tests' / 'typed_formats.py'}\n"
    )
    rooms = place / "benchwright" / "reports"
    rooms.mkdir()
    files = {name: rooms / f"module{number}.py" for number, name in enumerate(REFUSED | TAKEN)}
    for name, code in (REFUSED | TAKEN).items():
        files[name].write_text(HEAD + code)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", *map(str, files.values())]
    told = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False).stdout
    assert "Found 3 errors in 3 files" in told, told
    return {
        name: "\n".join(line for line in told.splitlines() if path.name in line)
        for name, path in files.items()
    }


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_be_no_number_is_not_formatted(said: dict[str, str], name: str) -> None:
    assert "a format may be" in said[name]


@pytest.mark.parametrize("name", TAKEN)
def test_numbers_are(said: dict[str, str], name: str) -> None:
    assert said[name] == ""
