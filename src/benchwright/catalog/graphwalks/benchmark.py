"""Assembly of GraphWalks from its rows, prompt and scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant, user
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.graphwalks import rows
from benchwright.catalog.graphwalks.grading import grade_documented, grade_nodes
from benchwright.records import Message, Sample

UNUSED_NODE = "ffffffffff"

EMPTY_LIST_REASON = "no node is right here, and openbench reads an answer without a list as an empty list"


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    documented = about.variant == "documented"
    return PlainBenchmark(
        about=about,
        samples=rows.samples,
        solver=AskOnce(prompt_messages),
        scorers=(GradeScorer(about.metric, "1", grade_documented if documented else grade_nodes),),
        checks=_documented_checks if documented else _checks,
        figures=figures,
    )


def prompt_messages(content: dict[str, Any]) -> list[Message]:
    """Return the dataset's prompt column as a message, unchanged."""
    return [user(content["prompt"])]


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the share of exactly right answers, and the mean score per problem type and length."""
    exact: list[float] = []
    parts: dict[str, list[float]] = {}
    for one in graded:
        exact.append(float(bool(one.detail.get("correct"))))
        part = f"{one.labels.get('problem_type')}, {one.labels.get('length')}"
        parts.setdefault(part, []).append(one.value or 0.0)
    if not exact:
        return []
    return [
        Figure("exact", sum(exact) / len(exact)),
        *(Figure(part, sum(values) / len(values)) for part, values in sorted(parts.items())),
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    gold = sample.content["answer_nodes"]
    yield Check(GOLD, [_final(gold)])
    yield Check("blank lines behind it", [assistant(_final(gold)["content"] + "\n\n")])
    yield Check("other case, other order", [assistant(f"final answer: [{','.join(reversed(gold))}]")])
    yield Check("one node too many", [_final([*gold, UNUSED_NODE])], passes=False)
    if gold:
        yield Check("one node missing", [_final(gold[1:])], passes=False)
    yield Check("nothing shared", [_final([UNUSED_NODE])], passes=False)
    listed = _final(gold)["content"]
    empty_gold = None if gold else EMPTY_LIST_REASON
    for name, answer in {
        "text behind the list": f"{listed} as asked",
        "not on the last line": f"{listed}\nThat is all.",
        "no list": ", ".join(gold),
        "empty": "",
    }.items():
        yield Check(name, [assistant(answer)], passes=False, reason=empty_gold)


def _documented_checks(sample: Sample) -> Iterator[Check]:
    gold = sample.content["answer_nodes"]
    yield Check(GOLD, [assistant(f"[{', '.join(gold)}]")])
    yield Check("one node too many", [assistant(f"[{', '.join([*gold, UNUSED_NODE])}]")], passes=False)
    if gold:
        yield Check("one node missing", [assistant(f"[{', '.join(gold[1:])}]")], passes=False)
        yield Check("empty", [assistant("")], passes=False)


def _final(nodes: Sequence[str]) -> Message:
    return assistant(f"I looked at every edge.\nFinal Answer: [{', '.join(nodes)}]")
