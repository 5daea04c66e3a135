"""Terminal-Bench and its variants in plain data."""

from __future__ import annotations

import msgspec

from benchwright.catalog.agent_options import agent_options
from benchwright.catalog.benchmark import About
from benchwright.data.declared import Dataset, GitRepository

DATASET = Dataset(
    name="terminal_bench",
    splits={"test": ("*/task.toml",)},
    origin=GitRepository(
        "https://github.com/laude-institute/terminal-bench-2", "69671fbaac6d67a7ef0dfec016cc38a64ef7a77c"
    ),
    licence="Apache-2.0",
    local={"test": ("task.toml", "tasks/*/task.toml")},
)

FIRST_DATASET = Dataset(
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
        "network": "The network as each task says (task, the default), or none.",
    },
    needs=("containers",),
    can_be_sealed=True,
)

FIRST = msgspec.structs.replace(
    TERMINAL_BENCH,
    variant="1.0",
    title="Terminal-Bench 1.0",
    description="Terminal-Bench 1.0 — the 80 tasks of the core set 0.1.1",
    items=80,
    protocol="bash in the task's own container, at most 100 turns within the task's time; resolved if every "
    "test passed; published scores are of other agents",
    source="https://github.com/laude-institute/terminal-bench",
    dataset=FIRST_DATASET,
)

DOCUMENTED = msgspec.structs.replace(
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

VARIANTS = (TERMINAL_BENCH, FIRST, DOCUMENTED)
