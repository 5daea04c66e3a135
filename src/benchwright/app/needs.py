"""Endpoint features (such as tools or images) that a run needs, for each kind of run."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.catalog.benchmark import About
from benchwright.config import LimitSettings, Models, SamplingSettings, SolverSettings
from benchwright.endpoint.card.needs import Need, Needs
from benchwright.engine.protocols import Task

NEED_BY_BENCHMARK_FIELD: Mapping[str, tuple[Need, bool]] = {
    "tools": (Need.TOOLS, True),
    "images": (Need.IMAGES, True),
    "some_images": (Need.IMAGES, False),
    "logprobs": (Need.LOGPROBS, True),
}
"""Mapping from a word in `About.needs` to a pair: the feature, and True if every request of the benchmark needs it."""

AGENTS_WITHOUT_TOOLS = frozenset({"aider", "terminus"})
"""Agents that act by the text of their answers instead of tool calls."""


def needs_of_benchmark(metadata: About, agent: str | None) -> Needs:
    """Return the endpoint features that a benchmark needs.

    `agent`: the command-line agent that solves the benchmark; None without one.
    """
    own = dict(NEED_BY_BENCHMARK_FIELD[word] for word in metadata.needs if word in NEED_BY_BENCHMARK_FIELD)
    return {**own, **_of_agent(agent)}


def needs_of_eval(solver: SolverSettings, task: Task) -> Needs:
    """Return the endpoint features that an eval needs.

    Whether its agent has tools is found out with the first dataset row.
    """
    own: dict[Need, bool] = {}
    if solver.mcp is not None:
        own[Need.TOOLS] = True
    elif solver.module is not None and _offers_tools(task):
        own[Need.TOOLS] = False
    return {**own, **_of_agent(solver.agent)}


def _offers_tools(task: Task) -> bool:
    from benchwright.agents.agent_task import AgentTask

    return isinstance(task, AgentTask) and task.offers_tools()


def _of_agent(agent: str | None) -> Needs:
    return {} if agent is None or agent in AGENTS_WITHOUT_TOOLS else {Need.TOOLS: False}


def needs_of_requests(limits: LimitSettings, sampling: SamplingSettings, models: Models) -> Needs:
    """Return the endpoint features that follow from the limits and the request fields."""
    needs: dict[Need, bool] = {}
    if limits.budget_tokens is not None or limits.trial_tokens is not None:
        needs[Need.USAGE] = False
    wanted = [sampling.param, *(entry.param for entry in models)]
    formats = (fields.get("response_format") for fields in wanted)
    if any(isinstance(each, Mapping) and each.get("type") == "json_schema" for each in formats):
        needs[Need.JSON_SCHEMA] = False
    return needs
