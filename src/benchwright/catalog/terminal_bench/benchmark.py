"""Terminal-Bench put together."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.catalog.benchmark import About, Benchmark, Check, Options
from benchwright.catalog.containers import AgentOptions, ContainerBenchmark, Containers, read_agent_options
from benchwright.catalog.harbor.checks import checks
from benchwright.catalog.harbor.environment import Environments
from benchwright.catalog.harbor.folders import TaskFolders
from benchwright.catalog.harbor.grading import TestsScorer
from benchwright.catalog.harbor.images import images_of
from benchwright.catalog.harbor.rows import harbor_samples
from benchwright.catalog.harbor.solver import TerminalSolver
from benchwright.catalog.terminal_bench.rows import first_samples
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Solver
from benchwright.records import Sample

TURNS = 100
COMMAND_SECONDS = 600

SAMPLES = {None: harbor_samples, "1.0": first_samples}
"""Of the variants whose tasks are folders."""


def make(about: About, options: Options) -> Benchmark:
    """The variant that `about` describes.

    Raises:
        UserError: an option has a value that cannot be used.
    """
    if about.variant == "documented":
        from benchwright.catalog.terminal_bench.documented import make_documented

        return make_documented(about, options)
    return _of_folders(about, options)


def _of_folders(about: About, options: Options) -> Benchmark:
    agent = read_agent_options(options, TURNS, COMMAND_SECONDS)
    no_network = options.choice("network", ("task", "none")) == "none"
    folders = TaskFolders()
    read = SAMPLES[about.variant]
    name = f"terminal-bench-{about.variant or '2'}"

    def samples(source: Source) -> Iterator[Sample]:
        return read(source, folders)

    def solver(containers: Containers) -> Solver:
        return TerminalSolver(Environments(containers, name, no_network), folders, agent)

    def its_checks(sample: Sample) -> Iterator[Check]:
        return checks(sample, folders[sample.content["task"]], agent.command_seconds)

    return ContainerBenchmark(
        about=about,
        samples=samples,
        solver=solver,
        scorers=(TestsScorer(about.metric),),
        checks=its_checks,
        at_once=agent.containers,
        images=lambda sample: images_of(sample, folders[sample.content["task"]], name),
        departures=tuple(_departures(agent, no_network)),
        agent_turns=agent.max_turns,
    )


def _departures(agent: AgentOptions, no_network: bool) -> Iterator[str]:
    if agent.max_turns < TURNS:
        yield f"at most {agent.max_turns} turns in place of {TURNS}"
    if agent.command_seconds != COMMAND_SECONDS:
        yield f"{agent.command_seconds} s for a command in place of {COMMAND_SECONDS}"
    if no_network:
        yield "no network in any container"
