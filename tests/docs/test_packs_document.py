"""The commands of docs/packs.md come to the scores that they must; authors find every field and function."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from tests.programs import run_benchwright
from tests.simulated import simulated_endpoint

from benchwright.packs import types
from benchwright.packs.python import benchwright_pack

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "http://localhost:8000/v1"
ANSWERS = [
    {"prompt": "single word READY", "answer": "READY"},
    {"prompt": "Mira is 34", "answer": '{"name": "Mira", "age": 34, "city": "Oslo"}'},
    {"prompt": "12 boxes", "answer": "Answer: 21"},
    {"prompt": "day before Thursday", "answer": "Answer: Friday"},
]
"""What is right in the scenarios of the templates."""


def commands(document: str = "docs/packs.md") -> list[str]:
    """The shell commands of a document, continued lines joined, comments taken off."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", " ".join(line.split())) for line in lines if line.strip()]


def run(line: str, place: Path, address: str) -> subprocess.CompletedProcess[str]:
    arguments = shlex.split(line.replace(ADDRESS, address))[1:]
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(place / "home")}
    return run_benchwright(arguments, directory=place, environment=environment)


GIVEN = (types.ScenarioMeta, types.DetailCard, types.ScenarioResult, types.ModelOutput, types.ToolCall)
GIVEN_TOO = (types.ToolResult, types.VerifierResult, types.ArtifactRef, types.Timings, types.CategoryScore)
TAKEN = (
    types.HostContext,
    types.PackPaths,
    types.ProviderConfig,
    types.RegisteredModel,
    types.ScenarioRunInput,
)
TAKEN_TOO = (types.SecretResolution, types.VerifierEndpoint, types.InferenceEndpoint, types.BenchmarkScore)


def test_authors_find_every_field_and_function() -> None:
    text = (ROOT / "docs/pack-authors.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", text))
    kinds = (*GIVEN, *GIVEN_TOO, *TAKEN, *TAKEN_TOO)
    fields = {field.encode_name for kind in kinds for field in msgspec.structs.fields(kind)} - {"raw"}
    helpers = {name for name in vars(benchwright_pack.HostHelpers) if not name.startswith("_")}
    assert fields - words == set()
    assert {*benchwright_pack.__all__, *helpers} - words == set()
    sdk = (ROOT / "src/benchwright/packs/node/sdk/index.cjs").read_text(encoding="utf-8")
    functions = set(re.findall(r"^exports\.([a-z]\w+) =", sdk, re.MULTILINE))
    functions |= set(re.findall(r"^    (get\w+|resolve\w+)\(", sdk, re.MULTILINE))
    assert len(functions) > 15
    assert functions - words == set()


@pytest.mark.slow
def test_the_commands_of_the_document_run_and_score_what_they_must(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Node on the PATH (.ci/run installs it)")
        pytest.skip("there is no Node on the PATH")
    with simulated_endpoint(answers=ANSWERS) as address:
        for line in (line for line in commands() if " pack open " not in line):
            ended = run(line, tmp_path, address)
            assert ended.returncode == 0, (line, ended.stderr)
            if (
                " run " in line
                and "--retry" not in line
                and "--provider" not in line
                and "--json" not in line
            ):
                assert "my-model: 100  " in ended.stdout, line
            if line.endswith("--json"):
                (told,) = json.loads(ended.stdout)["packs"]
                assert told["scores"]["endpoint:my-model"]["totalScore"] == 100
        runs = sorted(
            (tmp_path / "home" / "runs").glob("*my-pack-my-model*"), key=lambda path: path.stat().st_mtime_ns
        )
        shown = run(f"benchwright show {runs[-1]}", tmp_path, address)
        assert "my-model: 100  4 of 4 passed" in shown.stdout
        spoken = run(f"benchwright show {runs[-1]} --scenario A-01", tmp_path, address)
        assert "Reply with the single word READY" in spoken.stdout
    assert (tmp_path / "attempts.csv").read_text().startswith("pack,model,scenario,")
    assert "| my-model | 100 |" in (tmp_path / "card.md").read_text()
