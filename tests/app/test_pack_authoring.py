"""An author's way: from `pack init` to an archive that others install; and what `pack test` finds on the way."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.pack_kit import Packs, faulty_pack, served, write_pack


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def test_from_a_new_pack_to_a_published_archive(packs: Packs, echo: str) -> None:
    run, here = packs.program.run, packs.directory

    # A new pack, in JavaScript unless another language is asked for, that passes its own test.
    assert run("pack", "init", "capitals").returncode == 0
    tested = run("pack", "test", "capitals")
    assert tested.returncode == 0, tested.stdout
    assert tested.stdout.splitlines()[-1] == "no problems: 4 scenarios, 10 canned answers"

    # A mistake in a grader: the test says which answer is judged wrongly.
    scenarios = here / "capitals/dist/benchlocal/scenarios.js"
    right = scenarios.read_text()
    scenarios.write_text(right.replace("READY", "STEADY"))
    (*problems, last) = run("pack", "test", "capitals").stdout.splitlines()
    assert (
        "✗ answer to A-01: 'READY' has the status partial, and the file says pass" in problems
        or "✗ answer to A-01: 'READY' has the status fail, and the file says pass" in problems
    )
    assert "problem" in last
    scenarios.write_text(right)

    # The archive, with a checksum to publish beside it; the same files make the same archive.
    packed = packs.told("pack", "capitals")
    assert packed["path"] == "capitals-0.1.0.tar.gz"
    assert packs.told("pack", "capitals", "-o", "again.tar.gz")["sha256"] == packed["sha256"]

    # Published: a registry names the address and the checksum, and anybody installs and runs it by its name.
    shutil.rmtree(here / "capitals")
    with served(here) as address:
        entry = {
            "id": "capitals",
            "name": "Capitals",
            "version": "0.1.0",
            "source": {"type": "archive", "url": f"{address}/{packed['path']}"},
            "sha256": packed["sha256"],
        }
        (here / "registry.json").write_text(json.dumps({"schemaVersion": 1, "packs": [entry]}))
        published: dict[str, Any] = {"BENCHWRIGHT_REGISTRY": f"{address}/registry.json"}
        installed = run("pack", "install", "capitals", **published)
        assert installed.returncode == 0, installed.stderr
    told = packs.run("capitals", echo)
    assert told["benchPackVersion"] == "0.1.0"
    assert len(told["resultsByModel"]["endpoint:m"]) == 4


def test_packing_from_inside_does_not_pack_the_archive_itself(packs: Packs) -> None:
    packs.program.run("pack", "init", "box", "--language", "python")
    inside = packs.directory / "box"
    (inside / "__pycache__").mkdir()
    (inside / "__pycache__/x.pyc").write_text("")
    first = packs.told("pack", "box", "-o", "box/box-0.1.0.tar.gz")
    again = packs.told("pack", "box", "-o", "box/box-0.1.0.tar.gz")
    assert first == again
    assert first["files"] == 6


def test_a_pack_that_is_not_valid_is_not_packed(packs: Packs) -> None:
    path = faulty_pack(packs.directory / "box")
    entry = path / "dist/benchlocal/index.js"
    entry.write_text(entry.read_text() + "exports.listScenarios = async () => [];")
    ended = packs.program.run("pack", "pack", str(path))
    assert one_line_of(ended.stderr).endswith("as it is not valid: listScenarios() lists none.")
    assert not list(packs.directory.glob("*.tar.gz"))


ODD = {
    "varies": ("return passed(input, { score: Math.random() });", "differ in score"),
    "nan": ("return passed(input, { score: 0 / 0 });", "score is NaN"),
    "late": (
        "setTimeout(() => emit({ type: 'model_progress' }), 1); return passed(input);",
        "a progress event came after its scenario had ended",
    ),
    "foreign": (
        "await emit({ type: 'run_finished' }); return passed(input);",
        "sent 'run_finished'; a pack sends model_progress alone",
    ),
    "mute": (
        "await emit({ type: 'model_progress', scenarioId: 'mute', modelId: input.model.id }); return passed(input);",
        "a progress event of mute has no message",
    ),
}


def test_what_breaks_the_contract_is_found(packs: Packs) -> None:
    path = faulty_pack(packs.directory / "box", {}, **{name: body for name, (body, _) in ODD.items()})
    found = packs.told("test", str(path), code=1)
    for name, (_, expected) in ODD.items():
        assert any(expected in problem for problem in found["problems"]), (name, found["problems"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "throw new Error('no sums');",
            "scoring: of all results: the pack's scoreModelResults() failed: no sums",
        ),
        ("return { totalScore: Math.random(), categories: [] };", "determinism: the same results scored"),
        (
            "return { totalScore: results[0].scenarioId === 'ok' ? 1 : 2, categories: [] };",
            "scoring: results in another order score",
        ),
        (
            "return { totalScore: 1, categories: [{ id: 'A', label: 'Part A', score: 0 / 0 }] };",
            "no number for the categories Part A",
        ),
    ],
)
def test_a_scorer_that_breaks_the_contract_is_found(packs: Packs, body: str, expected: str) -> None:
    path = faulty_pack(packs.directory / "box", second="return passed(input);")
    entry = path / "dist/benchlocal/index.js"
    guarded = f"if (results.length === 0) return {{ totalScore: 0, categories: [] }}; {body}"
    entry.write_text(f"{entry.read_text()};exports.scoreModelResults = (results) => {{ {guarded} }};")
    problems = packs.told("test", str(path), code=1)["problems"]
    assert any(expected in problem for problem in problems), problems


ASKING = """
const url = context.providers[0].baseUrl + "/chat/completions";
const sent = { method: "POST", body: JSON.stringify({ stream: STREAM }), signal: input.abortSignal };
const response = await fetch(url, sent).catch(() => null);
const text = response ? await response.text() : "";
"""
HIDING = "return passed(input, { summary: text.slice(0, 9) });"


def asking_pack(packs: Packs, after: str, stream: str = "false") -> Path:
    """A pack with one scenario that asks once, and does `after` with the `text` of the response."""
    path = faulty_pack(packs.directory / "box")
    entry = path / "dist/benchlocal/index.js"
    body = ASKING.replace("STREAM", stream) + after
    more = f"""
        exports.listScenarios = async () => [{{ id: "ok", title: "ok" }}];
        exports.prepare = async (context) => ({{ runScenario: async (input, emit) => {{ {body} }} }});
    """
    entry.write_text(entry.read_text() + more)
    return path


def test_a_failed_request_that_comes_back_as_a_pass_is_found(packs: Packs) -> None:
    problems = packs.told("test", str(asking_pack(packs, HIDING)), code=1)["problems"]
    assert "provider errors: a failed request comes back as 'pass'" in problems


@pytest.mark.slow
def test_a_scenario_that_blocks_its_process_when_told_to_stop_is_found(packs: Packs) -> None:
    blocking = "if (!response) for (;;) {} return passed(input);"
    problems = packs.told("test", str(asking_pack(packs, blocking)), code=1)["problems"]
    assert any(problem.startswith("timeouts: ") and "endless loop" in problem for problem in problems)


@pytest.mark.parametrize("stream", ["false", "true"])
def test_answers_come_turn_by_turn_whole_or_streamed(packs: Packs, stream: str) -> None:
    twice = """
        const again = await (await fetch(url, sent)).text();
        const right = text.includes("get_weather") && again.includes("sunny");
        return passed(input, { status: right ? "pass" : "fail" });
    """
    path = asking_pack(packs, twice, stream)
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    answers = [
        {"scenario": "ok", "answer": [{"content": None, "tool_calls": [call]}, "sunny"], "status": "pass"},
        {"scenario": "ok", "answer": "sunny", "status": "fail"},
    ]
    (path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    assert packs.told("test", str(path))["answers"] == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"scenario": "none", "answer": "x"}', "the pack has no scenario 'none'"),
        ('{"scenario": "A-01"}', "is not a canned answer"),
        ('{"scenario": "A-01", "answer": []}', "the list of answers is empty"),
        ('{"scenario": "A-01", "answer": "x", "statuss": "pass"}', "is not a canned answer"),
    ],
)
def test_a_line_that_is_no_answer_is_told_with_its_number(packs: Packs, line: str, why: str) -> None:
    path = write_pack(packs.directory / "box")
    (path / "answers.jsonl").write_text(f"\n{line}\n")
    error = one_line_of(packs.program.run("pack", "test", str(path)).stderr)
    assert "answers.jsonl, line 2" in error
    assert why in error


def test_a_scenario_that_no_answer_fails_is_told(packs: Packs) -> None:
    path = write_pack(packs.directory / "box")
    lines = [{"scenario": "A-01", "answer": "say A-01 please", "status": "pass"}]
    (packs.directory / "mine.jsonl").write_text(json.dumps(lines[0]))
    problems = packs.told("test", str(path), "--canned", "mine.jsonl", code=1)["problems"]
    assert "statuses: A-01: no answer has the status fail" in problems
    assert "statuses: B-01: no answer has the status pass or fail" in problems
