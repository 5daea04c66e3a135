"""Metadata of Terminal-Bench and its variants."""

from __future__ import annotations

import msgspec

from benchwright.catalog.agent_options import agent_options
from benchwright.catalog.benchmark import About
from benchwright.catalog.harbor.about import TASK_OPTIONS
from benchwright.data.dataset_spec import Dataset, GitRepository

DATASET = Dataset(
    name="terminal_bench",
    splits={"test": ("*/task.toml",)},
    origin=GitRepository(
        "https://github.com/laude-institute/terminal-bench-2", "69671fbaac6d67a7ef0dfec016cc38a64ef7a77c"
    ),
    licence="Apache-2.0",
    local={"test": ("task.toml", "tasks/*/task.toml")},
)

VERSION_1_DATASET = Dataset(
    name="terminal_bench:1.0",
    splits={"test": ("tasks/*/task.yaml",)},
    origin=GitRepository(
        "https://github.com/laude-institute/terminal-bench", "91e10457b5410f16c44364da1a34cb6de8c488a5"
    ),
    licence="Apache-2.0",
    local={"test": ("task.yaml", "*/task.yaml", "original-tasks/*/task.yaml")},
)

TERMINAL_BENCH = About(
    name="terminal_bench",
    title="Terminal-Bench 2.0",
    description="Terminal-Bench — 89 CLI tasks executed in Docker containers",
    tier=4,
    items=89,
    licence="Apache-2.0",
    protocol="bash in the task's own container, at most 100 turns within the task's time; the task's own tests "
    "write the reward (Harbor); published scores are of other agents",
    source="https://github.com/laude-institute/terminal-bench-2",
    dataset=DATASET,
    metric="resolved",
    breakdowns=("difficulty", "category"),
    options={
        **agent_options("task", 100, 600),
        **TASK_OPTIONS,
    },
    needs=("containers",),
    can_be_sealed=True,
)


def _later(version: str, items: int, repository: str, commit: str, says: str) -> About:
    """Return the metadata of a later version, whose tasks are in Harbor's format.

    The tasks are in the folder `tasks` of a Git repository at a given commit.
    """
    return msgspec.structs.replace(
        TERMINAL_BENCH,
        variant=version,
        title=f"Terminal-Bench {version}",
        description=f"Terminal-Bench {version} — {items} {says}",
        items=items,
        source=repository,
        dataset=Dataset(
            name=f"terminal_bench:{version}",
            splits={"test": ("tasks/*/task.toml",)},
            origin=GitRepository(repository, commit),
            licence="Apache-2.0",
            local={"test": ("task.toml", "*/task.toml")},
        ),
    )


_ORGANISATION = "https://github.com/harbor-framework"
TERMINAL_BENCH_2_1 = _later(
    "2.1",
    89,
    f"{_ORGANISATION}/terminal-bench-2-1",
    "7131e4375048a0e408a8fb404b5f499d726b695b",
    "tasks of 2.0, 28 of them mended",
)
TERMINAL_BENCH_3 = _later(
    "3.0",
    74,
    f"{_ORGANISATION}/terminal-bench",
    "2b0442c3c583b710ca8da14c8e601b99f2f1f244",
    "harder tasks, with verifiers in containers of their own",
)
TERMINAL_BENCH_4 = _later(
    "4.0",
    66,
    f"{_ORGANISATION}/terminal-bench",
    "452bf305c6daa62fc59061d22133a7cbc7c1572e",
    "tasks of 3.0, 19 of them mended, with 8 hours for each",
)

TERMINAL_BENCH_1 = msgspec.structs.replace(
    TERMINAL_BENCH,
    variant="1.0",
    title="Terminal-Bench 1.0",
    description="Terminal-Bench 1.0 — the 80 tasks of the core set 0.1.1",
    items=80,
    protocol="bash in the task's own container, at most 100 turns within the task's time; resolved if every "
    "test passed; published scores are of other agents",
    source="https://github.com/laude-institute/terminal-bench",
    dataset=VERSION_1_DATASET,
)

TERMINAL_BENCH_DOCUMENTED = msgspec.structs.replace(
    TERMINAL_BENCH,
    variant="documented",
    can_be_sealed=False,
    title="Terminal-Bench as documented",
    description="Terminal-Bench — CLI tasks given by three scripts, in ubuntu:22.04",
    protocol="up to 15 turns of fenced bash commands in ubuntu:22.04 without a network; exit code of the validation "
    "script",
    source="llm-benchmarker's documentation",
    dataset=Dataset(name="terminal_bench:documented", splits={"test": ("test.jsonl",)}),
    metric="accuracy",
    max_tokens=1024,
    smaller_max_tokens=True,
    breakdowns=(),
    options={
        "image": "The image in which the tasks are done (default: ubuntu:22.04).",
        "containers": "How many containers run at once (default: 4).",
    },
)

VARIANTS = (
    TERMINAL_BENCH,
    TERMINAL_BENCH_2_1,
    TERMINAL_BENCH_3,
    TERMINAL_BENCH_4,
    TERMINAL_BENCH_1,
    TERMINAL_BENCH_DOCUMENTED,
)
