"""Use of a command-line agent in place of a benchmark's own agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.errors import UserError
from benchwright.recipes.recipe import Recipe
from benchwright.records import TrialLimits


def with_agent(benchmark: Benchmark, name: str | None, options: Mapping[str, str]) -> Benchmark:
    """Return the benchmark with the command-line agent of this name as its solver.

    If `name` is None, return the benchmark unchanged.

    Raises:
        UserError: If there is no such agent, it cannot run in containers, or this benchmark takes no agent.
    """
    if name is None:
        return benchmark
    from benchwright.catalog.containers import ContainerBenchmark
    from benchwright.catalog.containers.container_agents import terminus_departures
    from benchwright.recipes.container_launch import container_agent
    from benchwright.recipes.recipe_lookup import find_recipe

    title = benchmark.about.full_name
    if not isinstance(benchmark, ContainerBenchmark) or benchmark.agent_turns is None:
        raise UserError(f"--agent: no agent works on {title} as it is asked here; see docs/agents.md.")
    recipe = find_recipe(name)
    container_agent(recipe, Path())
    turns = benchmark.agent_turns if recipe.turns is None or "max_turns" in options else recipe.turns
    own = (f"the agent {recipe.label} in place of our own", *terminus_departures(recipe, turns))
    departures = (*own, *benchmark.departures)
    return msgspec.structs.replace(benchmark, agent=recipe, agent_turns=turns, departures=departures)


def agent_facts(benchmark: Benchmark) -> Mapping[str, str]:
    """Return the facts about a benchmark's command-line agent (set by `with_agent`). Empty if it has none.

    They are stored in the manifest and are part of the trial keys.
    """
    recipe = getattr(benchmark, "agent", None)
    return {} if recipe is None else recipe_facts(recipe)


def recipe_facts(recipe: Recipe) -> Mapping[str, str]:
    """Return the stored facts about a command-line agent: its name, its version, and a fingerprint of its recipe."""
    return {"agent": recipe.label, "agent_recipe": recipe.fingerprint}


def trial_limits(benchmark: Benchmark, tokens: int | None, seconds: float | None) -> TrialLimits:
    """Return the limits of a trial: tokens and seconds.

    If a command-line agent solves the benchmark, also limit the turns. Such an agent runs its own loop, so that
    only Benchwright can limit its turns.
    """
    agent = getattr(benchmark, "agent", None)
    return TrialLimits(
        turns=None if agent is None else getattr(benchmark, "agent_turns", None),
        tokens=tokens,
        seconds=seconds,
    )
