"""A verifier in a container: built before the first model call, asked, asking the model itself, gone after the run."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.pack_kit import Packs, events, rendered, write_pack
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.services import write_context
from tests.sandbox.docker.stand_ins import IMAGE, containers, docker

from benchwright.packs.verifiers.verifier_location import image_name, kept_container_name
from benchwright.sandbox.docker.ownership import KEPT_LABEL, RUN_LABEL

__all__ = ["running_engine"]

ASKING = """\
#!/bin/sh
printf 'Content-Type: application/json\\r\\n\\r\\n'
wget -q -O - --header "Authorization: Bearer ${QUERY_STRING##*&}" --header "Content-Type: application/json" \\
    --post-data '{"model": "endpoint:m", "messages": [{"role": "user", "content": "from inside"}]}' \\
    "${QUERY_STRING%%&*}chat/completions" 2>&1
"""

DOCKERFILE = f"""
FROM {IMAGE}
COPY www /www
COPY start.sh /start.sh
RUN chmod 755 /www/cgi-bin/ask
ENTRYPOINT ["sh", "/start.sh"]
"""

CODE = """
    exports.manifest = {};
    exports.listScenarios = async () => [{ id: "A-01", title: "Inside" }];
    exports.prepare = async (context) => ({
        async runScenario(input) {
            const [endpoint] = context.inferenceEndpoints;
            const given = `${endpoint.dockerBaseUrl}&${endpoint.apiKey}`;
            const response = await fetch(`${context.verifiers[0].url}/cgi-bin/ask?${given}`);
            const rawLog = await response.text();
            const status = rawLog.includes("from inside") ? "pass" : "fail";
            return { scenarioId: "A-01", status, score: 1, summary: "", rawLog };
        },
        async dispose() {},
    });
    exports.scoreModelResults = (results) => ({ totalScore: results.length, categories: [] });
"""


@pytest.fixture
def pack(running_engine: None, program: Program) -> Iterator[Path]:
    """A pack with a verifier; in the end it has no image and no container."""
    directory = program.directory / f"pack-{secrets.token_hex(4)}"
    docker_section = {"buildContext": "./verification", "listenPort": 4010, "healthcheckPath": "/health"}
    declared = {
        "id": "verifier", "transport": "http", "required": True, "defaultMode": "docker", "docker": docker_section,
    }  # fmt: skip
    write_pack(directory, [], code=CODE, verifiers=[declared])
    context = write_context(directory / "verification", dockerfile=DOCKERFILE)
    (context / "www" / "cgi-bin").mkdir()
    (context / "www" / "cgi-bin" / "ask").write_text(ASKING)
    yield directory
    for container in containers(f"{KEPT_LABEL}={kept_container_name(directory.name, 'verifier')}"):
        docker("rm", "--force", container)
    for image in docker("images", "--quiet", image_name(directory.name, "verifier")).split():
        docker("rmi", "--force", image)


def test_a_container_asks_the_model_through_the_relay_and_is_gone_after_the_run(
    program: Program, pack: Path, echo: str
) -> None:
    told = Packs(program).run(str(pack), echo)
    (result,) = told["resultsByModel"]["endpoint:m"]
    assert result["status"] == "pass", result["rawLog"]
    assert told["requestsOfNoCell"] == 1
    assert told["attemptsByModel"]["endpoint:m"]["A-01"][0]["requests"] == 0
    run = program.only_run
    assert "a request outside any cell to primary" in rendered(run, "host.log")
    kinds = list(dict.fromkeys(event["type"] for event in events(run)))
    assert kinds[:3] == ["verifier_preparing", "run_started", "scenario_started"]
    phases = list(dict.fromkeys(event["phase"] for event in events(run) if "phase" in event))
    assert phases == ["checking_docker", "building_image", "starting_container", "waiting_for_healthcheck"]
    assert containers(f"{RUN_LABEL}={run.name}") == []


def test_a_verifier_is_started_by_hand_used_by_runs_and_stopped(
    program: Program, pack: Path, echo: str
) -> None:
    packs = Packs(program)
    (before,) = packs.told("verifiers", str(pack))["verifiers"]
    assert (before["status"], before["dockerImagePresent"]) == ("stopped", False)
    (started,) = packs.told("verifiers", str(pack), "start")["verifiers"]
    assert started["status"] == "running"
    told = packs.run(str(pack), echo)
    assert told["resultsByModel"]["endpoint:m"][0]["status"] == "pass"
    phases = {event["phase"] for event in events(program.only_run) if "phase" in event}
    assert "starting_container" not in phases, "the one that was started is used"
    assert packs.told("verifiers", str(pack))["verifiers"][0]["url"] == started["url"]
    assert len(packs.told("verifiers", str(pack), "stop")["stopped"]) == 1
    assert packs.told("verifiers", str(pack))["verifiers"][0]["status"] == "stopped"
