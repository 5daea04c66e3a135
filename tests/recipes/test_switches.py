"""What agents do beside their task is off by their own switches: each start carries them. docs/agents.md lists them."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from benchwright.recipes.launch_specs import LaunchSpec, ModelAccess, build_launch_spec
from benchwright.recipes.recipe_lookup import all_recipes, find_recipe

HOME = "/home/agent"


def start(name: str) -> LaunchSpec:
    way = ModelAccess("http://127.0.0.1:7000/v1", "benchwright-token", "m")
    return build_launch_spec(find_recipe(name), [name], "Do it.", way, HOME)


def settings(name: str, path: str) -> dict[str, Any]:
    """The settings that are written for an agent before it starts."""
    text = start(name).files[f"{HOME}/{path}"]
    found: dict[str, Any] = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    return found


class TestCodex:
    def test_has_no_sub_agents_whichever_version_its_catalogue_says(self) -> None:
        said = settings("codex", ".codex/config.toml")
        assert said["agents"] == {"enabled": False}
        assert (said["features"]["multi_agent"], said["features"]["multi_agent_v2"]) == (False, False)

    def test_searches_no_web_remembers_nothing_and_reports_nothing(self) -> None:
        said = settings("codex", ".codex/config.toml")
        assert said["web_search"] == "disabled"
        assert said["memories"] == {"use_memories": False, "generate_memories": False}
        assert said["check_for_update_on_startup"] is said["analytics"]["enabled"] is False
        assert said["feedback"]["enabled"] is False

    def test_ends_at_a_setting_that_it_does_not_know(self) -> None:
        assert "--strict-config" in start("codex").command


class TestClaudeCode:
    def test_has_no_sub_agents_and_searches_no_web(self) -> None:
        denied = settings("claude-code", ".claude/settings.json")["permissions"]["deny"]
        assert denied == ["Agent", "SendMessage", "WebSearch"]
        assert start("claude-code").environment["CLAUDE_CODE_DISABLE_WORKFLOWS"] == "1"

    @pytest.mark.parametrize(
        "name",
        [
            "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
            "CLAUDE_CODE_DISABLE_CRON",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
        ],
    )
    def test_remembers_plans_reports_and_updates_nothing(self, name: str) -> None:
        assert start("claude-code").environment[name] == "1"


class TestGeminiCli:
    def test_has_no_sub_agents_and_searches_no_web(self) -> None:
        said = settings("gemini-cli", ".gemini/settings.json")
        assert said["experimental"]["enableAgents"] is False
        assert said["tools"]["exclude"] == ["invoke_agent", "google_web_search"]

    def test_remembers_reports_and_updates_nothing(self) -> None:
        said = settings("gemini-cli", ".gemini/settings.json")
        assert said["general"] == {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}
        assert said["privacy"] == {"usageStatisticsEnabled": False}
        assert said["telemetry"] == {"enabled": False}
        assert said["experimental"]["autoMemory"] is False


class TestQwenCode:
    def test_has_no_sub_agents_and_searches_no_web(self) -> None:
        said = settings("qwen-code", ".qwen/settings.json")
        assert said["permissions"] == {"deny": ["Agent", "web_search"]}

    def test_remembers_reports_and_updates_nothing(self) -> None:
        said = settings("qwen-code", ".qwen/settings.json")
        assert said["memory"] == {"enableManagedAutoMemory": False, "enableManagedAutoDream": False}
        assert said["privacy"] == {"usageStatisticsEnabled": False}
        assert said["telemetry"] == {"enabled": False}
        assert said["general"] == {"enableAutoUpdate": False}


class TestOpencode:
    def test_has_no_sub_agents_and_searches_no_web(self) -> None:
        assert settings("opencode", "opencode.json")["permission"] == {"task": "deny", "websearch": "deny"}

    def test_shares_and_updates_nothing(self) -> None:
        said = settings("opencode", "opencode.json")
        assert (said["share"], said["autoupdate"]) == ("disabled", False)
        assert start("opencode").environment["OPENCODE_DISABLE_MODELS_FETCH"] == "1"


@pytest.mark.parametrize(
    "switch", ["--analytics-disable", "--no-check-update", "--no-detect-urls", "--disable-playwright"]
)
def test_aider_reports_updates_and_opens_nothing(switch: str) -> None:
    assert switch in start("aider").command


def test_mini_swe_agent_asks_no_registry_for_prices() -> None:
    assert start("mini-swe-agent").environment["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"


def test_each_agent_that_is_installed_is_tried_here() -> None:
    tried = {"aider", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode", "qwen-code"}
    assert {one.name for one in all_recipes() if one.install is not None} == tried
