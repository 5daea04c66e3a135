"""A command-line agent in place of a benchmark's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.errors import UserError
from benchwright.recipes.recipe import Recipe
from benchwright.records import TrialLimits


def with_agent(benchmark: Benchmark, name: str | None, options: Mapping[str, str]) -> Benchmark:
    """The benchmark with these options, worked on by the agent of this name, if there is one.

    Raises:
        UserError: there is no such agent, it cannot run in containers, or no agent works on this benchmark.
    """
    if name is None:
        return benchmark
    from benchwright.catalog.containers import ContainerBenchmark
    from benchwright.catalog.containers.players import own_departures
    from benchwright.recipes.in_containers import container_agent
    from benchwright.recipes.shelf import find_recipe

    title = benchmark.about.full_name
    if not isinstance(benchmark, ContainerBenchmark) or benchmark.agent_turns is None:
        raise UserError(f"--agent: no agent works on {title} as it is asked here; see docs/agents.md.")
    recipe = find_recipe(name)
    container_agent(recipe, Path())
    turns = benchmark.agent_turns if recipe.turns is None or "max_turns" in options else recipe.turns
    own = (f"the agent {recipe.label} in place of our own", *own_departures(recipe, turns))
    departures = (*own, *benchmark.departures)
    return msgspec.structs.replace(benchmark, agent=recipe, agent_turns=turns, departures=departures)


def agent_facts(benchmark: Benchmark) -> Mapping[str, str]:
    """What is known of the agent of `with_agent`, for the manifest and for the keys of trials; empty without one."""
    recipe = getattr(benchmark, "agent", None)
    return {} if recipe is None else recipe_facts(recipe)


def recipe_facts(recipe: Recipe) -> Mapping[str, str]:
    """What is kept of an agent: its name with its version, and what changes with anything in its recipe."""
    return {"agent": recipe.label, "agent_recipe": recipe.fingerprint}


def trial_limits(benchmark: Benchmark, tokens: int | None, seconds: float | None) -> TrialLimits:
    """The limits of a trial; those of an agent's turns are ours, since its loop is not."""
    agent = getattr(benchmark, "agent", None)
    return TrialLimits(
        turns=None if agent is None else getattr(benchmark, "agent_turns", None),
        tokens=tokens,
        seconds=seconds,
    )
