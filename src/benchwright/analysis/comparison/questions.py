"""Samples of two programs that are the same: by their ids, where the questions agree, else by the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchwright.analysis.comparison.sides import Labels, Side, Trials


class SameSamples(NamedTuple):
    """The samples of both sides under labels that mean the same, and how that was found."""

    a: Labels
    b: Labels
    description: str


def same_samples(a: Side, b: Side) -> SameSamples:
    """The samples of two sides of which nothing says that their data are the same.

    Ids are believed where all that both sides have belong to the same question, or where more samples agree in id and
    question than in the question alone. Where a side has no questions, ids are taken to mean the same.
    """
    asked_a, asked_b = a.questions(), b.questions()
    by_id = SameSamples(a.trials.samples, b.trials.samples, "")
    if asked_a is None or asked_b is None:
        told = "by the ids of the samples; it is not known whether their content is the same"
        return by_id._replace(description=told)
    first_a, first_b = _questions(asked_a, a.trials), _questions(asked_b, b.trials)
    common = first_a.keys() & first_b.keys()
    agreeing = sum(first_a[sample] == first_b[sample] for sample in common)
    if agreeing and agreeing == len(common):
        return by_id._replace(description="by the ids of the samples; their questions are the same")
    labels_a, labels_b = distinct_labels(asked_a, a.trials), distinct_labels(asked_b, b.trials)
    if agreeing and agreeing >= len(set(labels_a) & set(labels_b)):
        told = f"by the ids of the samples, of which {len(common) - agreeing} have another question on the other side"
        return by_id._replace(description=told)
    return SameSamples(
        Labels.of(labels_a), Labels.of(labels_b), "by the question, because the ids do not agree"
    )


def _questions(asked: Sequence[str], trials: Trials) -> Mapping[str, str]:
    return {sample: question for sample, question in zip(trials.samples, asked, strict=True) if sample}


def distinct_labels(asked: Sequence[str], trials: Trials) -> list[str]:
    """What was asked, with a number where several samples were asked the same."""
    first: dict[tuple[str, str], int] = {}
    seen: Counter[str] = Counter()
    for text, sample in zip(asked, trials.samples, strict=True):
        if (text, sample) not in first:
            first[text, sample] = seen[text]
            seen[text] += 1
    return [f"{text}#{first[text, sample]}" for text, sample in zip(asked, trials.samples, strict=True)]
