"""`pack install | update | delete | list | show | validate | init`: a pack's life on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.pack_kit import Packs, faulty_pack, scenario, served, write_pack


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def archived(pack: Path, name: str) -> Path:
    """A .tar.gz of a pack, as GitHub makes it: everything in one directory."""
    path = pack.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        archive.add(pack, arcname=f"{pack.name}-1.0.0")
    return path


def listed(packs: Packs) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = packs.told("list")["packs"]
    return told


def test_packs_come_from_a_registry_and_github_at_addresses_of_the_users(
    packs: Packs, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    write_pack(site / "one")
    write_pack(site / "two")
    archived(site / "one", "archives/owner/one/v1")
    checksum = hashlib.sha256(archived(site / "two", "two.tar.gz").read_bytes()).hexdigest()
    with served(site) as address:
        entries = [
            {"id": "one", "name": "One", "version": "1.0.0",
             "source": {"type": "github", "repo": "owner/one", "tag": "v1"}},
            {"id": "two", "name": "Two", "version": "1.0.0", "sha256": checksum,
             "source": {"type": "archive", "url": f"{address}/two.tar.gz"}},
            {"id": "screen", "name": "Screen", "version": "1.0.0", "source": {"type": "web", "entry": "x"}},
        ]  # fmt: skip
        (site / "registry.json").write_text(json.dumps({"schemaVersion": 1, "packs": entries}))
        packs.program.home.mkdir()
        archives = f"{address}/archives/{{repository}}/{{tag}}"
        (packs.program.home / "packs.toml").write_text(f'[registry]\ngithub_archive = "{archives}"\n')
        registry: dict[str, Any] = {"BENCHWRIGHT_REGISTRY": f"{address}/registry.json"}
        ended = packs.program.run("pack", "install", "one", **registry)
        assert ended.returncode == 0, ended.stderr
        phases = [line.split("]")[0].lstrip("[") for line in ended.stderr.splitlines()]
        assert phases == ["resolving", "downloading", "extracting", "validating", "activating", "complete"]
        packs.told("install", "two", **registry)
        refused = packs.program.run("pack", "install", "screen", **registry)
        assert (
            one_line_of(refused.stderr)
            == "Error: screen cannot be installed: it is a web pack, a page on which a person works: its bridge has no "
            "message that starts a run, so it cannot be run unattended; `benchwright pack open` shows it."
        )
    assert [(pack["id"], pack["source"]) for pack in listed(packs)] == [
        ("one", "the registry (one)"),
        ("two", "the registry (two)"),
    ]


def test_an_archive_is_installed_updated_and_removed(packs: Packs) -> None:
    pack = write_pack(packs.directory / "source" / "box", scenarioCount=4)
    archive = archived(pack, "box.tar.gz")
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    wrong = packs.program.run("pack", "install", str(archive), "--sha256", "0" * 64)
    assert "SHA-256" in one_line_of(wrong.stderr)
    assert listed(packs) == []
    told = packs.told("install", str(archive), "--sha256", checksum)
    assert (told["id"], told["version"], told["status"]) == ("box", "1.0.0", "ready")
    assert (told["scenarios"], told["archiveSha256"]) == (4, checksum)

    assert packs.told("update", "--all")["packs"][0]["changed"] is False
    write_pack(pack, version="1.1.0")
    archived(pack, "box.tar.gz")
    (updated,) = packs.told("update", "box")["packs"]
    assert (updated["changed"], updated["version"]) == (True, "1.1.0")
    assert packs.program.run("pack", "uninstall", "box").stdout == "box is removed.\n"
    assert listed(packs) == []
    gone = packs.program.run("pack", "uninstall", "box")
    assert one_line_of(gone.stderr).startswith("Error: There is no pack 'box' in ")


def test_broken_and_web_packs_are_listed_and_keep_nobody_from_the_others(packs: Packs) -> None:
    made = {
        name: write_pack(packs.directory / "made" / name) for name in ("good", "web", "newer", "lost", "bad")
    }
    for path in made.values():
        packs.told("install", str(path))
    write_pack(made["web"], type="web", web={"entry": "index.html"})
    write_pack(made["newer"], requirements={"benchlocal": {"minVersion": "9.0.0"}})
    (made["lost"] / "dist/benchlocal/index.js").unlink()
    (made["bad"] / "benchlocal.pack.json").write_text('{"schemaVersion": 2}')
    states = {pack["id"]: pack["status"] for pack in listed(packs)}
    assert states == {
        "bad": "invalid_manifest",
        "good": "ready",
        "lost": "entry_missing",
        "newer": "incompatible",
        "web": "incompatible",
    }
    table = packs.program.run("pack", "list").stdout
    assert all(name in table for name in states)
    general = packs.program.run("list")
    assert "Bench packs" in general.stdout
    assert "lost: its entry ./dist/benchlocal/index.js is missing; was the pack built?" in general.stdout
    ended = packs.program.run("pack", "run", "web", "--model", "m")
    assert one_line_of(ended.stderr).startswith("Error: web is a web pack, a page on which a person works")
    claimed = packs.told("list", "--compatible-version", "9.0.0")["packs"]
    assert {pack["id"]: pack["status"] for pack in claimed}["newer"] == "ready"


def test_without_packs_the_general_list_is_what_it_was(packs: Packs) -> None:
    assert "Bench packs" not in packs.program.run("list").stdout
    assert "packs" not in json.loads(packs.program.run("list", "--json").stdout)


def test_info_shows_the_manifest_the_verifiers_and_the_cards(packs: Packs) -> None:
    docker = {"buildContext": "./verification", "listenPort": 4010, "healthcheckPath": "/health"}
    pack = packs.pack(
        "box",
        [scenario("A-01", description="First of all.")],
        requirements={"benchlocal": {"minVersion": "0.2.0"}, "hostFeatures": ["inferenceEndpoints"]},
        sidecars=[{"id": "judge", "transport": "http", "required": True, "defaultMode": "docker", "docker": docker}],
        favourite="kept",
    )  # fmt: skip
    (packs.directory / "box" / "verification").mkdir()
    told = packs.told("info", pack)
    assert told["runtime"].startswith("Node v")
    assert told["manifest"]["favourite"] == "kept"
    assert told["scenarios"][0]["detailCards"][0]["title"] == "What this tests"
    shown = packs.program.run("pack", "info", pack).stdout
    for text in (
        "Pack box 1.0.0",
        "host >= 0.2.0, inferenceEndpoints",
        "judge (required, docker)",
        "temperature=0",
        "A-01  Title of A-01  [A]",
        "First of all.",
        "What this tests: Whether A-01 is said.",
    ):
        assert text in shown


def test_a_pack_that_does_not_load_is_shown_as_that(packs: Packs) -> None:
    pack = faulty_pack(packs.directory / "box")
    (pack / "dist/benchlocal/index.js").write_text("exports.listScenarios = 3;")
    told = packs.told("info", str(pack))
    assert told["status"] == "load_error"
    assert "exports no listScenarios()" in told["error"]


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_new_pack_is_valid(packs: Packs, language: str) -> None:
    written = packs.program.run("pack", "init", "my-pack", "--language", language)
    assert written.returncode == 0, written.stderr
    told = packs.told("validate", "my-pack")
    assert (told["valid"], told["scenarios"], told["problems"], told["warnings"]) == (True, 4, [], [])
    again = packs.program.run("pack", "init", "my-pack", "--language", language)
    assert "already exists" in one_line_of(again.stderr)


def test_validate_tells_every_problem_and_fails(packs: Packs) -> None:
    pack = faulty_pack(packs.directory / "box")
    entry = pack / "dist/benchlocal/index.js"
    entry.write_text(
        entry.read_text()
        + ";const b = { id: 'b', title: 'B', detailCards: [{ title: 1 }], tags: 'x' };"
        + "exports.listScenarios = async () => [{ id: 'a' }, b];"
        + "exports.scoreModelResults = (results) => ({ totalScore: results[0].score });"
    )
    told = packs.told("validate", str(pack), code=1)
    assert told["valid"] is False
    assert told["problems"] == [
        "scenario a: it has no title",
        "scenario b: its tags are not a list of strings",
        "scenario b: its detailCards are not a list of {title, content}",
        "the pack's scoreModelResults() failed: TypeError: Cannot read properties of undefined (reading 'score') "
        "(dist/benchlocal/index.js:13)",
    ]
    assert "scenario a has no category" in told["warnings"]
    lines = packs.program.run("pack", "validate", str(pack)).stdout.splitlines()
    assert lines[0] == "problem: scenario a: it has no title"
    assert lines[-1] == f"{pack} is not valid: 2 scenarios"


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ({"entry": "../outside.js"}, "must stay inside the pack"),
        ({"protocolVersion": 2}, "protocolVersion"),
        ({"capabilities": {}}, "verification"),
        ({"requirements": {"hostFeatures": ["telepathy"]}}, "telepathy"),
    ],
)
def test_validate_refuses_a_manifest_before_anything_runs(
    packs: Packs, manifest: dict[str, Any], problem: str
) -> None:
    pack = faulty_pack(packs.directory / "box")
    path = pack / "benchlocal.pack.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **manifest}))
    (told,) = packs.told("validate", str(pack), code=1)["problems"]
    assert problem in told


def test_a_pack_without_verifiers_says_so(packs: Packs) -> None:
    ended = packs.program.run("pack", "verifiers", packs.pack("box"))
    assert one_line_of(ended.stderr) == "Error: box has no verifiers."


def test_packs_are_shown_and_deleted_by_the_verbs_of_runs_and_caches(packs: Packs) -> None:
    for name in ("box", "tin"):
        packs.told("install", str(write_pack(packs.directory / name)), "--copy", "-q")
    assert packs.told("show", "box") == packs.told("info", "box")
    assert "--yes" in one_line_of(packs.program.run("pack", "delete", "box").stderr)
    assert packs.program.run("pack", "delete", "box", "nowhere", "-y").returncode == 1
    assert len(listed(packs)) == 2
    ended = packs.program.run("pack", "delete", "box", "tin", "-y", "-q")
    assert (ended.stdout, ended.stderr) == ("box is removed.\ntin is removed.\n", "")
    assert listed(packs) == []


def test_a_pack_that_does_not_load_is_not_installed_and_the_old_version_stays(packs: Packs) -> None:
    path = write_pack(packs.directory / "box")
    packs.told("install", str(path), "--copy")
    entry = path / "dist/benchlocal/index.js"
    entry.write_text(f"require('no-such-library');\n{entry.read_text()}")
    refused = packs.program.run("pack", "install", str(path), "--copy", "-q")
    assert refused.returncode == 1
    assert one_line_of(refused.stderr).startswith(f"Error: {path} is not installed: it does not load (")
    assert "Cannot find module 'no-such-library'" in refused.stderr
    assert [pack["status"] for pack in listed(packs)] == ["ready"]
    assert packs.told("show", "box")["scenarios"]


LACKING = "const { z } = require('zod');\n"


def test_a_library_that_cannot_be_fetched_is_named_with_what_to_do(packs: Packs) -> None:
    path = write_pack(packs.directory / "box")
    entry = path / "dist/benchlocal/index.js"
    entry.write_text(LACKING + entry.read_text())
    npm = packs.directory / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho 'no network' >&2; exit 1\n")
    npm.chmod(0o755)
    search = f"{npm.parent}{os.pathsep}{os.environ['PATH']}"
    refused = packs.program.run("pack", "install", str(path), "-q", PATH=search)
    assert refused.returncode == 1
    told = one_line_of(refused.stderr)
    assert "needs zod, which the desktop host supplies; npm cannot fetch zod@3.25.76: no network" in told
    assert "run: benchwright pack runtime install" in told
    assert listed(packs) == []


@pytest.mark.slow
def test_libraries_that_a_pack_imports_are_fetched_when_it_is_installed(packs: Packs, echo: str) -> None:
    path = write_pack(packs.directory / "box")
    entry = path / "dist/benchlocal/index.js"
    entry.write_text(LACKING + entry.read_text())
    ended = packs.program.run("pack", "install", str(path))
    if "npm cannot fetch" in ended.stderr:
        pytest.skip("npm reaches no registry")
    assert "Fetching zod 3.25.76" in ended.stderr
    assert packs.run("box", echo)["scores"]


def test_without_node_a_pack_is_installed_and_one_line_says_what_is_not_known(packs: Packs) -> None:
    path = write_pack(packs.directory / "box")
    ended = packs.program.run("pack", "install", str(path), "-q", "--node", "no-such-node")
    assert ended.returncode == 0
    assert ended.stderr.startswith("Note: it is not known whether box loads")


ANOTHER = "exports.default.manifest = { ...exports.default.manifest, %s };"


def test_a_module_that_calls_itself_another_pack_is_refused_everywhere(packs: Packs, echo: str) -> None:
    path = write_pack(packs.directory / "box")
    entry = path / "dist/benchlocal/index.js"
    entry.write_text(entry.read_text() + ANOTHER % "id: 'tin'")
    why = "the module calls itself 'tin' and the manifest file 'box'; both must have the same id"
    assert why in packs.program.run("pack", "install", str(path)).stderr
    assert why in packs.program.run("pack", "run", str(path), *packs.arguments(echo)).stderr
    assert packs.told("validate", str(path), code=1)["problems"] == [why]


def test_what_a_module_says_differently_than_its_manifest_file_is_told(packs: Packs, echo: str) -> None:
    path = write_pack(packs.directory / "box")
    entry = path / "dist/benchlocal/index.js"
    entry.write_text(entry.read_text() + ANOTHER % "version: '2.0.0'")
    why = 'version is "2.0.0" in the module and "1.0.0" in the manifest file; the module\'s counts'
    assert packs.told("validate", str(path))["warnings"] == [why]
    ended = packs.program.run("pack", "run", str(path), *packs.arguments(echo))
    assert f"Note: box: {why}." in ended.stderr
    assert "Pack box 2.0.0" in ended.stdout


def test_a_verifier_that_the_module_alone_declares_stays_inside_the_pack(packs: Packs) -> None:
    path = write_pack(packs.directory / "box")
    entry = path / "dist/benchlocal/index.js"
    docker = "docker: { listenPort: 80, buildContext: '../..' }"
    entry.write_text(
        entry.read_text() + ANOTHER % f"verifiers: [{{ id: 'v', defaultMode: 'docker', {docker} }}]"
    )
    (problem,) = packs.told("validate", str(path), code=1)["problems"]
    assert "verifiers[0].docker.buildContext must stay inside the pack" in problem


def test_quiet_says_nothing_while_it_installs(packs: Packs) -> None:
    ended = packs.program.run("pack", "install", str(write_pack(packs.directory / "box")), "--copy", "-q")
    assert (ended.returncode, ended.stderr) == (0, "")
