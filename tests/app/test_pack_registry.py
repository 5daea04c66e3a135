"""`pack search` and `pack list --available`: what the registry has, against what is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.pack_kit import Packs, write_pack


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def entry(name: str, version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    source = {"type": "github", "repo": f"somebody/{name}", "tag": f"v{version}"}
    return {"id": name, "name": name.title(), "version": version, "source": source, **more}


@pytest.fixture
def registry(packs: Packs) -> str:
    """A registry in a file: of `old` it has a newer version than is installed, of `ahead` an older one."""
    entries = [
        entry("tools", description="Calls of tools, in turns.", author="Jane Doe", scenarioCount=15),
        entry("old", "1.10.0"),
        entry("same"),
        entry("ahead"),
        {**entry("screen"), "source": {"type": "web", "entry": "https://example.org/screen/"}},
        {**entry("later"), "source": {"type": "quantum"}},
    ]
    path = packs.directory / "registry.json"
    path.write_text(json.dumps({"schemaVersion": 1, "packs": entries}))
    for name, version in (("old", "1.0.0"), ("same", "1.0.0"), ("ahead", "2.0.0")):
        packs.told("install", str(write_pack(packs.directory / "made" / name, version=version)), "--copy")
    return str(path)


STATES = {
    "ahead": ("1.0.0", "2.0.0", "installed"),
    "later": ("1.0.0", None, "not supported"),
    "old": ("1.10.0", "1.0.0", "update"),
    "same": ("1.0.0", "1.0.0", "installed"),
    "screen": ("1.0.0", None, "not supported"),
    "tools": ("1.0.0", None, "available"),
}


@pytest.mark.parametrize("command", [("list", "--available"), ("search",)])
def test_every_pack_is_listed_with_its_versions_and_its_state(
    command: tuple[str, ...], packs: Packs, registry: str
) -> None:
    told = packs.told(*command, "--registry", registry)
    assert told["registry"] == registry
    found = {one["id"]: (one["version"], one["installed"], one["state"]) for one in told["packs"]}
    assert found == STATES
    assert list(found) == sorted(STATES)


def test_web_packs_and_unknown_ones_say_what_they_are(packs: Packs, registry: str) -> None:
    shown = packs.program.run("pack", "search", "--registry", registry)
    assert (
        "screen: a web pack, the page https://example.org/screen/; show it with: benchwright pack open screen"
        in shown.stdout
    )
    assert "later: sources of type 'quantum' are not supported" in shown.stdout
    assert shown.stderr.strip() == "Update with: benchwright pack update --all"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["TOOLS"], ["tools"]),
        (["turns", "jane"], ["tools"]),
        (["turns", "nobody"], []),
        (["a"], ["ahead", "later", "same", "tools"]),
    ],
)
def test_words_are_looked_for_in_all_that_a_pack_says_of_itself(
    words: list[str], expected: list[str], packs: Packs, registry: str
) -> None:
    told = packs.told("search", *words, "--registry", registry)
    assert [one["id"] for one in told["packs"]] == expected


def test_a_registry_without_such_a_pack_says_so_and_one_that_is_none_fails(
    packs: Packs, registry: str
) -> None:
    empty = packs.program.run("pack", "search", "nothing-like-it", "--registry", registry)
    assert (empty.returncode, empty.stdout) == (0, "")
    assert "has no such pack" in empty.stderr
    broken = Path(registry).with_name("broken.json")
    broken.write_text("[]")
    ended = packs.program.run("pack", "list", "--available", "--registry", str(broken))
    assert ended.returncode == 1
    assert "is none" in one_line_of(ended.stderr)
