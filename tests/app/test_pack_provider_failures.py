"""A cell of which no request was answered is its provider's failure, whatever the pack makes of that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.pack_kit import Packs, faulty_pack
from tests.http_server import QuietHandler, served_by

ASK = """
    const { baseUrl } = globalThis.given.providers[0];
    const body = JSON.stringify({ model: input.model.model, messages: [{ role: "user", content: "Hello" }] });
    const ask = () => fetch(baseUrl + "/chat/completions", { method: "POST", body });
    const fail = (more) => passed(input, { status: "fail", score: 0, summary: "wrong", ...more });
"""

STYLES = {
    "says nothing": "await ask(); return fail({});",
    "calls it something else": "await ask(); return fail({ errorType: 'no_answer' });",
    "gives a part of the points": "await ask(); return fail({ status: 'partial', score: 0 });",
    "asks something else at last": "await ask(); await fetch(baseUrl + '/models'); return fail({});",
}


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


@pytest.fixture
def nothing_there() -> Iterator[str]:
    """A server that has a list of models, and no other path."""

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.answer(404, json.dumps({"error": {"message": "no such model"}}).encode())

        def do_GET(self) -> None:
            self.answer(200, json.dumps({"data": [{"id": "m"}]}).encode())

    with served_by(Handler) as address:
        yield f"{address}/v1"


def asking_pack(packs: Packs, **scenarios: str) -> str:
    """A pack whose scenarios know their provider."""
    pack = faulty_pack(packs.directory / "pack", {}, **{name: ASK + body for name, body in scenarios.items()})
    entry = pack / "dist/benchlocal/index.js"
    entry.write_text(
        entry.read_text().replace(
            "prepare = async () => (", "prepare = async (given) => (globalThis.given = given, "
        )
    )
    return str(pack)


def found(packs: Packs, base_url: str, name: str, body: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of a scenario, and the statistics of its run."""
    pack = asking_pack(packs, **{name: body})
    ended = packs.program.run(
        *("pack", "run", pack, *packs.arguments(base_url, "--cell-retries", "0", "--json"))
    )
    (told,) = json.loads(ended.stdout)["packs"]
    (result,) = (one for one in told["resultsByModel"]["endpoint:m"] if one["scenarioId"] == name)
    return result, told["statisticsByModel"]["endpoint:m"]


@pytest.mark.parametrize("style", STYLES)
def test_a_cell_whose_requests_were_all_refused_has_no_score(
    packs: Packs, nothing_there: str, style: str
) -> None:
    result, statistics = found(packs, nothing_there, "asks", STYLES[style])
    assert result["errorType"] == "provider_error"
    assert "HTTP 404" in result["summary"] + json.dumps(result.get("verifier"))
    (passed,) = (one for one in statistics["scores"] if one["scorer"] == "passed")
    assert (passed["n_scored"], passed["mean_scored"]) == (1, 1.0), "only the scenario that asks nothing"


def test_a_cell_that_passes_without_an_answer_passes(packs: Packs, nothing_there: str) -> None:
    result, _ = found(packs, nothing_there, "asks", "await ask(); return passed(input);")
    assert (result["status"], result.get("errorType")) == ("pass", None)


def test_a_cell_that_had_an_answer_is_scored_as_the_pack_says(packs: Packs, echo: str) -> None:
    result, _ = found(packs, echo, "asks", "await ask(); return fail({ errorType: 'no_answer' });")
    assert (result["status"], result["errorType"]) == ("fail", "no_answer")
