"""The metadata that ARC-AGI-1 and -2 share."""

from __future__ import annotations

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, GitRepository


def build_about(name: str, title: str, tasks: int, repository: GitRepository, paper: str) -> About:
    """Return the metadata of an ARC-AGI benchmark, whose tasks are a repository's public evaluation tasks."""
    return About(
        name=name,
        title=title,
        description=f"{title} — {tasks} public evaluation tasks: grids that change by a rule",
        tier=1,
        items=tasks,
        licence="Apache-2.0",
        protocol="one request for each test input, two attempts at each, which know nothing of each other; exact grids",
        source="https://github.com/arcprize/arc-agi-benchmarking (parsing.py, scoring.py, commit 28e67d5); "
        f"arXiv:{paper}",
        dataset=Dataset(
            name=name,
            splits={"evaluation": ("data/evaluation/*.json",)},
            origin=repository,
            licence="Apache-2.0",
            local={"evaluation": ("evaluation/*.json", "*.json")},
        ),
        metric="solved_inputs",
        max_tokens=32_768,
        temperature=1.0,
        breakdowns=("test_inputs",),
        departures=(
            "the public evaluation tasks, while the leaderboard's scores are of tasks that are not public",
            "temperature 1 and 32,768 tokens for every model; the authors have settings of their own for each",
        ),
    )
