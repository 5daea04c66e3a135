"""Runs in which nothing has a score, and what looks like a score, a percentage or an interval in a text."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.app.app_kit import Program
from tests.app.benchmark_kit import write_mmlu
from tests.app.failing_doors import LEVEL, pack
from tests.app.failing_endpoint import endpoint
from tests.app.test_failure_matrix import raising_evaluation
from tests.http_server import QuietHandler, served_by

ALLOWED = {
    "an id of a run": r"\d{8}T\d{6}[\w-]*|load-[\w-]+",
    "a moment": r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?",
    "an address": r"https?://[^\s,\"<)]+|127\.0\.0\.1(:\d+)?",
    "a version": r"\b(v|Benchwright |benchwright |tools |raises )\d+\.\d+\.\d+",
    "a row of times": r"(?m)^\s*(latency|time to first token|between tokens), ms(\s+[\d.–,]+)+$",
    "a row of times in a pair": r"latency p\d+, ms(\s+[-+\d.–,\[\]]+)+",
    "a median time": r"(?<=grader error)\n[\n\s]*–[\n\s]*[\d.]+",
    "a duration": r"\d+(\.\d+)?(–\d+(\.\d+)?)? ?(ms|s|min)\b|\d+m\d\ds",
    "seconds of a metric": r"(?m)^\s*(wall_time_seconds|latency_\w+|ttft_\w+)\s+[\d.]+$",
    "a rate of requests": r"\d[\d.,]*/s\b|Throughput \(req/s\)[ │\d.–]*|effective_throughput_rps\s+[\d.]+",
    "the level of an interval": r"95 ?% (interval|CI)|\[95 %\]|at 95 %",
    "the share of trials that are done": r"\btrials\s*\(\s*\d+%\s*\)",
    "a setting": r"temperature[ =]\d\.\d|at temperature \d\.\d",
}
"""What is a number and no figure of a score, by what it is."""

LIKE_A_SCORE = re.compile(
    r"""
    [-+]?\d+\.\d+                          # 0.000
    | \d[\d.]*\s?%                         # 100 %
    | \[\s*[-+−]?\d[^\[\]]*,[^\[\]]*\d\s*\]  # [0, 1]
    | \b(?:accuracy|exact|score|mean|total|value|pass[@^]\d)\s*[:=]\s*[-+]?\d  # mean=0
    | \b\d+\s(?:pts|points)\b              # 0 points
    """,
    re.VERBOSE,
)


def scores_in(text: str) -> list[str]:
    """What looks like a score, a percentage or an interval, with the words around it."""
    for allowed in ALLOWED.values():
        text = re.sub(allowed, " ", text)
    return [
        re.sub(r"\s+", " ", text[max(0, one.start() - 50) : one.end() + 30])
        for one in LIKE_A_SCORE.finditer(text)
    ]


ELSEWHERE = ("conversations", "provenance", "speed", "made")
"""Sections of pages that show what others wrote, versions and settings, or times of requests."""


def text_of_page(page: str) -> str:
    """What a page shows, an element a line, without the sections that are about something else."""
    for name in ELSEWHERE:
        page = re.sub(rf'<section (id|aria-labelledby)="{name}">.*?</section>', " ", page, flags=re.DOTALL)
    page = re.sub(r"<(style|script|head|progress)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


DOCUMENTED = {"mean", "std", "min", "max", "accuracy", "score"}
"""Fields of documented formats, whose value is 0 where nothing was scored."""

OF_TIMES = re.compile(r"seconds|_rps|_tps|ttf|latency|gap|lag|cpu|duration|^(q|value|points)$")
OF_COUNTS = ("samples", "trials", "errors", "no_answer", "confidence", "pass_threshold")
"""Numbers in JSON that are times, counts, settings, or shares of trials that failed."""


def scores_in_json(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Numbers of a type that has fractions, by their paths, but for documented zeros, times and counts."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in ("requests", "loads", "manifest", "config", "about", "protocol", "messages"):
                yield from scores_in_json(one, f"{path}.{name}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from scores_in_json(one, f"{path}[{place}]")
    elif isinstance(value, float):
        name = path.rpartition(".")[2].partition("[")[0]
        known = name in OF_COUNTS or OF_TIMES.search(name) or ".distributions." in path
        if not known and not (name in DOCUMENTED and value == 0.0):
            yield path, value


@contextmanager
def refusing(*, alike: bool = True) -> Iterator[str]:
    """An endpoint that refuses every request, for one reason or each for its own; yields its base URL."""
    numbers = itertools.count(1)

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            listed = [{"id": name, "object": "model"} for name in ("m", "other")]
            self.answer(200, json.dumps({"object": "list", "data": listed}).encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            which = "" if alike else f" {next(numbers)}"
            error = {"error": {"message": f"refused for reason{which}"}}
            self.answer(400, json.dumps(error).encode())

    with served_by(Handler) as address:
        yield f"{address}/v1"


class Unscored:
    """The runs: `said` is what each door printed, by its name; `runs` are their ids. One more is `scored`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.said: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        write_mmlu(program, 8)
        grading = raising_evaluation(program)
        rows = program.rows(6)
        with refusing() as one, refusing(alike=False) as many:
            evaluating = ["eval", "-d", rows, "--scorer", "exact", "--n", "2"]
            self.run("eval", one, *evaluating, "-o", "eval.json", "--no-stream")
            self.run("eval of many reasons", many, *evaluating, "-o", "many.json", "--no-stream")
            self.run("eval of another model", many, *evaluating, "--no-stream", model="other")
            self.run("run", many, "run", "mmlu", "--no-stream", "--concurrency", "1")
            self.run("run of another model", many, "run", "mmlu", "--no-stream", model="other")
            self.run("pack run", one, *pack(program), "--cell-retries", "0", "--markdown", "card.md")
            self.run("load", one, "load", "-d", rows, "--scorer", "exact", *LEVEL, "--no-stream")
        with endpoint() as url:
            self.run("eval with a failing scorer", url, *grading, "--no-stream")
            self.scored = self._scored(url, evaluating)

    def _scored(self, url: str, evaluating: Sequence[str]) -> str:
        """The directory of a run in which everything has a score, in a home of its own."""
        home = self.program.directory / "scored"
        options = ["--model", "m", "--base-url", url, "--no-stream"]
        self.program.run(*evaluating, *options, BENCHWRIGHT_HOME=str(home))
        (run,) = (path.parent for path in home.glob("runs/*/run.json"))
        return str(run)

    def run(self, door: str, url: str, *command: str, model: str = "m") -> None:
        """Runs a command to its end, and keeps what it said."""
        before = set(self.program.runs)
        ended = self.program.run(*command, "--model", model, "--base-url", url, "--retries", "0")
        self.said[door] = ended.stdout + ended.stderr
        (new,) = set(self.program.runs) - before
        self.runs[door] = new.name

    def reference(self, door: str) -> str:
        """The id of a run by its door; `scored` is the one in which everything has a score."""
        return self.scored if door == "scored" else self.runs[door]

    def trials(self, door: str) -> int:
        """How many trials a run made."""
        return sum(target["trials"] for target in self.json("show", self.runs[door])["targets"])

    def show(self, *command: str) -> str:
        """What a command says on both of its streams."""
        ended = self.program.run(*command)
        assert "Traceback" not in ended.stderr
        return ended.stdout + ended.stderr

    def json(self, *command: str) -> Any:
        """What a command prints with `--json`."""
        return json.loads(self.program.run(*command, "--json").stdout)
