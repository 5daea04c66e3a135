"""Compares two sides by all their scores and latencies, and adds remarks for the reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from benchwright.analysis.comparison.breakdown import score_breakdowns
from benchwright.analysis.comparison.comparability import differing_settings, refusal_reasons, unchecked_facts
from benchwright.analysis.comparison.data_differences import data_differences
from benchwright.analysis.comparison.figures import are_scores_identical, compare_score
from benchwright.analysis.comparison.latency import compare_latencies
from benchwright.analysis.comparison.pairing import Alignment, align_sides
from benchwright.analysis.comparison.records import PairComparison, ScoreComparison, SettingDifference
from benchwright.analysis.comparison.repeat_noise import chance_difference
from benchwright.analysis.comparison.sides import Side
from benchwright.runs.manifest_facts import IMPORT_KIND

NO_COMMON_SAMPLE_REASON = "no sample is scored on both sides"


class PairOfSides(NamedTuple):
    """The comparison of two sides (`comparison`), together with the sides and the alignment of their samples.

    Gates compute their own bounds from the sides and the alignment.
    """

    comparison: PairComparison
    a: Side
    b: Side
    alignment: Alignment | None


def compare_pair(a: Side, b: Side, confidence: float, *, anyway: bool) -> PairOfSides:
    """Compare two sides by all common scores. If `anyway` is True, compare them even if they are not comparable."""
    reasons = refusal_reasons(a.facts, b.facts)
    b, renamed, other = unify_score_name(a, b)
    names = list(score_names(a, b))
    result = PairComparison(
        a=a.facts.letter, b=b.facts.letter, task=b.facts.task, refusals=reasons, anyway=anyway
    )
    if not names:
        reasons = [*reasons, _no_scores(a, b)]
        return PairOfSides(msgspec.structs.replace(result, refusals=reasons, anyway=False), a, b, None)
    if result.is_refused:
        return PairOfSides(result, a, b, None)
    aligned = align_sides(a, b)
    scores = [_score(aligned, a, b, name, confidence) for name in names]
    settings = differing_settings(a.facts, b.facts)
    latencies, no_latency = compare_latencies(a, b, confidence)
    data = data_differences(aligned, a, b)
    result = msgspec.structs.replace(
        result,
        alignment=aligned.description,
        notes=[
            *renamed,
            *_notes(
                a,
                b,
                settings,
                [name for name, score in zip(names, scores, strict=True) if score is None],
                same_data=data is not None and data.is_empty,
            ),
        ],
        settings=settings,
        scores=[msgspec.structs.replace(score, score_b=other) for score in scores if score is not None],
        breakdowns=[
            found
            for score in scores
            if score is not None and aligned.sample_order is None
            for found in score_breakdowns(aligned, a, b, score.score, score.unit, confidence)
        ],
        latencies=latencies,
        no_latency=no_latency,
        data=data,
    )
    return PairOfSides(result, a, b, aligned)


def score_names(a: Side, b: Side) -> Iterator[str]:
    """Yield the names of the scores that both sides have.

    A benchmark's `score` is skipped if it equals `accuracy`.
    """
    for name, column in a.trials.scores.items():
        if name not in b.trials.scores:
            continue
        accuracy = [side.trials.scores.get("accuracy") for side in (a, b)]
        if name == "score" and accuracy[0] is not None and accuracy[1] is not None:
            same = are_scores_identical(column, accuracy[0])
            if same and are_scores_identical(b.trials.scores[name], accuracy[1]):
                continue
        yield name


def unify_score_name(a: Side, b: Side) -> tuple[Side, list[str], str | None]:
    """Rename side B's only score to the name of side A's only score, because programs name the same score
    differently.

    Return B, a remark on the renaming, and the original name of the score. If neither side is imported, or if a
    side has several scores, return B unchanged.
    """
    if (
        IMPORT_KIND not in (a.facts.kind, b.facts.kind)
        or not len(a.trials.scores) == len(b.trials.scores) == 1
    ):
        return b, [], None
    (name,), (other,) = a.trials.scores, b.trials.scores
    if name == other:
        return b, [], None
    trials = b.trials._replace(scores={name: b.trials.scores[other]})
    told = f"{name!r} of {a.facts.name} is compared with {other!r} of {b.facts.name}: each has but this score"
    lower = frozenset({name}) if other in b.lower_is_better else frozenset()
    evidence = b.extracted_answers
    renamed = msgspec.structs.replace(
        b, trials=trials, lower_is_better=lower, extracted_answers=lambda _, wanted: evidence(other, wanted)
    )
    return renamed, [told], other


def _no_scores(a: Side, b: Side) -> str:
    return "they have no score in common: " + ", ".join(
        f"{side.facts.name} has {' and '.join(side.trials.scores) or 'none'}" for side in (a, b)
    )


def _score(aligned: Alignment, a: Side, b: Side, name: str, confidence: float) -> ScoreComparison | None:
    found = compare_score(aligned, a, b, name, confidence)
    return found and msgspec.structs.replace(found, noise=chance_difference(a, b, name))


def _notes(
    a: Side, b: Side, settings: list[SettingDifference], empty: list[str], *, same_data: bool
) -> Iterator[str]:
    yield from (f"{one.name}: {one.a or 'none'} → {one.b or 'none'}" for one in settings)
    yield from unchecked_facts(a.facts, b.facts, same_data=same_data)
    for name in empty:
        none = [side.facts.name for side in (a, b) if side.no_score(name) is not None]
        told = (
            f"{' and '.join(none)} {'has' if len(none) == 1 else 'have'} no score"
            if none
            else NO_COMMON_SAMPLE_REASON
        )
        yield f"{name!r} is not compared: {told}"
    yield from _stopped_early(a, b)
    for side in (a, b):
        if side.used_samples is None and side.facts.state not in (None, "finished"):
            yield f"{side.facts.name} is {side.facts.state}: only its finished trials are compared"


def _stopped_early(a: Side, b: Side) -> Iterator[str]:
    names = [side.facts.name for side in (a, b) if side.used_samples is not None]
    if len(names) == 2 and a.used_samples != b.used_samples:
        yield f"{a.facts.name} and {b.facts.name} stopped early, each in its own order: there is no valid interval"
    elif names:
        yield (
            f"{' and '.join(names)} stopped early: what counts are the samples until then, with an interval that holds "
            "however often one looks, and without a p-value"
        )


def missing_score_reasons(pair: PairOfSides, score: str) -> list[str]:
    """Return the reasons why a score of a pair cannot be compared: one for each side that lacks the score."""
    found = [(side.facts.name, side.no_score(score)) for side in (pair.a, pair.b)]
    told = [f"{score!r} of {name}: {none}" for name, none in found if none is not None]
    return told or [f"{score!r}: {NO_COMMON_SAMPLE_REASON}"]
