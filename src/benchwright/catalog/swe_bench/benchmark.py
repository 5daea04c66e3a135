"""Builds the SWE-bench Verified benchmark, and other editions of SWE-bench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from benchwright.catalog.benchmark import About, Benchmark, Check, Options
from benchwright.catalog.containers import AgentOptions, ContainerBenchmark, Containers, read_agent_options
from benchwright.catalog.containers.exploits import REPOSITORY_EXPLOITS, Exploit
from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.containers.network_rules import NetworkRules, network_departures, read_network_rules
from benchwright.catalog.containers.patch_checks import patch_checks
from benchwright.catalog.containers.patch_sources import AgentPatchSource, PatchSource, PredictionPatchSource
from benchwright.catalog.containers.predictions import Predictions, load_predictions
from benchwright.catalog.containers.sealing.commit_removal import HISTORY_DEPARTURE
from benchwright.catalog.swe_bench import rows
from benchwright.catalog.swe_bench.edition import VERIFIED_EDITION, Edition
from benchwright.catalog.swe_bench.grading import ResolvedScorer, missing_result_figures
from benchwright.catalog.swe_bench.solver import OracleFilesPatchSource, PatchTester, issue_of
from benchwright.catalog.swe_bench.testing import TEST_SECONDS
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Solver
from benchwright.records import Sample

ReadSamples = Callable[[Source], Iterator[Sample]]

IMAGE_GIB = 0.48
"""Mean disk space per image in GiB, from LogicStar's report of 240 GiB for all 500 images."""

TURNS, COMMAND_SECONDS = 250, 60
"""`TURNS`: maximum number of an agent's turns. `COMMAND_SECONDS`: time limit of a command in seconds.

Both are the limits of mini-SWE-agent, the agent of the official "bash only" results.
"""


def make(about: About, options: Options) -> Benchmark:
    """Build the benchmark with its options.

    Raises:
        UserError: If an option cannot be used, or the predictions cannot be read.
    """
    if about.variant == "documented":
        from benchwright.catalog.swe_bench.documented_variant import make_documented

        return make_documented(about, options)
    return make_edition_benchmark(about, options, VERIFIED_EDITION, rows.samples, image_gib=IMAGE_GIB)


def make_edition_benchmark(
    about: About,
    options: Options,
    edition: Edition,
    samples: ReadSamples,
    *,
    exploits: Sequence[Exploit] = REPOSITORY_EXPLOITS,
    image_gib: float | None = None,
    departures: Iterable[str] = (),
) -> Benchmark:
    """Build an edition of SWE-bench with its options. `departures`: further departures from the protocol.

    Raises:
        UserError: If an option cannot be used, or the predictions cannot be read.
    """
    mode = options.choice("mode", ("agent", "patch"))
    agent = read_agent_options(options, TURNS, COMMAND_SECONDS)
    seconds = options.integer("test_seconds", TEST_SECONDS, 1)
    rules = read_network_rules(options)
    file = options.text("predictions")
    predictions = load_predictions(Path(file)) if file else None
    by_agent = predictions is None and mode == "agent"

    issue = partial(issue_of, edition=edition, sealed=options.sealed)

    def author(containers: Containers) -> PatchSource:
        if predictions is not None:
            return PredictionPatchSource(predictions)
        return (
            AgentPatchSource(containers, issue, agent)
            if by_agent
            else OracleFilesPatchSource(containers, edition)
        )

    def solver(containers: Containers) -> Solver:
        return PatchTester(author(containers), containers, seconds, rules, edition)

    def checks(sample: Sample) -> Iterator[Check]:
        if predictions is not None:
            return iter(())  # patches from a file cannot be checked
        return patch_checks(sample.content["patch"], "agent" if by_agent else "patch")

    return ContainerBenchmark(
        about=about,
        samples=samples if predictions is None else _with(samples, predictions.patches),
        solver=solver,
        scorers=(ResolvedScorer(about.metric, edition),),
        checks=checks,
        max_containers=agent.containers,
        exploits=exploits,
        figures=missing_result_figures,
        images_of=partial(images_of, edition=edition),
        image_gib=image_gib,
        agent_turns=agent.max_turns if by_agent else None,
        program="" if predictions is None else predictions.foreign_program,
        departures=(*_departures(mode, agent, seconds, rules, predictions=predictions), *departures),
    )


def images_of(sample: Sample, edition: Edition = VERIFIED_EDITION) -> TaskImages:
    """Return the image of an instance.

    Its family (images that share layers) is the version of the project, whose instances share an environment.
    """
    return TaskImages((edition.image_name(sample.content),), edition.image_family(sample.content))


def _with(samples: ReadSamples, predictions: Mapping[str, str]) -> ReadSamples:
    """Return a function that yields the samples, each with its prediction added.

    Trials with different predictions are then different samples, and results are not reused between them.
    """

    def with_predictions(source: Source) -> Iterator[Sample]:
        for sample in samples(source):
            content = sample.content | {"prediction": predictions.get(sample.id)}
            yield msgspec.structs.replace(sample, content=content)

    return with_predictions


def _departures(
    mode: str, agent: AgentOptions, seconds: int, rules: NetworkRules, *, predictions: Predictions | None
) -> Iterator[str]:
    if predictions is not None:
        yield predictions.departure
    elif mode == "patch":
        yield "one answer with the files shown that the right patch changes, in place of an agent"
    else:
        if rules.sealed:
            yield HISTORY_DEPARTURE
        if agent.max_turns != TURNS:
            yield f"{agent.max_turns} answers at most in place of {TURNS}"
        if agent.command_seconds != COMMAND_SECONDS:
            yield f"{agent.command_seconds} s for a command in place of {COMMAND_SECONDS}"
    yield from network_departures(rules)
    if seconds != TEST_SECONDS:
        yield f"{seconds} s for the tests in place of {TEST_SECONDS}"
