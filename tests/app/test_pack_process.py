"""The process of a pack: the same one lists its scenarios, runs them and scores them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.pack_kit import Packs, rendered


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A Node that notes each time it is started to run something."""
    program = tmp_path / "noting-node"
    real = shutil.which("node")
    noting = f'[ "$1" = --version ] || echo started >> {tmp_path}/starts'
    program.write_text(f'#!/bin/sh\n{noting}\nexec {real} "$@"\n')
    program.chmod(0o755)
    return program


def starts(node: Path) -> int:
    noted = node.with_name("starts")
    return len(noted.read_text().splitlines()) if noted.exists() else 0


def test_one_process_serves_a_whole_run(packs: Packs, echo: str, node: Path) -> None:
    told = packs.run(packs.pack("box"), echo, "--node", str(node))
    assert told["scores"]["endpoint:m"]["totalScore"] == 65
    assert starts(node) == 1


def test_a_process_that_ended_meanwhile_is_started_again_to_score(
    packs: Packs, echo: str, node: Path
) -> None:
    pack = packs.pack("box")
    entry = Path(pack, "dist/benchlocal/index.js")
    code = entry.read_text().replace("async dispose() {}", "async dispose() { process.exit(3); }")
    entry.write_text(code)
    told = packs.run(pack, echo, "--node", str(node))
    assert told["scores"]["endpoint:m"]["totalScore"] == 65
    assert starts(node) == 2


def test_a_dry_run_and_a_pack_without_models_leave_no_process(packs: Packs, echo: str, node: Path) -> None:
    pack = packs.pack("box")
    dry = packs.program.run("pack", "run", pack, *packs.arguments(echo, "--dry-run", "--node", str(node)))
    assert dry.returncode == 0, dry.stderr
    wrong = packs.program.run(
        "pack", "run", pack, *packs.arguments(echo, "--scenario", "none", "--node", str(node))
    )
    assert wrong.returncode == 1
    assert starts(node) == 2
    assert "Traceback" not in dry.stderr + wrong.stderr


def test_what_a_pack_prints_while_it_loads_is_in_the_runs_log(packs: Packs, echo: str) -> None:
    pack = packs.pack("box")
    entry = Path(pack, "dist/benchlocal/index.js")
    entry.write_text(f"console.log('loading');{entry.read_text()}")
    packs.run(pack, echo)
    assert "[stdout] loading" in rendered(packs.program.only_run, "host.log")


def test_a_finished_run_is_scored_again_without_a_verifier_or_a_model(packs: Packs, echo: str) -> None:
    pack = packs.pack("box")
    first = packs.run(pack, echo)
    again = packs.program.run(
        "pack", "run", pack, *packs.arguments(echo, "--retry-scenario", "none", "--json")
    )
    (told,) = json.loads(again.stdout)["packs"]
    assert told["scores"] == first["scores"]
