"""Builds the SWE-bench Pro benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from benchwright.catalog.benchmark import About, Benchmark, Check, Options
from benchwright.catalog.containers import AgentOptions, ContainerBenchmark, Containers, read_agent_options
from benchwright.catalog.containers.exploits import LOG_READER_EXPLOIT, REPOSITORY_EXPLOITS
from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.containers.network_rules import network_departures, read_network_rules
from benchwright.catalog.containers.patch_checks import patch_checks
from benchwright.catalog.containers.patch_sources import (
    AgentPatchSource,
    PatchSource,
    PredictionPatchSource,
    answer_patch_source,
)
from benchwright.catalog.containers.predictions import Predictions, load_predictions
from benchwright.catalog.containers.sealing.commit_removal import HISTORY_DEPARTURE
from benchwright.catalog.containers.traffic import connection_figures
from benchwright.catalog.swe_bench_pro.grading import ResolvedScorer
from benchwright.catalog.swe_bench_pro.rows import samples
from benchwright.catalog.swe_bench_pro.solver import ContainerConfig, PatchTester
from benchwright.engine.protocols import Solver
from benchwright.records import Sample

MAX_TURNS = 250
COMMAND_SECONDS = 120


def make(about: About, options: Options) -> Benchmark:
    """Build the variant that `about` describes.

    Raises:
        UserError: If an option has a value that cannot be used.
    """
    if about.variant == "documented":
        from benchwright.catalog.swe_bench.documented_variant import make_documented

        return make_documented(about, options)
    agent = read_agent_options(options, MAX_TURNS, COMMAND_SECONDS)
    mode: Literal["agent", "patch"] = (
        "patch" if options.choice("mode", ("agent", "patch")) == "patch" else "agent"
    )
    file = options.text("predictions")
    predictions = load_predictions(Path(file)) if file else None
    room = ContainerConfig(
        options.integer("memory_gib", ContainerConfig().memory_gib, 1),
        read_network_rules(options),
        options.integer("test_seconds", ContainerConfig().test_seconds, 1),
    )

    def author(containers: Containers) -> PatchSource:
        if predictions is not None:
            return PredictionPatchSource(predictions)
        return (
            answer_patch_source(room.build_issue)
            if mode == "patch"
            else AgentPatchSource(containers, room.build_issue, agent)
        )

    def solver(containers: Containers) -> Solver:
        return PatchTester(containers, author(containers), room)

    def checks(sample: Sample) -> Iterator[Check]:
        return iter(()) if predictions is not None else patch_checks(sample.content["patch"], mode)

    return ContainerBenchmark(
        about=about,
        samples=partial(
            samples,
            run_scripts=options.text("run_scripts"),
            predictions=None if predictions is None else predictions.patches,
        ),
        solver=solver,
        scorers=(ResolvedScorer(about.metric),),
        checks=checks,
        max_containers=agent.containers,
        exploits=(*REPOSITORY_EXPLOITS, LOG_READER_EXPLOIT),
        images_of=images_of,
        figures=connection_figures,
        agent_turns=agent.max_turns if predictions is None and mode == "agent" else None,
        program="" if predictions is None else predictions.foreign_program,
        departures=tuple(_departures(mode, agent, room, predictions=predictions)),
    )


def images_of(sample: Sample) -> TaskImages:
    """Return the image of an instance. Its family (images that share layers) is the project."""
    return TaskImages((sample.content["image"],), sample.content["repo"])


def _departures(
    mode: str, agent: AgentOptions, room: ContainerConfig, *, predictions: Predictions | None
) -> Iterator[str]:
    official = ContainerConfig()
    if predictions is not None:
        yield predictions.departure
    elif mode == "patch":
        yield "one answer, shown only the issue, in place of an agent"
    else:
        if room.network_rules.sealed:
            yield HISTORY_DEPARTURE
        if agent.max_turns != MAX_TURNS:
            yield f"{agent.max_turns} answers at most in place of {MAX_TURNS}"
        if agent.command_seconds != COMMAND_SECONDS:
            yield f"{agent.command_seconds} s for a command in place of {COMMAND_SECONDS}"
    yield from network_departures(room.network_rules)
    if room.test_seconds != official.test_seconds:
        yield f"{room.test_seconds} s for the tests in place of {official.test_seconds}"
    if room.memory_gib != official.memory_gib:
        yield f"{room.memory_gib} GiB of memory in place of {official.memory_gib}"
