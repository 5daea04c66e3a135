"""`python -m benchmarks.profile`: where the CPU time of a run goes, by part of the program.

py-spy looks at the run from outside, so that what is measured is what users run. It says which Python function each
sample was in; what C code does counts for the function that called it, and what the event loop does between two
callbacks (reading, writing, waiting) for the loop.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.environments import installed

from benchmarks.children import BYTE_CODE_KEPT, CLIENT_CPU, pin, simulated
from benchmarks.clients import write_dataset
from benchmarks.load import LEAN, ONE_TOKEN, PROMPTS
from benchmarks.measures import PACE

PER_SECOND = 500
SHARE_SHOWN = 0.02
LOOP = "the event loop: read, write, poll"
IMPORTS = "imports, at the start"
LIBRARIES = "the standard library and others"

STEPS = (
    (IMPORTS, (IMPORTS,)),
    (LOOP, (LOOP,)),
    (
        "the wire: requests out, bytes in",
        ("endpoint/connection.py", "endpoint/transport.py", "endpoint/connection_setup.py"),
    ),
    ("the meter and the client: bodies, events, times", ("endpoint/",)),
    ("the journal: encoding and writing", ("runs/journal.py", "engine/group_commits.py")),
    ("prompts and figures of a level of load", ("app/load/", "analysis/load/")),
    (
        "figures: tally, summary, progress",
        ("analysis/tally.py", "analysis/summary.py", "engine/progress.py", "stats/"),
    ),
    (
        "rows, plan and keys",
        ("data/", "engine/plan.py", "runs/keys.py", "engine/ledger.py", "runs/keys.py"),
    ),
    ("a trial's way through the engine", ("engine/", "agents/prompt_task.py", "scorers/")),
    ("the documented cache files, at the end", ("agents/cache/",)),
    ("everything else", ("",)),
)
"""What a run does, and the parts that do it; the first that fits counts."""


def part_of(stack: list[str]) -> str:
    """The part of the program that a sample was in, from its frames (`function (file:line)`), outermost first."""
    if any("importlib" in frame for frame in stack):
        return IMPORTS
    if any(name in stack[-1] for name in ("run_until_complete", "runners.py", "uvloop/__init__.py")):
        return LOOP
    for frame in reversed(stack):
        file = frame.rpartition("(")[2].partition(":")[0]
        if "benchwright/" in file:
            return file.rpartition("benchwright/")[2]
    return LIBRARIES


def parts(folded: Iterable[str]) -> Iterator[tuple[str, float]]:
    """The share of each part, largest first, of lines of stacks with their counts."""
    counts: Counter[str] = Counter()
    for line in folded:
        stack, _, count = line.rpartition(" ")
        counts[part_of(stack.split(";"))] += int(count)
    total = sum(counts.values())
    for part, found in counts.most_common():
        yield part, found / total


def steps(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The share of each step."""
    told = dict.fromkeys((step for step, _ in STEPS), 0.0)
    for part, share in shares:
        told[next(step for step, beginnings in STEPS if part.startswith(beginnings))] += share
    return told


def record(arguments: list[str], answers: Sequence[str]) -> list[str]:
    """The stacks of a command that asks a model with such answers; its address and name are added."""
    spy = installed("profile") / "py-spy"
    with simulated(*answers) as endpoint, tempfile.TemporaryDirectory() as directory:
        stacks = Path(directory, "stacks")
        subprocess.run(
            [
                *(str(spy), "record", "--format", "raw", "--output", str(stacks)),
                *("--rate", str(PER_SECOND), "--full-filenames", "--"),
                *(sys.executable, "-m", "benchwright", *arguments, "--json", "--model", "m"),
                *("--base-url", endpoint.base_url),
            ],
            check=True,
            capture_output=True,
            env={**os.environ, **BYTE_CODE_KEPT, "BENCHWRIGHT_HOME": directory},
            preexec_fn=lambda: pin(0, CLIENT_CPU),
        )
        return stacks.read_text().splitlines()


def evaluated(trials: int, concurrency: int, *, stream: bool, agent: bool) -> list[str]:
    """The stacks of an evaluation of so many trials."""
    with tempfile.TemporaryDirectory() as directory:
        dataset = Path(directory, "data.jsonl")
        write_dataset(dataset, trials, {"system_prompt": "Be brief."} if agent else {})
        given = ("-m", "benchmarks.agent:Agent", "--eval-fn", "benchmarks.agent:score")
        arguments = ["eval", "-d", str(dataset), *(given if agent else ("--scorer", "exact"))]
        arguments += ["--batch-size", str(concurrency), *([] if stream else ["--no-stream"])]
        return record(arguments, PACE if stream else ())


def loaded(requests: int, concurrency: int, *, stream: bool) -> list[str]:
    """The stacks of a level of load of so many requests, whose answers are one token, or 64."""
    arguments = ["load", *PROMPTS, *LEAN, "--no-metrics"]
    arguments += ["--requests", str(requests), "--concurrency", str(concurrency)]
    return record(arguments, PACE if stream else ONE_TOKEN)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--stream", action="store_true", help="answers of 64 tokens, 10 ms apart")
    parser.add_argument("--agent", action="store_true", help="an agent that does next to nothing asks")
    parser.add_argument("--load", action="store_true", help="`benchwright load` asks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the shares here too")
    options = parser.parse_args()
    size = (options.trials, options.concurrency)
    if options.load:
        stacks = loaded(*size, stream=options.stream)
    else:
        stacks = evaluated(*size, stream=options.stream, agent=options.agent)
    shares = list(parts(stacks))
    by_step = steps(shares)
    for step, share in by_step.items():
        print(f"{share:6.1%}  {step}")
    print()
    for part, share in shares:
        if share >= SHARE_SHOWN:
            print(f"{share:6.1%}  {part}")
    if options.json:
        options.json.write_text(json.dumps({"steps": by_step, "parts": dict(shares)}, indent=2) + "\n")


if __name__ == "__main__":
    main()
