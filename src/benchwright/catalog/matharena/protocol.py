"""The metadata that MathArena's competitions share."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository

REPEAT_COUNT = 4
"""The number of times that MathArena solves each problem."""


def build_about(
    name: str, title: str, problems: int, repository: str, *, variant: str | None = None
) -> About:
    """Return the metadata of a competition. `repository`: its dataset on the Hugging Face hub."""
    full = name if variant is None else f"{name}_{variant}"
    return About(
        name=name,
        variant=variant,
        title=title,
        description=f"{title} — {problems} problems with short answers",
        tier=1,
        items=problems,
        licence="CC-BY-NC-SA-4.0",
        protocol="zero-shot, four repeats; last boxed answer, asked for once more where there is none; compared as "
        "MathArena does",
        source="https://github.com/eth-sri/matharena (configs/competitions, parser.py, commit e927660); "
        "arXiv:2505.23281",
        dataset=Dataset(
            full, {"train": ("data/train-*.parquet",)}, HubRepository(repository), "CC-BY-NC-SA-4.0"
        ),
        max_tokens=32_768,
        temperature=0.6,
        params={"top_p": 0.95},
        repeats=REPEAT_COUNT,
        breakdowns=("problem_type",),
        departures=(
            "temperature 0.6, top_p 0.95 and 32,768 tokens for every model; MathArena has settings of its own for each",
            "answers that could not be read are not corrected; MathArena's authors correct some by hand",
        ),
    )


def without_problem_types(about: About) -> About:
    """Return the metadata of a competition whose problems have no problem types."""
    return msgspec.structs.replace(about, breakdowns=())
