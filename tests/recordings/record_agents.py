"""Records what the pinned agents ask: each does two steps at a scripted server, and its requests are written down.

    .venv/bin/python -m tests.recordings.record_agents [AGENT ...]

Agents must be installed (`benchwright agents install`). Requests are taken between agent and relay, in the agent's own
dialect. Long texts are its makers' and stand here by their length only; tokens, folders, ids and days are replaced.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from tests.agents.outside_kit import write_rows
from tests.strict_chat_server import AGENTS_TOOLS, strict_chat_server

from benchwright.agents.external_agent_task import AgentAnswer, ExternalAgentTask
from benchwright.agents.recipe_task import RecipeAgent
from benchwright.data.rows import Row
from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.plan import Plan
from benchwright.engine.worker import TrialWork, Worker, WorkResult
from benchwright.recipes.recipe_lookup import find_recipe
from benchwright.records import Target, Trial, TrialLimits

FOLDER = Path(__file__).with_name("agents")
AGENTS = ("aider", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode", "qwen-code")
RECORDINGS = {
    **{name: (name, "sim") for name in AGENTS},
    "codex-catalogue": ("codex", "gpt-5.6-sol"),  # its catalogue has this one: tools come as items, in groups
}
"""The agent and the model of each recording."""
COMMANDS = ("echo benchwright > first.txt", "cat first.txt > second.txt")
REFUSED = {"mini-swe-agent": ["unknown fields: provider_specific_fields"]}
"""What a strict server refuses once of an agent's requests, before the relay leaves it out."""
OF_ITS_OWN = {"mini-swe-agent": ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",)}
"""The commands by which an agent is told that it is done."""
HEADERS = ("anthropic-beta", "anthropic-version", "authorization", "x-api-key", "x-goog-api-key")
LONGEST = 60
"""Characters of a text that is kept as it is."""
PERSONAL = (
    (re.compile(r"/\S*benchwright-agent-\w+"), "/place"),
    (
        re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        "00000000-0000-0000-0000-000000000000",
    ),
    (re.compile(r"\b[0-9a-f]{32,}\b"), "0" * 32),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "2026-01-01"),
    (re.compile(re.escape(socket.gethostname())), "host"),
)


class Recorder:
    """Stands between an agent and the relay, passes everything on, and keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.relay = ""

    async def pass_on(self, request: web.Request) -> web.Response:
        """Pass a request on to the relay."""
        body = await request.read()
        kept = {name: "x" for name in HEADERS if name in request.headers}
        entry = {"method": request.method, "path": request.path_qs, "headers": kept, "body": body}
        self.requests.append(entry)
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in ("host", "content-length")
        }
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, self.relay + request.path_qs, data=body, headers=headers
            ) as answer,
        ):
            return web.Response(
                status=answer.status, body=await answer.read(), content_type=answer.content_type
            )


class RecordedAgent:
    """An agent whose way to the relay leads through a recorder at `address`."""

    def __init__(self, agent: RecipeAgent, recorder: Recorder, address: str) -> None:
        self.name, self.fingerprint = agent.name, agent.fingerprint
        self._agent, self._recorder, self._address = agent, recorder, address

    async def run(self, row: Row, trial: Trial, calls: AgentAccess) -> AgentAnswer:
        """Run the agent."""
        self._recorder.relay = calls.base_url.removesuffix("/v1")
        calls.base_url = f"{self._address}/v1"
        said = await self._agent.run(row, trial, calls)
        for one in self._recorder.requests:
            one["body"] = clean(
                json.loads(one["body"].replace(calls.token.encode(), b"x")) if one["body"] else None
            )
            one["path"] = one["path"].replace(calls.token, "x")
        return said


async def record(name: str, model: str) -> list[dict[str, Any]]:
    """Let an agent do two steps; returns its requests."""
    recorder = Recorder()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", recorder.pass_on)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            strict_chat_server(
                AGENTS_TOOLS, (*COMMANDS, *OF_ITS_OWN.get(name, ())), "Both are done."
            ) as server,
        ):
            rows = write_rows(
                Path(folder, "rows.jsonl"), {"question": "Do two steps.", "answer": "Both are done."}
            )
            agent = RecordedAgent(RecipeAgent(find_recipe(name)), recorder, address)
            await run(ExternalAgentTask(rows, agent, (), content=row_content), server.base_url, model)
            assert server.refusals == REFUSED.get(name, [])
    finally:
        await runner.cleanup()
    return recorder.requests


def row_content(row: Row, index: int) -> Row:
    """Return the row as the agent gets it."""
    return {"user_prompt": row["question"], "ground_truth": row["answer"]}


async def run(task: ExternalAgentTask, base_url: str, model: str) -> None:
    """Run the only trial of a task."""

    async def deliver(result: WorkResult) -> None:
        """Nothing is kept of it."""

    target = Target("primary", model, base_url, {})
    plan = Plan(task, 1, (target,), limits=TrialLimits(turns=20))
    async with EndpointClient(target, access=Access(None)) as client, task.open() as solver:
        await Worker(solver, (), {"primary": client}, plan.limits, deliver).process_work(
            TrialWork(next(plan.trials()))
        )


def clean(value: Any, key: str = "") -> Any:
    """Return JSON without long texts and without what is personal."""
    if isinstance(value, dict):
        return {name: clean(inner, name) for name, inner in value.items() if name != "description"}
    if isinstance(value, list):
        return [clean(inner, key) for inner in value]
    if not isinstance(value, str) or key in ("arguments", "input"):
        return value
    for pattern, replacement in PERSONAL:
        value = pattern.sub(replacement, value)
    return value if len(value) <= LONGEST else f"A text of {len(value)} characters."


def main(names: list[str]) -> None:
    """Make the recordings of these names, or all."""
    for name in names or RECORDINGS:
        agent, model = RECORDINGS[name]
        version = find_recipe(agent).version
        requests = asyncio.run(record(agent, model))
        lines = [
            json.dumps(one, separators=(",", ":"))
            for one in ({"agent": agent, "version": version}, *requests)
        ]
        (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        print(f"{name} {version}: {len(requests)} requests")


if __name__ == "__main__":
    main(sys.argv[1:])
