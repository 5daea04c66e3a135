"""`python -m benchmarks`: measures Benchwright against the floor client, and prints a table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.catalog import catalog
from benchmarks.measures import (
    Measured,
    agent_trials,
    concurrency_cost,
    fixed_costs,
    peak_memory,
    streams,
    whole_answers,
)

HEADINGS = ("", "ours", "floor", "compared", "goal", "met")


def measure(rounds: int, *, quick: bool) -> Iterator[Measured]:
    """All measures, one after another."""
    yield from fixed_costs(rounds)
    yield from whole_answers(rounds, 64, *((1_000, 6_000) if quick else (1_000, 11_000)))
    yield from agent_trials(rounds, 64, 1_000, 4_000 if quick else 10_000)
    yield from concurrency_cost(rounds, *((1_000, 4_000) if quick else (1_000, 6_000)))
    waves = 3 if quick else 8
    yield from streams(rounds, 64, waves, ttft_goals=(0.2, 2))
    yield from streams(rounds, 256, max(waves // 2, 2), ttft_goals=(1, 5))
    yield from streams(rounds, 512, max(waves // 2, 2), ttft_goals=(1, 5))
    yield from catalog(rounds)
    yield from peak_memory((2_000, 20_000) if quick else (10_000, 100_000))


def row(measured: Measured) -> tuple[str, ...]:
    """The cells of a line of the table."""
    compared = {"value": "", "ratio": f"{measured.judged:.2f} x", "difference": f"{measured.judged:+.2f}"}
    return (
        measured.name,
        f"{measured.ours:.4g} {measured.unit}",
        "" if measured.floor is None else f"{measured.floor:.4g} {measured.unit}",
        compared[measured.compared],
        "" if measured.goal is None else f"<= {measured.goal:g}",
        {True: "yes", False: "NO", None: ""}[measured.met],
    )


def show(cells: tuple[str, ...]) -> None:
    name, *others = cells
    print(f"{name:36}" + "".join(f"{cell:>12}" for cell in others), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: a look, no evidence")
    parser.add_argument("--rounds", type=int, help="how often floor and ours take turns (5; 1 with --quick)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.quick else 5)
    show(HEADINGS)
    measures = []
    for measured in measure(rounds, quick=options.quick):
        measures.append(measured)
        show(row(measured))
    if options.json:
        figures = [{**each._asdict(), "judged": each.judged, "met": each.met} for each in measures]
        machine = {"python": sys.version.split()[0], "cpus": os.cpu_count(), "system": platform.platform()}
        document = {"machine": machine, "rounds": rounds, "quick": options.quick, "measures": figures}
        options.json.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
