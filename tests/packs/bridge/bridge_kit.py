"""What the tests of the bridge share: packs written on the spot, in every form, and a process to run them in."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import textwrap
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from benchwright.packs.bridge import BridgeLimits, CellResult, PackProcess
from benchwright.packs.types import (
    HostContext,
    PackPaths,
    ProviderConfig,
    RegisteredModel,
    ScenarioRunInput,
    SecretResolution,
)

MANIFEST = {
    "schemaVersion": 1,
    "protocolVersion": 1,
    "id": "sample",
    "name": "Sample",
    "version": "1.0.0",
    "entry": "./dist/benchlocal/index.js",
    "capabilities": {"tools": False, "multiTurn": False, "streamingProgress": True, "verification": False},
}
ENTRY = "./dist/benchlocal/index.js"
QUICK = BridgeLimits(
    load_seconds=20,
    prepare_seconds=20,
    score_seconds=20,
    dispose_seconds=5,
    grace_seconds=0.3,
    answer_seconds=1.5,
)

COMMON_JS = """
const scenarios = {
%s
};
let context;
exports.manifest = { id: "sample" };
exports.listScenarios = async () => Object.keys(scenarios).map((id) => ({ id, title: id, extra: "kept" }));
exports.prepare = async (given) => {
  context = given;
  return {
    runScenario: (input, emit) => scenarios[input.scenario.id](input, emit, context),
    dispose: async () => { console.log("disposed"); },
  };
};
exports.scoreModelResults = (results) => ({ totalScore: results.length, categories: [], totalUnit: "results" });
const passed = (input, more) =>
  ({ scenarioId: input.scenario.id, status: "pass", score: 1, summary: "", rawLog: "", ...more });
"""


def require_node() -> None:
    """Skips the test where there is no Node, or fails it under CI, where there has to be one."""
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Node on the PATH (.ci/run installs it)")
        pytest.skip("there is no Node on the PATH")


def write_pack(directory: Path, files: Mapping[str, str]) -> Path:
    """A pack's directory with these files, and a manifest."""
    for name, content in {"benchlocal.pack.json": json.dumps(MANIFEST), **files}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(content), encoding="utf-8")
    return directory


def scenario_pack(directory: Path, more: str = "", **scenarios: str) -> Path:
    """A CommonJS pack; each scenario is the body of `async (input, emit, context) => {…}`; `more` comes last.

    `ok` is there always, and passes.
    """
    bodies = {"ok": "return passed(input);", **scenarios}
    functions = "".join(
        f"  {name}: async (input, emit, context) => {{\n{textwrap.dedent(body)}\n  }},\n"
        for name, body in bodies.items()
    )
    return write_pack(directory, {"dist/benchlocal/index.js": COMMON_JS % functions + textwrap.dedent(more)})


class Log(list[tuple[str, str, Any]]):
    """All that a pack logged and printed."""

    def note(self, level: str, message: str, data: Any) -> None:
        self.append((level, message, data))

    def lines(self, level: str) -> list[str]:
        return [message for heard, message, _ in self if heard == level]

    async def hears(self, level: str, part: str) -> bool:
        """Waits for a line, as it may come after the answer that it was written before."""
        for _ in range(300):
            if any(part in line for line in self.lines(level)):
                return True
            await asyncio.sleep(0.01)
        return False


def context(directory: Path, base_url: str = "http://127.0.0.1:9/v1") -> HostContext:
    """A host context with one provider and one model."""
    folder = str(directory)
    return HostContext(
        bench_pack=PackPaths("sample", "1.0.0", folder, folder, folder, folder),
        providers=[ProviderConfig("local", "openai_compatible", "Local", True, base_url, "bearer")],
        models=[MODEL],
        secrets=[SecretResolution("local", "api_key", "config", "run-level-token")],
        verifiers=[],
        inference_endpoints=[],
    )


MODEL = RegisteredModel("local:m", "local", "m", "M", True, "primary")


@asynccontextmanager
async def running(
    directory: Path,
    entry: str = ENTRY,
    *,
    base_url: str = "http://127.0.0.1:9/v1",
    log: Log | None = None,
    limits: BridgeLimits = QUICK,
    relay_url: str | None = None,
    **options: Any,
) -> AsyncIterator[PackProcess]:
    """The pack, loaded and prepared."""
    if not entry.endswith(".py"):
        require_node()
    home = directory.with_name(f"{directory.name}-home")
    note = None if log is None else log.note
    async with PackProcess(directory, entry, home=home, limits=limits, log=note, **options) as pack:
        await pack.prepare(context(directory, base_url), relay_url)
        yield pack


def given(scenario: str, **generation: Any) -> ScenarioRunInput:
    """The input of one scenario."""
    return ScenarioRunInput("run-1", "sample", {"id": scenario, "title": scenario}, MODEL, generation)


async def run(pack: PackProcess, scenario: str, cell: str | None = None, **options: Any) -> CellResult:
    """Runs a scenario as a cell of its own."""
    return await pack.run(cell or f"cell-{scenario}", given(scenario), **{"seconds": 20, **options})


async def failure(pack: PackProcess, scenario: str, **options: Any) -> str:
    """The reason for which a cell failed."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        await run(pack, scenario, **options)
    reason = str(caught.value)
    assert "\n" not in reason
    return reason
