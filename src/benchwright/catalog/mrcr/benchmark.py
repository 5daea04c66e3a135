"""Assembly of MRCR from its rows, solver and scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.catalog.asking import PlainBenchmark, assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.mrcr import rows
from benchwright.catalog.mrcr.grading import grade_documented, grade_likeness
from benchwright.catalog.mrcr.solver import ContextFittedSolver
from benchwright.data.datasets import Source
from benchwright.records import Sample

TOKEN_BINS_DEPARTURE = "bins use 4.9 characters per token; the published ones count tokens of o200k_base"

CUT_CONVERSATIONS_DEPARTURE = (
    "conversations of more than {most:,} tokens are cut in the middle, which may remove needles"
)

OMITTED_CONVERSATIONS_DEPARTURE = "conversations of more than about {most:,} tokens are left out"


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    most = options.integer("max_context", 0) or None
    cut = options.integer("max_input_tokens", 0) or None
    documented = about.variant == "documented"
    scorer = (
        GradeScorer(about.metric, "1", grade_documented)
        if documented
        else GradeScorer(about.metric, "1", grade_likeness, offloaded=("answer", "prefix"))
    )

    def read(source: Source) -> Iterator[Sample]:
        """Yield the conversations that are not longer than the chosen context."""
        return rows.samples(source, most)

    return PlainBenchmark(
        about=about,
        samples=read,
        solver=ContextFittedSolver(cut),
        scorers=(scorer,),
        checks=_documented_checks if documented else _checks,
        figures=figures,
        departures=tuple(
            told.format(most=limit)
            for told, limit in ((OMITTED_CONVERSATIONS_DEPARTURE, most), (CUT_CONVERSATIONS_DEPARTURE, cut))
            if limit
        ),
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the mean score for each number of needles (similar texts), and for each bin of context lengths."""
    parts: dict[tuple[int, int], list[float]] = {}
    for one in graded:
        part = int(one.labels["n_needles"]), rows.CONTEXT_BINS.index(one.labels["context"])
        parts.setdefault(part, []).append(one.value or 0.0)
    return [
        Figure(
            f"{needles} needles, {rows.CONTEXT_BINS[place]}", sum(values) / len(values), TOKEN_BINS_DEPARTURE
        )
        for (needles, place), values in sorted(parts.items())
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    answer, prefix = sample.content["answer"], sample.content["prefix"]
    text = answer.removeprefix(prefix)
    yield Check(GOLD, [assistant(answer)])
    for name, said in {
        "without the prefix": text,
        "a space before the prefix": f" {answer}",
        "a line before the prefix": f"Here it is:\n{answer}",
        "the prefix alone": prefix,
        "cut off": answer[: len(prefix) + len(text) // 2],
        "more behind it": f"{answer}\nIs there anything else?",
        "empty": "",
    }.items():
        yield Check(name, [assistant(said)], passes=False)


def _documented_checks(sample: Sample) -> Iterator[Check]:
    answer, prefix = sample.content["answer"], sample.content["prefix"]
    yield Check(GOLD, [assistant(answer)])
    yield Check("words before it", [assistant(f"Here it is: {answer}")])
    yield Check("the prefix alone", [assistant(prefix)], passes=False)
    yield Check("empty", [assistant("")], passes=False)
