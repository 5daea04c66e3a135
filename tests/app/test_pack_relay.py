"""What a pack sees of the relay from within a scenario: names of models, answers, and wrong keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.pack_kit import Packs, write_pack

ASKING = """
let context;
exports.listScenarios = async () => [{ id: "look", title: "look" }];
exports.prepare = async (given) => {
    context = given;
    return { runScenario, dispose: async () => {} };
};
exports.scoreModelResults = (results) => ({ totalScore: results.length, categories: [] });

async function runScenario({ model }) {
    const endpoint = context.inferenceEndpoints.find((one) => one.modelId === model.id);
    const ask = (path, key, body) => fetch(endpoint.baseUrl + path, {
        method: body ? "POST" : "GET",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: body && JSON.stringify(body),
    });
    const chat = { model: endpoint.exposedModel, messages: [{ role: "user", content: "hi" }] };
    const answer = await (await ask("chat/completions", endpoint.apiKey, chat)).json();
    const listed = await (await ask("models", endpoint.apiKey)).json();
    const refused = await ask("chat/completions", "another-key", chat);
    const seen = { answered: answer.model, listed: listed.data.map((one) => one.id), refused: refused.status };
    return { scenarioId: "look", status: "pass", score: 1, summary: JSON.stringify(seen), rawLog: "" };
}
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, echo: str) -> dict[str, Any]:
    """What the pack saw; the model `m` is exposed to it as `endpoint:m`."""
    program = Program(tmp_path_factory.mktemp("relayed"))
    packs = Packs(program)
    path = write_pack(packs.directory / "look", [], code=ASKING)
    told = packs.run(str(path), echo)
    program.end()
    ((result,),) = told["resultsByModel"].values()
    found: dict[str, Any] = json.loads(result["summary"])
    return found


def test_an_answer_carries_the_exposed_name(seen: dict[str, Any]) -> None:
    assert seen["answered"] == "endpoint:m"


def test_the_list_of_models_has_the_exposed_name_first(seen: dict[str, Any]) -> None:
    """After it the name that packs send to a provider, whose address is the relay's, too."""
    assert seen["listed"] == ["endpoint:m", "m"]


def test_another_key_than_the_given_one_is_refused(seen: dict[str, Any]) -> None:
    assert seen["refused"] == 401
