"""The four front doors as the tests of failures use them: commands with four trials each, and what they leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.app.app_kit import Program
from tests.app.pack_kit import Packs, numbered
from tests.app.test_custom_benchmarks import EXAMPLE

DONE, STOPPED, INCOMPLETE = 0, 1, 4
"""Exit codes, see docs/formats.md."""

LEVEL = ["--concurrency", "1", "--requests", "4", "--warmup", "0"]

Door = Callable[[Program], list[str]]


def evaluation(program: Program) -> list[str]:
    return ["eval", "-d", program.rows(4), "--scorer", "exact"]


def benchmark(program: Program) -> list[str]:
    return ["run", "my_benchmark", "--plugin", program.write("mine.py", EXAMPLE)]


def load(program: Program) -> list[str]:
    return ["load", "-d", program.rows(4), *LEVEL]


def pack(program: Program) -> list[str]:
    return ["pack", "run", Packs(program).pack("tools", numbered(4)), "--mode", "serial"]


DOORS: tuple[Door, ...] = (evaluation, benchmark, load, pack)


class Ended(NamedTuple):
    """A command that has ended: its exit code, the last ten lines that it said, and what it printed.

    `card` is the Markdown card of a pack's run, None where none was written. `shown` is what `show` then prints of
    the last run, None where no trial was made.
    """

    code: int
    last: str
    out: str
    card: str | None
    shown: str | None

    @property
    def document(self) -> dict[str, Any]:
        """What was printed with `--json`."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def run(program: Program, arguments: list[str], url: str, *more: str, model: str = "m") -> Ended:
    """Runs a door's command to its end, one attempt a trial."""
    own = ["--cell-retries", "0", "--markdown", "card.md"] if arguments[0] == "pack" else ["--no-stream"]
    asked = [*arguments, "--model", model, "--base-url", url, "--retries", "0", *own, *more]
    ended = program.run(*asked)
    card = program.directory / "card.md"
    begun = [run.name for run in program.runs if (run / "trials.jsonl").exists()]
    return Ended(
        ended.returncode,
        "\n".join(ended.stderr.splitlines()[-10:]),
        ended.stdout,
        card.read_text() if card.exists() else None,
        " ".join(program.run("show", begun[-1]).stdout.split()) if begun else None,
    )


def summaries(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The summaries of runs in what a command printed with `--json`."""
    if "benchmarks" in document:
        return [one["summary"] for one in document["benchmarks"]]
    found: list[dict[str, Any]] = document.get("packs") or document.get("levels") or [document]
    return found


def failures_in(document: dict[str, Any]) -> dict[str, int]:
    """Why trials or their grading failed, and how often, in what a command printed with `--json`."""
    found: dict[str, int] = {}
    for summary in summaries(document):
        statistics = summary.get("statisticsByModel")
        targets = summary.get("targets") or (list(statistics.values()) if statistics else [summary])
        for target in targets:
            found |= {**target.get("failures", {}), **target.get("ungraded", {})}
    return found
