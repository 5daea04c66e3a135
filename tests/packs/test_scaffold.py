"""A new pack runs as it is written, in both languages, and scores what its scenarios say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.packs.bridge.bridge_kit import given, running

from benchwright.errors import ProviderError, UserError
from benchwright.packs.inspection import inspect_pack
from benchwright.packs.install import find_changes, install
from benchwright.packs.scaffold import create_pack

ENTRIES = {"javascript": "./dist/benchlocal/index.js", "python": "./dist/benchlocal/index.py"}

RIGHT = {
    "READY": " READY\n",
    "Mira": '{"city": "Oslo", "name": "Mira", "age": 34}',
    "pens": "12 times 8 is 96, less 75.\nAnswer: 21",
    "market": "The meeting is on Wednesday.\n**Answer: Friday**",
}
HALF = {
    "READY": "I am ready.",
    "Mira": 'Here:\n```json\n{"name": "Mira", "age": 34, "city": "Oslo"}\n```',
    "pens": "It is 21.",
    "market": "That would be Friday.",
}
WRONG = {
    "READY": "Already done",
    "Mira": '{"name": "Mira", "age": "34", "city": "Oslo"}',
    "pens": "Answer: 96",
    "market": "Answer: Thursday",
}


class Model:
    """A model's server on this machine that has an answer for each prompt, or only an error."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}
        self.bodies: list[dict[str, Any]] = []
        self.base_url = ""

    def reply(self, body: dict[str, Any]) -> str:
        self.bodies.append(body)
        prompt = body["messages"][0]["content"]
        return next(answer for word, answer in self.answers.items() if word in prompt)


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if not model.answers:
                self.send_error(503)
                return
            message = {"role": "assistant", "content": model.reply(body)}
            content = json.dumps({"choices": [{"message": message}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        model.base_url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
        yield model
        http.shutdown()


@pytest.mark.parametrize("language", ENTRIES)
async def test_a_new_pack_runs_and_its_scores_are_those_of_the_answers(
    tmp_path: Path, model: Model, language: str
) -> None:
    directory = tmp_path / "mine"
    create_pack(directory, language, "my-pack")
    async with running(directory, ENTRIES[language], base_url=model.base_url) as pack:
        assert pack.manifest is not None
        assert pack.manifest["id"] == "my-pack"
        assert [scenario.id for scenario in pack.scenarios] == ["A-01", "A-02", "B-01", "B-02"]
        titles = {tuple(card.title for card in scenario.detail_cards) for scenario in pack.scenarios}
        assert titles == {("What this tests", "Success case", "Failure case")}
        totals: list[tuple[list[str], float, list[float | None]]] = []
        for model.answers in (RIGHT, HALF, WRONG, {**RIGHT, "pens": HALF["pens"], "market": WRONG["market"]}):
            results = []
            for scenario in pack.scenarios:
                heard: list[dict[str, Any]] = []
                cell = await pack.run(
                    f"{len(totals)}-{scenario.id}",
                    given(scenario.id, temperature=0, request_timeout_seconds=20),
                    seconds=30,
                    on_progress=heard.append,
                )
                assert [event["type"] for event in heard] == ["model_progress"]
                results.append(cell.result.raw)
            statuses = [result["status"] for result in results]
            score = await pack.score(results)
            totals.append((statuses, score.total_score, [category.score for category in score.categories]))
        assert totals == [
            (["pass"] * 4, 100, [100, 100]),
            (["partial"] * 4, 50, [50, 50]),
            (["fail"] * 4, 0, [0, 0]),
            (["pass", "pass", "partial", "fail"], 62.5, [100, 25]),
        ]
        assert (await pack.score([])).total_score == 0
    assert model.bodies[0].keys() == {"model", "messages", "temperature"}, "what is not set is not sent"


@pytest.mark.parametrize("language", ENTRIES)
async def test_a_request_that_fails_is_an_error_of_the_provider(
    tmp_path: Path, model: Model, language: str
) -> None:
    create_pack(tmp_path / "mine", language, "my-pack")
    async with running(tmp_path / "mine", ENTRIES[language], base_url=model.base_url) as pack:
        with pytest.raises(ProviderError, match="503"):
            await pack.run("cell", given("A-01"), seconds=30)


@pytest.mark.parametrize("language", ENTRIES)
def test_a_new_pack_is_whole_and_can_be_installed(tmp_path: Path, language: str) -> None:
    written = create_pack(tmp_path / "mine", language, "my-pack", "My pack")
    assert {path.name for path in written} >= {"README.md", "METHODOLOGY.md", "benchlocal.pack.json"}
    assert not any("{{" in path.read_text() for path in written)
    inspection = inspect_pack(tmp_path / "mine")
    assert (inspection.status, inspection.manifest and inspection.manifest.warnings) == ("ready", [])
    assert (tmp_path / "mine" / "README.md").read_text().startswith("# My pack\n")
    assert find_changes(install(str(tmp_path / "mine"), tmp_path / "packs", copy=True)) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(UserError, match=r"README\.md already exists"):
        create_pack(tmp_path, "python", "my-pack")
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


@pytest.mark.parametrize(("language", "pack_id"), [("perl", "my-pack"), ("python", "../x"), ("python", "")])
def test_a_wrong_language_or_id_is_told(tmp_path: Path, language: str, pack_id: str) -> None:
    with pytest.raises(UserError):
        create_pack(tmp_path, language, pack_id)
    assert list(tmp_path.iterdir()) == []
