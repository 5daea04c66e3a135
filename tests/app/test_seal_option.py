"""`--seal` and `--no-seal`: part of the protocol, so that no run mixes both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.app.benchmark_kit import mmlu_rows
from tests.app.compare_kit import write_run
from tests.catalog.catalog_kit import write_rows
from tests.catalog.swe_bench.instances import make_pytest_instance

from benchwright.app.benchmarks import prepare_benchmark
from benchwright.app.prepared_run import RunRequest
from benchwright.app.run_lookup.existing_runs import ExistingRun, resume_settings
from benchwright.config import BenchmarkSettings
from benchwright.runs.manifest import read_manifest

NOBODY = "http://127.0.0.1:9/v1"
NO_FUTURE = "sealed: agents find no commits later than the one that they start from"


def requested(name: str, path: Path, **settings: Any) -> RunRequest:
    """What would be run."""
    given = BenchmarkSettings(model="m", base_url=NOBODY, option={"path": str(path)}, **settings)
    return prepare_benchmark(name, given, lambda said: None).request


@pytest.fixture
def instances(tmp_path: Path) -> Path:
    (tmp_path / "repository").mkdir()
    return write_rows(tmp_path / "rows" / "test.jsonl", [make_pytest_instance(tmp_path / "repository", 1)])


def test_a_run_is_sealed_unless_it_is_to_be_official_and_the_two_are_never_one_run(instances: Path) -> None:
    sealed, official = requested("swe_bench", instances), requested("swe_bench", instances, seal=False)
    assert (sealed.manifest_facts["seal"], official.manifest_facts["seal"]) == ("sealed", "official")
    assert NO_FUTURE in sealed.manifest_facts["departures"]
    assert NO_FUTURE not in official.manifest_facts["departures"]
    assert sealed.fingerprint != official.fingerprint
    assert sealed.plan.task.spec.fingerprint != official.plan.task.spec.fingerprint, "keys of trials differ"


def test_benchmarks_without_agents_in_containers_have_no_seal(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "mmlu" / "test.jsonl", mmlu_rows(1))
    sealed, official = requested("mmlu", rows), requested("mmlu", rows, seal=False)
    assert "seal" not in sealed.manifest_facts
    assert sealed.fingerprint == official.fingerprint


@pytest.mark.parametrize(("kept", "sealed"), [({}, False), ({"seal": True}, True), ({"seal": False}, False)])
def test_a_run_goes_on_as_it_began_and_one_from_before_the_seal_without_it(
    tmp_path: Path, kept: dict[str, Any], sealed: bool
) -> None:
    manifest = read_manifest(
        write_run(tmp_path / "run", [], kind="benchmark", settings={"model": "m", **kept})
    )
    settings = resume_settings(ExistingRun(tmp_path, manifest, None), {})
    assert isinstance(settings, BenchmarkSettings)
    assert settings.containers.seal is sealed
