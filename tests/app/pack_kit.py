"""What the tests of `pack` share: packs as they are built for the desktop host, and what a run leaves behind."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program

from benchwright.endpoint.simulate import TruthRecord

# As the TypeScript compiler writes CommonJS: `__esModule`, `exports.default`, calls as `(0, module.name)(...)`.
COMMON_JS = """\
"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const sdk_1 = require("@benchlocal/sdk");
const scenarios_1 = require("../../scenarios.json");
const manifest = (0, sdk_1.loadBenchPackManifest)(__dirname);
%s
exports.default = (0, sdk_1.defineBenchPack)({
    manifest,
    async listScenarios() {
        return scenarios_1.map(({ expect, ...meta }) => meta);
    },
    async prepare(context) {
        return prepare((0, sdk_1.createHostHelpers)(context), context);
    },
    scoreModelResults(results) {
        return score((0, sdk_1.requireScoredResults)(results));
    },
});
"""

ESM = """\
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createHostHelpers, defineBenchPack, loadBenchPackManifest, requireScoredResults } from "@benchlocal/sdk";
const scenarios_1 = createRequire(import.meta.url)("../../scenarios.json");
const manifest = loadBenchPackManifest(dirname(fileURLToPath(import.meta.url)));
%s
export default defineBenchPack({
    manifest,
    async listScenarios() {
        return scenarios_1.map(({ expect, ...meta }) => meta);
    },
    async prepare(context) {
        return prepare(createHostHelpers(context), context);
    },
    scoreModelResults(results) {
        return score(requireScoredResults(results));
    },
});
"""

SHARED = """
const WEIGHTS = { A: 0.6, B: 0.4 };
async function ask(helpers, input, prompt) {
    const provider = helpers.getRequiredProvider(input.model.provider, { enabledOnly: true });
    const key = helpers.getSecretValue(provider.id);
    const { request_timeout_seconds, ...sampling } = helpers.resolveGenerationRequest(input.generation);
    const sent = { model: input.model.model, messages: [{ role: "user", content: prompt }], ...sampling };
    const response = await fetch(provider.baseUrl.replace(/\\/+$/, "") + "/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", ...(key ? { authorization: "Bearer " + key } : {}) },
        body: JSON.stringify(sent),
        signal: input.abortSignal,
    });
    if (!response.ok) {
        const error = new Error("HTTP " + response.status + ": " + (await response.text()).slice(0, 200));
        if (!input.scenario.tags?.includes("swallows")) error.status = response.status;
        throw error;
    }
    return { sent, answer: (await response.json()).choices[0].message.content ?? "" };
}
async function prepare(helpers, context) {
    context.logger.info("prepared", { model: Object.keys(context.models[0]) });
    return {
        async runScenario(input, emit) {
            const { expect, promptText } = scenarios_1.find((one) => one.id === input.scenario.id);
            const [modelId, scenarioId] = [input.model.id, input.scenario.id];
            await emit({ type: "model_progress", modelId, scenarioId, message: "Asking." });
            const made = (status, points, summary, rawLog) =>
                ({ scenarioId: input.scenario.id, status, score: points, summary, rawLog, extra: "kept" });
            try {
                const { sent, answer } = await ask(helpers, input, promptText);
                const right = answer.trim() === expect;
                const half = !right && answer.includes(expect);
                const log = JSON.stringify({ sent, generation: input.generation, runId: input.runId, answer });
                return made(right ? "pass" : half ? "partial" : "fail", right ? 100 : half ? 50 : 0, answer, log);
            } catch (error) {
                if (!input.scenario.tags?.includes("swallows")) throw error;
                return made("fail", 0, error.message, "swallowed");
            }
        },
        async dispose() {},
    };
}
function score(results) {
    const categories = Object.entries(WEIGHTS).map(([id, weight]) => {
        const own = results.filter((one) => scenarios_1.find((meta) => meta.id === one.scenarioId).category === id);
        const sum = own.reduce((total, one) => total + one.score, 0);
        return { id, label: "Category " + id, score: own.length ? sum / own.length : 0, weight, unit: "pts" };
    });
    const totalScore = categories.reduce((total, one) => total + one.score * one.weight, 0);
    return { totalScore, categories, summary: totalScore > 70 ? "★★★ Good" : "★ Weak", totalUnit: "pts", extra: 7 };
}
"""

Scenario = dict[str, Any]


def scenario(identity: str, category: str = "A", expect: str | None = None, **more: Any) -> Scenario:
    """A scenario whose prompt an echo answers rightly, unless something else is expected."""
    prompt = f"say {identity} please"
    return {
        "id": identity,
        "title": f"Title of {identity}",
        "category": category,
        "promptText": prompt,
        "expect": prompt if expect is None else expect,
        "detailCards": [{"title": "What this tests", "content": f"Whether {identity} is said."}],
        **more,
    }


def numbered(count: int) -> list[Scenario]:
    """So many scenarios that an echo answers rightly."""
    return [scenario(f"S-{number:02}", "AB"[number % 2]) for number in range(1, count + 1)]


MIXED = [
    scenario("A-01"),
    scenario("A-02", expect="say A-02"),
    scenario("B-01", "B"),
    scenario("B-02", "B", expect="never said"),
]
"""Two of four passed, one partly: by the pack's own scorer 0.6 * 75 + 0.4 * 50 = 65."""


def need_node() -> None:
    """Skips the test where there is no Node, or fails it under CI, where there has to be one."""
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Node on the PATH (.ci/run installs it)")
        pytest.skip("there is no Node on the PATH")


def write_pack(
    directory: Path,
    scenarios: Sequence[Scenario] = MIXED,
    *,
    entry: str = "./dist/benchlocal/index.js",
    code: str | None = None,
    **manifest: Any,
) -> Path:
    """A pack's directory. `code` is the entry's text; without it the pack asks, compares and scores."""
    facts = {
        "schemaVersion": 1,
        "protocolVersion": 1,
        "id": directory.name,
        "name": f"Pack {directory.name}",
        "version": "1.0.0",
        "entry": entry,
        "samplingDefaults": {"temperature": 0},
        "capabilities": {
            "tools": False,
            "multiTurn": False,
            "streamingProgress": True,
            "verification": False,
        },
        **manifest,
    }
    files = {
        "benchlocal.pack.json": json.dumps(facts),
        "scenarios.json": json.dumps(list(scenarios)),
        entry: code or (ESM if entry.endswith(".mjs") else COMMON_JS) % SHARED,
    }
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def faulty_pack(directory: Path, sampling: Mapping[str, Any] = {}, **scenarios: str) -> Path:
    """A pack whose scenarios are bodies of `async (input, emit) => {...}`; `ok` is there always, and passes."""
    bodies = {"ok": "return passed(input);", **scenarios}
    functions = ",\n".join(f"{name}: async (input, emit) => {{ {body} }}" for name, body in bodies.items())
    code = f"""
        const passed = (input, more) =>
            ({{ scenarioId: input.scenario.id, status: "pass", score: 1, summary: "fine", rawLog: "", ...more }});
        const scenarios = {{ {functions} }};
        exports.manifest = {{}};
        exports.listScenarios = async () => Object.keys(scenarios).map((id) => ({{ id, title: id }}));
        exports.prepare = async () => ({{
            runScenario: (input, emit) => scenarios[input.scenario.id](input, emit),
            dispose: async () => {{}},
        }});
        exports.scoreModelResults = (results) =>
            ({{ totalScore: results.filter((one) => one.status === "pass").length, categories: [] }});
    """
    return write_pack(directory, [], code=code, samplingDefaults=dict(sampling))


class Packs:
    """`benchwright pack` with a home of its own."""

    def __init__(self, program: Program) -> None:
        need_node()
        self.program = program
        self.directory = program.directory

    def pack(self, name: str, scenarios: Sequence[Scenario] = MIXED, **options: Any) -> str:
        """Writes a pack; returns its path."""
        return str(write_pack(self.directory / name, scenarios, **options))

    def arguments(self, base_url: str, *more: str, models: Sequence[str] = ("m",)) -> list[str]:
        """The arguments of a run, but for the packs."""
        named = [part for model in models for part in ("--model", model)]
        return [*named, "--base-url", base_url, *more]

    def run(
        self,
        pack: str,
        base_url: str,
        *more: str,
        models: Sequence[str] = ("m",),
        code: int = 0,
        **environment: str,
    ) -> dict[str, Any]:
        """Runs one pack with `--json`, which must end with this code; returns what it tells of the pack."""
        command = ["pack", "run", pack, *self.arguments(base_url, *more, models=models), "--json"]
        ended = self.program.run(*command, **environment)
        assert ended.returncode == code, ended.stderr
        told: dict[str, Any]
        (told,) = json.loads(ended.stdout)["packs"]
        return told

    def told(self, *arguments: str, code: int = 0, **environment: str) -> dict[str, Any]:
        """What `pack` prints with these arguments and `--json`."""
        ended = self.program.run("pack", *arguments, "--json", **environment)
        assert ended.returncode == code, ended.stderr
        told: dict[str, Any] = json.loads(ended.stdout)
        return told


def rendered(run: Path, name: str) -> str:
    """A documented file of a run."""
    return (run / "rendered" / name).read_text()


def events(run: Path) -> list[dict[str, Any]]:
    """events.jsonl of a run."""
    return [json.loads(line) for line in rendered(run, "events.jsonl").splitlines()]


def outline(run: Path) -> list[tuple[str, ...]]:
    """The events of a run but for progress, each as (type, scenario, model), as far as it has them."""
    return [
        tuple(event[name] for name in ("type", "scenarioId", "modelId") if name in event)
        for event in events(run)
        if event["type"] != "model_progress"
    ]


def most_at_once(log: Sequence[TruthRecord]) -> int:
    """The most requests that a server had to answer at the same time."""
    asked = [truth for truth in log if truth.path.endswith("/chat/completions")]
    changes = sorted([(one.received, 1) for one in asked] + [(one.last_byte, -1) for one in asked])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


@contextmanager
def served(directory: Path) -> Iterator[str]:
    """A server of files; yields its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(directory)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
