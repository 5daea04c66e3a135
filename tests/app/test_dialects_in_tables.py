"""Tokens of a table mean the same whatever dialect an agent asks in: prompts with what was read from a cache."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.app.app_kit import Program, trials
from tests.app.eval_kit import logging_server
from tests.recipes.recipe_kit import write_recipe

from benchwright.analysis.leaderboard.records import Leaderboard
from benchwright.endpoint.simulate import read_truth

TWICE = """
def post(path, body):
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    url = os.environ["OPENAI_BASE_URL"] + path
    for _ in range(2):
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()

task = [{"role": "user", "content": "The same long words again and again. " * 8}]
"""
AGENTS = {
    "chat": "post('/chat/completions', {'model': 'x', 'messages': task})",
    "messages": "post('/messages', {'model': 'x', 'max_tokens': 99, 'messages': task})",
    "responses": "post('/responses', {'model': 'x', 'input': task})",
    "gemini": "post('/v1beta/models/x:generateContent', {'contents': [{'parts': [{'text': task[0]['content']}]}]})",
}


@pytest.mark.parametrize("chat_only", [(), ("--chat-only",)], ids=["passed on", "translated"])
def test_cached_tokens_are_prompt_tokens_in_every_dialect(
    program: Program, tmp_path: Path, chat_only: tuple[str, ...]
) -> None:
    program.rows(1)
    agents = list[str]()
    for name, text in AGENTS.items():
        write_recipe(program.home / "recipes", TWICE + text, name)
        agents += ["--agent", name]
    log = tmp_path / "truth.jsonl"
    with logging_server(log, "--cache-blocks", "100", "--block-size", "1", *chat_only) as server:
        program.run(*program.evaluating("rows.jsonl", server.base_url, *agents, "--name", "dialects"))
    truths = {one.id: one for one in read_truth(log)}
    shown = program.run("table", "--suite", "dialects", "--price", "m=1,1", "--json").stdout
    rows = {row.agent: row for row in msgspec.json.decode(shown, type=Leaderboard).rows}
    for run in program.runs:
        (trial,) = trials(run)
        own = [truths[request.id] for request in trial.requests]
        row = rows[f"{trial.requests[0].dialect} 1"]
        assert own[-1].cached_tokens
        assert row.prompt_tokens == sum(one.prompt_tokens for one in own)
        assert row.cost == pytest.approx(sum(one.prompt_tokens + one.tokens for one in own) / 1e6)
