"""What clients within a pack find in their environment: the relay, a token, and never the real key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests.app.app_kit import Program, trials
from tests.app.pack_kit import Packs, write_pack
from tests.simulated import simulated_endpoint

from benchwright.runs.journal import read_body

KEY = "sk-the-real-key-of-the-user"

NODE = """
exports.manifest = {};
exports.listScenarios = async () => [{ id: "A-01", title: "asks by its environment" }];
exports.prepare = async () => ({
    async runScenario(input) {
        const env = process.env;
        const said = { messages: [{ role: "user", content: "Hi" }], model: env.OPENAI_MODEL ?? input.model.model };
        const ask = async (url, key, body) => (await fetch(url, {
            method: "POST", headers: { "content-type": "application/json", ...key }, body: JSON.stringify(body),
        })).status;
        const bearer = { authorization: "Bearer " + env.OPENAI_API_KEY }, key = { "x-api-key": env.ANTHROPIC_API_KEY };
        const statuses = [
            await ask(env.OPENAI_BASE_URL + "/chat/completions", bearer, said),
            await ask(env.ANTHROPIC_BASE_URL + "/v1/messages", key, { ...said, max_tokens: 9 }),
        ];
        return { scenarioId: "A-01", status: "pass", score: 1, summary: "", rawLog: JSON.stringify({ env, statuses }) };
    },
    async dispose() {},
});
exports.scoreModelResults = (results) => ({ totalScore: 100, categories: [] });
"""

PYTHON = """
import json, os, urllib.request

def list_scenarios():
    return [{"id": "A-01", "title": "asks by its environment"}]

def ask(url, headers, body):
    headers = {"content-type": "application/json", **headers}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return answer.status

def run_scenario(input, emit):
    env = os.environ
    model = env.get("OPENAI_MODEL") or input["model"]["model"]
    said = {"messages": [{"role": "user", "content": "Hi"}], "model": model, "max_tokens": 9}
    bearer, key = {"authorization": "Bearer " + env["OPENAI_API_KEY"]}, {"x-api-key": env["ANTHROPIC_API_KEY"]}
    statuses = [
        ask(env["OPENAI_BASE_URL"] + "/chat/completions", bearer, said),
        ask(env["ANTHROPIC_BASE_URL"] + "/v1/messages", key, said),
    ]
    log = json.dumps({"env": dict(env), "statuses": statuses})
    return {"scenarioId": "A-01", "status": "pass", "score": 1, "summary": "", "rawLog": log}

def prepare(context):
    return {"run_scenario": run_scenario}

def score_model_results(results):
    return {"totalScore": 100, "categories": []}
"""

PACKS = {"node": ("./index.js", NODE), "python": ("./pack.py", PYTHON)}


class Asked(NamedTuple):
    """What a cell found in its environment and what its requests got, and the user whose run it was."""

    environment: dict[str, str]
    statuses: list[int]
    program: Program


def ran(program: Program, language: str, *models: str) -> Asked:
    """Runs the pack for these models at a server that wants the key; what its first cell says."""
    packs = Packs(program)
    entry, code = PACKS[language]
    pack = str(write_pack(program.directory / "asking", [], entry=entry, code=code))
    with simulated_endpoint("--api-key", KEY) as url:
        packs.run(pack, url, models=models, BENCHWRIGHT_API_KEY=KEY)
    trial = trials(program.runs[-1])[0]
    said = json.loads(read_body(program.runs[-1], trial).native["rawLog"])
    return Asked(said["env"], said["statuses"], program)


@pytest.fixture(scope="module", params=PACKS)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    program = Program(tmp_path_factory.mktemp("pack"))
    yield ran(program, request.param, "m")
    program.end()


def test_each_dialects_clients_find_the_relay(asked: Asked) -> None:
    found = asked.environment
    assert asked.statuses == [200, 200]
    assert found["OPENAI_BASE_URL"] == found["ANTHROPIC_BASE_URL"] + "/v1"
    assert found["OPENAI_MODEL"] == "m"
    assert found["OPENAI_API_KEY"] == found["ANTHROPIC_API_KEY"] == found["ANTHROPIC_AUTH_TOKEN"]


def test_the_real_key_never_enters_the_process_or_a_file(asked: Asked) -> None:
    assert asked.environment["OPENAI_API_KEY"].startswith("benchwright-")
    assert KEY not in str(asked.environment)
    files = [path for path in asked.program.home.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_no_model_is_named_where_the_run_has_several(program: Program) -> None:
    found = ran(program, "node", "m", "n")
    assert found.statuses == [200, 200]
    assert "OPENAI_MODEL" not in found.environment


def test_requests_of_javascript_belong_to_the_cell_that_made_them(program: Program) -> None:
    ran(program, "node", "m")
    (trial,) = trials(program.only_run)
    assert [(one.dialect, one.error) for one in trial.requests] == [("chat", None), ("messages", None)]
