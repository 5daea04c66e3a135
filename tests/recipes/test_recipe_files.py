"""Recipes are read from TOML, and one that could not work says what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.recipes.recipe_kit import recipe_text

from benchwright.errors import UserError
from benchwright.recipes.agent_verifications import read_verifications
from benchwright.recipes.recipe import read_recipe
from benchwright.recipes.recipe_lookup import all_recipes, find_recipe, is_shipped


def read(tmp_path: Path, **changes: Any) -> Any:
    path = tmp_path / "mine.toml"
    path.write_text(recipe_text(tmp_path / "agent.py", **changes))
    return read_recipe(path)


def test_a_recipe_is_called_what_its_file_is_called(tmp_path: Path) -> None:
    assert read(tmp_path).name == "mine"
    assert read(tmp_path, name="other").label == "other 1"


def test_a_change_of_anything_in_it_changes_the_fingerprint(tmp_path: Path) -> None:
    prints = {
        read(tmp_path, **changes).fingerprint
        for changes in ({}, {"version": "2"}, {"environment": {"A": "1"}}, {"files": {"a": "1"}})
    }
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"command": []}, "`command` is empty"),
        ({"command": ["agent", "go"]}, "the task, {prompt}, is nowhere"),
        ({"command": ["agent", "{prompt}", "{key}"]}, "no placeholder {key}"),
        ({"command": ["{agent}", "{prompt}"]}, "something to install"),
        ({"install": {"npm": ["a@1"], "program": "a"}}, "something to install"),
        ({"command": ["{agent}", "{prompt}"], "install": {"npm": ["a@1"]}}, "a `program` for npm"),
        ({"command": ["{agent}", "{prompt}"], "install": {"program": "a"}}, "either `npm` or `pip`"),
        ({"dialect": "morse"}, "Invalid enum value 'morse'"),
        ({"comand": ["agent"]}, "unknown field `comand`"),
        ({"name": "../mine"}, "other characters"),
        ({"loop": "terminus"}, "starts no program, so nothing can be said of one"),
    ],
)
def test_a_recipe_that_cannot_work_is_refused(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=r"mine\.toml is not a recipe of an agent: ") as refused:
        read(tmp_path, **changes)
    assert problem in str(refused.value)


class TestShelf:
    def test_has_the_agents_that_come_with_benchwright_all_of_them_pinned(self) -> None:
        recipes = {recipe.name: recipe for recipe in all_recipes()}
        assert {"aider", "claude-code", "codex", "mini-swe-agent", "opencode", "qwen-code"} <= recipes.keys()
        for recipe in recipes.values():
            if recipe.install is not None:
                packages = [*recipe.install.npm, *recipe.install.pip]
                assert any(package.endswith(recipe.version) for package in packages)
            assert recipe.licence
            assert recipe.source.startswith("https://github.com/")

    def test_has_the_users_own_too_which_go_first(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
        (tmp_path / "recipes").mkdir()
        (tmp_path / "recipes" / "codex.toml").write_text(recipe_text(tmp_path / "agent.py"))
        assert find_recipe("codex").title == "Mine"
        assert find_recipe("aider").title == "aider"

    def test_names_the_nearest_one_where_there_is_none(self) -> None:
        with pytest.raises(UserError, match=r"no agent called 'codx'\. Did you mean 'codex'\?"):
            find_recipe("codx")

    def test_reads_a_file_that_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text(recipe_text(tmp_path / "agent.py"))
        assert find_recipe(str(path)).name == "mine"


def test_a_pinned_version_is_the_one_that_was_tried() -> None:
    pinned = {one.name: one.version for one in all_recipes() if is_shipped(one.name) and one.install}
    assert {name: seen.version for name, seen in read_verifications().items()} == pinned
