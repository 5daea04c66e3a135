"""Builds benchmarks whose tasks are folders: users' own folders, and Terminal-Bench."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from benchwright.catalog.benchmark import About, Benchmark, Check, Options
from benchwright.catalog.containers import AgentOptions, ContainerBenchmark, Containers, read_agent_options
from benchwright.catalog.containers.exploits import TERMINAL_EXPLOITS
from benchwright.catalog.containers.network_rules import NetworkRules, network_departures, read_network_rules
from benchwright.catalog.harbor.checks import SolutionCommands, checks, step_solutions
from benchwright.catalog.harbor.environment import TaskContainerStarter
from benchwright.catalog.harbor.grading import LogParser, TestsScorer, reward_figures
from benchwright.catalog.harbor.images import images_of
from benchwright.catalog.harbor.network_phases import find_test_network_needs
from benchwright.catalog.harbor.rows import harbor_samples, settings_of
from benchwright.catalog.harbor.sealed_testing import SEALED_DEPARTURE
from benchwright.catalog.harbor.solver import TaskSolver
from benchwright.catalog.harbor.task_folders import TaskFolders
from benchwright.catalog.harbor.testing import RunTests, run_tests
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Solver
from benchwright.errors import UserError
from benchwright.records import Sample

MAX_TURNS = 100
COMMAND_SECONDS = 600


class TaskLayout(NamedTuple):
    """A format of task folders: functions that read, test and solve the tasks in this format.

    `log_parsers`: functions that read the logs of tests that write no rewards, keyed by the name in a task's
    settings.
    """

    read_samples: Callable[[Source, TaskFolders], Iterator[Sample]]
    run_tests: RunTests
    solution_commands: SolutionCommands
    log_parsers: Mapping[str, LogParser] = {}


HARBOR_LAYOUT = TaskLayout(harbor_samples, run_tests, step_solutions)


def make(about: About, options: Options) -> Benchmark:
    """Build the benchmark from a folder of tasks.

    Raises:
        UserError: If an option has a value that cannot be used.
    """
    return folder_benchmark(about, options, HARBOR_LAYOUT, "harbor")


def folder_benchmark(about: About, options: Options, layout: TaskLayout, name: str) -> Benchmark:
    """Build a benchmark from task folders in the given layout. `name` becomes part of built images' names.

    Raises:
        UserError: If an option has a value that cannot be used.
    """
    agent = read_agent_options(options, MAX_TURNS, COMMAND_SECONDS)
    rules = read_network_rules(options)
    multiplier = _multiplier(options)
    folders = TaskFolders()

    def samples(source: Source) -> Iterator[Sample]:
        return layout.read_samples(source, folders)

    def solver(containers: Containers) -> Solver:
        environments = TaskContainerStarter(containers, name, rules)
        return TaskSolver(
            environments,
            folders,
            agent,
            layout.run_tests,
            layout.log_parsers,
            multiplier,
            sealed=options.sealed,
        )

    def its_checks(sample: Sample) -> Iterator[Check]:
        folder = folders[sample.content["task"]]
        return checks(sample, folder, agent.command_seconds, layout.solution_commands)

    return ContainerBenchmark(
        about=about,
        samples=samples,
        solver=solver,
        scorers=(TestsScorer(about.metric, layout.log_parsers),),
        checks=its_checks,
        max_containers=agent.containers,
        agent_turns=agent.max_turns,
        exploits=TERMINAL_EXPLOITS,
        images_of=lambda sample: images_of(sample, folders[sample.content["task"]], name),
        figures=reward_figures,
        network_needs=lambda sample: find_test_network_needs(
            rules, settings_of(sample), folders[sample.content["task"]]
        ),
        departures=tuple(_departures(agent, rules, multiplier)),
    )


def _multiplier(options: Options) -> float:
    given = options.text("timeout_multiplier", "1")
    try:
        multiplier = float(given)
    except ValueError:
        multiplier = math.nan
    if not 0 < multiplier <= 1000:
        raise UserError(f"--option timeout_multiplier takes a number above 0 and up to 1000, got {given!r}.")
    return multiplier


def _departures(agent: AgentOptions, rules: NetworkRules, multiplier: float) -> Iterator[str]:
    if rules.sealed:
        yield SEALED_DEPARTURE
    yield from network_departures(rules)
    if agent.max_turns < MAX_TURNS:
        yield f"at most {agent.max_turns} turns in place of {MAX_TURNS}"
    if agent.command_seconds != COMMAND_SECONDS:
        yield f"{agent.command_seconds} s for a command in place of {COMMAND_SECONDS}"
    if multiplier != 1:
        yield f"time limits of agents and tests multiplied by {multiplier:g}"
