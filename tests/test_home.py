"""BENCHWRIGHT_HOME decides where everything lies."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from benchwright.agents.cache.paths import cache_root
from benchwright.home import (
    home_directory,
    home_from_environment,
    packs_cache_directory,
    packs_directory,
    packs_file,
    repositories_directory,
    runs_directory,
)


def test_everything_lies_beneath_the_chosen_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
    monkeypatch.delenv("OSMOSIS_CACHE_DIR", raising=False)
    places = [
        runs_directory(),
        packs_directory(),
        packs_file(),
        packs_cache_directory(),
        repositories_directory(),
    ]
    assert home_directory() == tmp_path
    assert all(place.is_relative_to(tmp_path) for place in [*places, cache_root()])
    assert len({*places, cache_root()}) == 6


@pytest.mark.parametrize("data", ["/somewhere", "", " ", "~/data", "here"])
@pytest.mark.parametrize("user", ["/home/of/mine", "", "here"])
@pytest.mark.parametrize("value", [None, ""])
def test_without_one_it_is_the_users_data_directory(
    value: str | None, data: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", data)
    monkeypatch.setenv("HOME", user)
    monkeypatch.delenv("BENCHWRIGHT_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", value)
    assert home_from_environment() is None
    assert home_directory() == Path(platformdirs.user_data_dir("benchwright", appauthor=False))


def test_a_tilde_and_a_relative_path_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert home_from_environment({"BENCHWRIGHT_HOME": "~/kept"}) == tmp_path / "kept"
    assert home_from_environment({"BENCHWRIGHT_HOME": "kept"}) == tmp_path / "kept"
