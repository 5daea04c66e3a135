"""Requests of the pinned agents (`tests/recordings/agents`), asked again through the relay at a strict server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.endpoint.http_kit import OpenClient
from tests.endpoint.relay.relay_kit import LetIn
from tests.endpoint.relay.test_recorded_agents import ask_again
from tests.recordings.record_agents import COMMANDS, FOLDER, LONGEST, OF_ITS_OWN, RECORDINGS, REFUSED
from tests.strict_chat_server import AGENTS_TOOLS, strict_chat_server

from benchwright.recipes.recipe_lookup import all_recipes, find_recipe, is_shipped

SUB_AGENTS = re.compile(r"(?i)(.*__)?(task|agent|spawn_agent|invoke_agent|workflow|(google_)?web_?search)")
"""Tools that start sub-agents, or search the web on the model's server."""


def recorded(name: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Whose recording it is, and the requests."""
    head, *requests = map(json.loads, Path(FOLDER, f"{name}.jsonl").read_text().splitlines())
    return head, requests


@pytest.mark.parametrize("name", RECORDINGS)
async def test_each_request_of_a_pinned_agent_is_answered_by_a_strict_server(
    open_client: OpenClient, let_in: LetIn, name: str
) -> None:
    with strict_chat_server(AGENTS_TOOLS, (*COMMANDS, *OF_ITS_OWN.get(name, ())), "done") as server:
        agent = let_in(open_client(server.base_url.removesuffix("/v1")))
        statuses = [(await ask_again(agent, request)).status for request in recorded(name)[1]]
    assert server.refusals == REFUSED.get(name, [])
    assert set(statuses) == {200}


@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_pinned_agent_offers_its_model_no_sub_agents(
    open_client: OpenClient, let_in: LetIn, name: str
) -> None:
    with strict_chat_server((), (), "done") as server:
        agent = let_in(open_client(server.base_url.removesuffix("/v1")))
        for request in recorded(name)[1]:
            await ask_again(agent, request)
    offered = {tool["function"]["name"] for one in server.requests for tool in one.get("tools", ())}
    assert {one for one in offered if SUB_AGENTS.fullmatch(one)} == set()


def test_the_recordings_are_of_all_pinned_agents_in_their_versions() -> None:
    heads = [recorded(name)[0] for name in RECORDINGS]
    assert {(head["agent"], head["version"]) for head in heads} == {
        (recipe.name, recipe.version)
        for recipe in all_recipes()
        if recipe.install is not None and is_shipped(recipe.name)
    }
    assert find_recipe("codex").version == recorded("codex-catalogue")[0]["version"]


@pytest.mark.parametrize("name", RECORDINGS)
def test_nothing_personal_and_no_text_of_others_is_in_a_recording(name: str) -> None:
    text = Path(FOLDER, f"{name}.jsonl").read_text()
    assert not re.search(r"/tmp/|/root|/home/|benchwright-agent-|Bearer |sk-", text)
    assert max(map(len, texts_in([json.loads(line) for line in text.splitlines()]))) <= LONGEST


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts of JSON that are no arguments of a call, which the script wrote."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("arguments", "input") or not isinstance(inner, str):
                yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
