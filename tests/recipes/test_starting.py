"""What an agent is started with: the way to the model in every dialect, a home of its own, and its task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchwright.recipes.launch_specs import LaunchSpec, ModelAccess, build_launch_spec
from benchwright.recipes.recipe import Recipe
from benchwright.recipes.recipe_lookup import find_recipe

WAY = ModelAccess("http://127.0.0.1:7000/v1", "benchwright-token", "m")


def start(prompt: str = "Do it.", **fields: Any) -> LaunchSpec:
    said: dict[str, Any] = {
        "name": "mine",
        "title": "Mine",
        "dialect": "chat",
        "command": ("agent", "{prompt}"),
    }
    return build_launch_spec(Recipe(**(said | fields)), [], prompt, WAY, "/home/agent")


def test_each_dialect_finds_its_address_and_the_token() -> None:
    environment = start().environment
    assert environment["OPENAI_BASE_URL"] == "http://127.0.0.1:7000/v1"
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:7000"
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    assert {environment[name] for name in keys} == {"benchwright-token"}
    assert environment["OPENAI_MODEL"] == "m"


def test_a_recipe_has_the_last_word_on_variables() -> None:
    assert start(environment={"ANTHROPIC_AUTH_TOKEN": ""}).environment["ANTHROPIC_AUTH_TOKEN"] == ""


def test_home_and_the_folders_below_it_are_the_agents_own() -> None:
    environment = start().environment
    assert environment["HOME"] == "/home/agent"
    assert environment["XDG_DATA_HOME"] == "/home/agent/.local/share"


def test_files_lie_below_home_and_are_filled_in_around_braces_of_their_own() -> None:
    files = start(files={".mine/settings.json": '{"url": "{base_url}", "models": {"{model}": {}}}'}).files
    settings = json.loads(files["/home/agent/.mine/settings.json"])
    assert settings == {"url": "http://127.0.0.1:7000/v1", "models": {"m": {}}}


@given(prompt=st.text())
def test_the_task_arrives_as_it_is_whatever_stands_in_it(prompt: str) -> None:
    assert start(prompt).command == ["agent", prompt]


def test_a_placeholder_in_the_task_is_text() -> None:
    assert start("What does {token} mean?").command == ["agent", "What does {token} mean?"]


def test_an_installed_program_stands_where_the_command_says_so() -> None:
    begun = build_launch_spec(find_recipe("codex"), ["/opt/codex"], "-v is what?", WAY, "/home/agent")
    assert begun.command[0] == "/opt/codex"
    assert begun.command[-2:] == ["--", "-v is what?"]
    assert Path(begun.environment["CODEX_HOME"]) == Path("/home/agent/.codex")
