"""Validates benchmarks: finds their data, checks that gold answers pass and wrong ones fail, and stores failed runs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.app.environment_facts import client_facts, host_facts, library_versions
from benchwright.app.network_preflight import warn_without_network
from benchwright.app.run_images import make_run_images
from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.containers.benchmark import ContainerBenchmark, with_exploits
from benchwright.catalog.containers.images import ImagePolicy
from benchwright.catalog.containers.validation_findings import collect_findings
from benchwright.catalog.registry import find_about, list_abouts, make_benchmark
from benchwright.catalog.scripted_checks import ScriptedTask
from benchwright.catalog.selection import Selection, select_samples
from benchwright.catalog.validation import (
    MAX_CONCURRENCY,
    PLACEHOLDER_TARGET,
    ValidationResult,
    validate_benchmark,
)
from benchwright.data.datasets import Source, find_dataset
from benchwright.data.errors import DatasetNotFound
from benchwright.records import Record
from benchwright.runs import store
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import DataFile, Manifest, ScorerInfo, write_manifest
from benchwright.runs.manifest_facts import VALIDATION_KIND
from benchwright.text import Say


class BenchmarkValidation(Record, frozen=True):
    """Results of validating several benchmarks.

    `left_out`: the benchmarks that were not validated, {benchmark: reason}.
    """

    validated: list[ValidationResult]
    left_out: dict[str, str] = {}


async def validate_benchmarks(
    names: Sequence[str],
    options: Options,
    selection: Selection,
    keep_images: ImagePolicy | None,
    say: Say,
    *,
    exploits: bool = False,
) -> BenchmarkValidation:
    """Validate the named benchmarks, and return the results.

    Without names, validate all benchmarks with data on this machine.

    `exploits`: True to test the seal of containers with exploits (attempts to pass a sample without solving it).

    Raises:
        UserError: If a benchmark is unknown, a named one has no data here, or the selection matches no
            sample.
        JournalError: If the run of a failed check cannot be stored.
    """
    entries: list[About] = [find_about(name) for name in names] or list(list_abouts())
    validated: list[ValidationResult] = []
    left_out: dict[str, str] = {}
    for entry in entries:
        benchmark = (
            with_exploits(make_benchmark(entry, options)) if exploits else make_benchmark(entry, options)
        )
        try:
            offline = True if not names else None
            path = options.values.get("path")
            source = find_dataset(entry.dataset, options.data_dir, path=path, offline=offline)
            validated.append(await _validated(benchmark, source, options, selection, keep_images, say))
        except DatasetNotFound as error:
            if names:
                raise
            left_out[entry.full_name] = str(error)
    return BenchmarkValidation(validated, left_out)


async def _validated(
    benchmark: Benchmark,
    source: Source,
    options: Options,
    selection: Selection,
    keep_images: ImagePolicy | None,
    say: Say,
) -> ValidationResult:
    """Validate one benchmark, and return the result. If a check failed, store the run of the checks."""
    images = make_run_images(benchmark, keep_images, may_order=True)
    if images is not None:
        benchmark = images.benchmark
        await images.decide_kept_images(lambda: select_samples(benchmark, source, selection), say)
        await warn_without_network(benchmark, select_samples(benchmark, source, selection), say)
    arrange = None if images is None else images.order_checks_by_image
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place, "run")
        result = await validate_benchmark(benchmark, source, selection, directory, arrange)
        if isinstance(benchmark, ContainerBenchmark):
            leaks = collect_findings(directory, select_samples(benchmark, source, selection))
            result = msgspec.structs.replace(result, leaks=leaks)
        if not result.failures:
            return result
        kept = _keep(directory, _manifest(benchmark, source, options, selection))
    return msgspec.structs.replace(result, run=kept)


def _manifest(benchmark: Benchmark, source: Source, options: Options, selection: Selection) -> Manifest:
    """Return the manifest for the run of a validation, still without an id."""
    metadata, task = benchmark.about, ScriptedTask(benchmark, source, selection)
    return Manifest(
        id="",
        kind=VALIDATION_KIND,
        name=f"validate-{metadata.full_name}",
        fingerprint=fingerprint(
            VALIDATION_KIND,
            task.spec,
            source.digest,
            sorted(options.values.items()),
            options.sealed,
            selection,
        ),
        created_at=store.now_ns(),
        task=task.spec,
        targets=[PLACEHOLDER_TARGET],
        scorers=[ScorerInfo(scorer.name, scorer.fingerprint) for scorer in task.scorers],
        concurrency=MAX_CONCURRENCY,
        data=[DataFile(path=str(source.root), xxh3=source.digest, samples=task.size())],
        settings={"option": dict(options.values), "seal": options.sealed},
        about={
            "benchmark": metadata.name,
            "variant": metadata.variant,
            "title": metadata.title,
            "metric": metadata.metric,
            "protocol": metadata.protocol,
            "data": source.describe(),
        },
        versions=library_versions(),
        host=host_facts(),
        client=client_facts(stream=False),
    )


def _keep(made: Path, manifest: Manifest) -> str:
    """Move the run of a validation into the run store. Return its id."""
    directory = store.new_run_directory(manifest.name, manifest.fingerprint, manifest.created_at)
    directory.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made, directory)
    write_manifest(directory, msgspec.structs.replace(manifest, id=directory.name))
    return directory.name
