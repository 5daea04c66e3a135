"""Libraries that the desktop host puts beside every pack: found by packs, fetched by npm, checked by their digest."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from tests.packs.bridge.bridge_kit import Log, require_node, run, running, write_pack

from benchwright.errors import ExecutionError, UserError
from benchwright.packs.libraries import (
    LIBRARIES,
    Library,
    install_libraries,
    install_library,
    installed_version,
)

ZOD, TOML = LIBRARIES

PACK = """
  listScenarios: async () => [{ id: "ok", title: "ok" }],
  prepare: async () => ({ runScenario: async (input) => ({ scenarioId: "ok", status: "pass", summary: FOUND }) }),
  scoreModelResults: () => ({ totalScore: 0, categories: [] }),
"""
REQUIRING = f"""
const {{ z }} = require("zod");
const v4 = require("zod/v4");
const {{ parse }} = require("smol-toml");
const core = require("@benchlocal/core");
const FOUND = [z, v4.z, parse("x"), core.DEFAULT_BENCHLOCAL_REQUEST_TIMEOUT_SECONDS].join(" ");
module.exports = {{ {PACK} }};
"""
IMPORTING = f"""
import {{ z }} from "zod";
import * as v4 from "zod/v4";
import {{ parse }} from "smol-toml";
import {{ DEFAULT_BENCHLOCAL_GENERATION, getConfigPath }} from "@benchlocal/core";
const FOUND = [z, v4.z, parse("x"), DEFAULT_BENCHLOCAL_GENERATION.request_timeout_seconds].join(" ");
export default {{ {PACK} }};
"""
FORMS = {"dist/benchlocal/index.js": REQUIRING, "dist/benchlocal/index.mjs": IMPORTING}


def stand_in(directory: Path, name: str, version: str, modules: dict[str, str]) -> None:
    """A package as both of the real ones are laid out: an ES module, and a CommonJS one beside it, behind `exports`."""
    package = directory / "node_modules" / name
    package.mkdir(parents=True)
    ways = {}
    for path, code in modules.items():
        file = "index" if path == "." else path.removeprefix("./")
        (package / f"{file}.cjs").write_text(code)
        names = [part.split(" =")[0] for part in code.split("exports.")[1:]]
        lines = [f'import own from "./{file}.cjs";', *(f"export const {one} = own.{one};" for one in names)]
        (package / f"{file}.mjs").write_text("\n".join(lines))
        ways[path] = {"import": f"./{file}.mjs", "require": f"./{file}.cjs"}
    (package / "package.json").write_text(json.dumps({"name": name, "version": version, "exports": ways}))


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    """A folder with stand-ins for the libraries, that say who they are."""
    directory = tmp_path / "libraries"
    stand_in(directory, "zod", "0", {".": 'exports.z = "supplied-3";', "./v4": 'exports.z = "supplied-4";'})
    stand_in(directory, "smol-toml", "0", {".": 'exports.parse = (text) => "toml-" + text;'})
    return directory


@pytest.mark.parametrize("entry", FORMS)
async def test_a_pack_finds_them_without_bringing_them(entry: str, libraries: Path, tmp_path: Path) -> None:
    directory = write_pack(tmp_path / "pack", {entry: FORMS[entry]})
    async with running(directory, entry, libraries=libraries) as pack:
        assert (await run(pack, "ok")).result.summary == "supplied-3 supplied-4 toml-x 300"


@pytest.mark.parametrize("entry", FORMS)
async def test_a_packs_own_come_first(entry: str, libraries: Path, tmp_path: Path) -> None:
    directory = write_pack(tmp_path / "pack", {entry: FORMS[entry]})
    stand_in(directory, "zod", "9", {".": 'exports.z = "own-3";', "./v4": 'exports.z = "own-4";'})
    async with running(directory, entry, libraries=libraries) as pack:
        assert (await run(pack, "ok")).result.summary == "own-3 own-4 toml-x 300"


@pytest.mark.parametrize("entry", FORMS)
async def test_a_pack_that_lacks_one_does_not_load_and_says_what_to_do(entry: str, tmp_path: Path) -> None:
    directory = write_pack(tmp_path / "pack", {entry: FORMS[entry]})
    with pytest.raises(ExecutionError, match=r"needs zod, which .*; run: benchwright pack runtime install"):
        async with running(directory, entry, libraries=tmp_path / "nowhere"):
            pass


async def test_other_modules_are_not_supplied(libraries: Path, tmp_path: Path) -> None:
    stand_in(libraries, "left-over", "1", {".": "exports.x = 1;"})
    directory = write_pack(tmp_path / "pack", {"dist/benchlocal/index.js": 'require("left-over");'})
    with pytest.raises(ExecutionError, match="Cannot find module 'left-over'"):
        async with running(directory, libraries=libraries):
            pass


def archive(path: Path, version: str) -> Library:
    """An archive as npm packs it; returns the library that it is of."""
    package = json.dumps({"name": "zod", "version": version}).encode()
    with tarfile.open(path, "w:gz") as out:
        info = tarfile.TarInfo("package/package.json")
        info.size = len(package)
        out.addfile(info, io.BytesIO(package))
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    return Library("zod", version, f"sha512-{digest}")


def test_an_archive_with_another_digest_changes_nothing(tmp_path: Path) -> None:
    library = archive(tmp_path / "one.tgz", "1.0.0")
    install_library(library, tmp_path / "libraries", archive=tmp_path / "one.tgz")
    archive(tmp_path / "two.tgz", "2.0.0")
    with pytest.raises(UserError, match=r"its archive has the digest sha512-.*, expected sha512-"):
        install_library(library, tmp_path / "libraries", archive=tmp_path / "two.tgz")
    assert installed_version(library, tmp_path / "libraries") == "1.0.0"
    assert os.listdir(tmp_path / "libraries") == ["node_modules"]


def test_another_version_takes_the_place_of_the_former(tmp_path: Path) -> None:
    for number in ("1.0.0", "2.0.0"):
        library = archive(tmp_path / "lib.tgz", number)
        install_library(library, tmp_path / "libraries", archive=tmp_path / "lib.tgz")
        assert installed_version(library, tmp_path / "libraries") == number


def npm_that(tmp_path: Path, script: str) -> str:
    program = tmp_path / "npm"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_npm_fetches_them_by_exact_version_and_runs_none_of_their_code(tmp_path: Path) -> None:
    library = archive(tmp_path / "lib.tgz", "1.0.0")
    npm = npm_that(tmp_path, f'echo "$@" > {tmp_path}/asked; cp {tmp_path}/lib.tgz "$4/zod-1.0.0.tgz"')
    install_library(library, tmp_path / "libraries", npm)
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:3] == ["pack", "zod@1.0.0", "--pack-destination"]
    assert "--ignore-scripts" in asked


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'no route to it' >&2; exit 1", r"npm cannot fetch zod@1\.0\.0: no route to it\."),
        ("exit 0", r"npm cannot fetch zod@1\.0\.0: exit code 0\."),
    ],
)
def test_npm_that_fails_is_told_in_one_line(script: str, why: str, tmp_path: Path) -> None:
    library = archive(tmp_path / "lib.tgz", "1.0.0")
    with pytest.raises(UserError, match=why):
        install_library(library, tmp_path / "libraries", npm_that(tmp_path, script))


def test_no_npm_at_all_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no 'no-such-npm' on the PATH"):
        install_libraries(tmp_path, "no-such-npm", print)


CORE = """
import * as core from "@benchlocal/core";
import { z } from "zod";
import { parse, stringify } from "smol-toml";
import { writeFile } from "node:fs/promises";

const { created, path, config } = await core.loadOrCreateConfig();
config.providers.ollama = { base_url: "http://127.0.0.1:11434/v1" };
config.models.push({ id: "ollama:m", provider: "ollama", model: "m", label: "M" });
await core.saveConfigFile(config);
const again = await core.loadConfigFile(path);
const models = [...again.models, again.models[0]];
const twice = await core.saveConfigFile({ ...again, models }).catch((error) => error.message);
const theme = { id: "t", name: "T", colorScheme: "dark", variables: { a: "#000" } };
await writeFile("t.json", JSON.stringify(theme));
const { state } = await core.loadOrCreateWorkspaceState(undefined, "box");
console.log(JSON.stringify({
  created, path: path.replace(process.env.HOME, "~"), twice,
  provider: again.providers.ollama, model: again.models[0],
  theme: await core.loadThemeDefinitionFromFile("t.json"),
  tabs: Object.values(state.tabs).map((tab) => [tab.title, tab.benchPackId, tab.executionMode]),
  zod: z.object({ n: z.number() }).parse({ n: 1 }), toml: parse(stringify({ a: [1, 2] })),
}));
export default { PACK };
""".replace("PACK", PACK.replace("FOUND", '"fine"'))


@pytest.mark.slow
async def test_the_real_ones_are_fetched_and_serve_a_pack_and_the_desktops_core(tmp_path: Path) -> None:
    require_node()
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm on the PATH")
    for library in LIBRARIES:
        wanted = [npm, "view", f"{library.name}@{library.version}", "dist.integrity"]
        seen = subprocess.run(wanted, capture_output=True, text=True, timeout=60, check=False)
        if seen.returncode:
            pytest.skip(f"npm reaches no registry: {seen.stderr.strip()[:200]}")
        assert seen.stdout.strip() == library.integrity
    folder = tmp_path / "libraries"
    assert install_libraries(folder, "npm", print) == list(LIBRARIES)
    assert install_libraries(folder, "npm", print) == []
    directory = write_pack(tmp_path / "pack", {"dist/benchlocal/index.mjs": CORE})
    log = Log()
    async with running(directory, "dist/benchlocal/index.mjs", libraries=folder, log=log) as pack:
        assert (await run(pack, "ok")).result.summary == "fine"
    told = json.loads(next(line for line in log.lines("stdout") if line.startswith("{")))
    assert told == {
        "created": True,
        "path": "~/.benchlocal/config.toml",
        "twice": 'Duplicate model "M" found in models.',
        "provider": {
            "base_url": "http://127.0.0.1:11434/v1",
            "kind": "ollama",
            "name": "Ollama",
            "enabled": True,
        },
        "model": {
            "id": "ollama:m",
            "provider": "ollama",
            "model": "m",
            "label": "M",
            "group": "primary",
            "enabled": True,
        },
        "theme": {
            "schemaVersion": 1,
            "id": "t",
            "name": "T",
            "colorScheme": "dark",
            "variables": {"a": "#000"},
        },
        "tabs": [["box", "box", "parallel_by_test_case"]],
        "zod": {"n": 1},
        "toml": {"a": [1, 2]},
    }
