"""Matches samples of two programs: by id if equal ids have the same question, otherwise by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchwright.analysis.comparison.sides import CodedTexts, Side, SideTrials


class MatchedSamples(NamedTuple):
    """The samples of both sides under common names, and a description of how they were matched."""

    a: CodedTexts
    b: CodedTexts
    description: str


def match_samples(a: Side, b: Side) -> MatchedSamples:
    """Match the samples of two sides whose data are not known to be the same.

    Samples are matched by id in three cases: a side has no questions; every common id has the same question
    on both sides; or matching by id pairs at least as many samples of equal question as matching by question
    would. Otherwise, samples are matched by question.
    """
    asked_a, asked_b = a.question_digests(), b.question_digests()
    by_id = MatchedSamples(a.trials.samples, b.trials.samples, "")
    if asked_a is None or asked_b is None:
        told = "by the ids of the samples; it is not known whether their content is the same"
        return by_id._replace(description=told)
    first_a, first_b = _questions(asked_a, a.trials), _questions(asked_b, b.trials)
    common = first_a.keys() & first_b.keys()
    agreeing = sum(first_a[sample] == first_b[sample] for sample in common)
    if agreeing and agreeing == len(common):
        return by_id._replace(description="by the ids of the samples; their questions are the same")
    labels_a, labels_b = prompt_labels(asked_a, a.trials), prompt_labels(asked_b, b.trials)
    if agreeing and agreeing >= len(set(labels_a) & set(labels_b)):
        told = f"by the ids of the samples, of which {len(common) - agreeing} have another question on the other side"
        return by_id._replace(description=told)
    return MatchedSamples(
        CodedTexts.from_texts(labels_a),
        CodedTexts.from_texts(labels_b),
        "by the question, because the ids do not agree",
    )


def _questions(asked: Sequence[str], trials: SideTrials) -> Mapping[str, str]:
    return {sample: question for sample, question in zip(trials.samples, asked, strict=True) if sample}


def prompt_labels(asked: Sequence[str], trials: SideTrials) -> list[str]:
    """Return the prompts as names of samples.

    If several samples have the same prompt, a number is added to each name.
    """
    first: dict[tuple[str, str], int] = {}
    seen: Counter[str] = Counter()
    for text, sample in zip(asked, trials.samples, strict=True):
        if (text, sample) not in first:
            first[text, sample] = seen[text]
            seen[text] += 1
    return [f"{text}#{first[text, sample]}" for text, sample in zip(asked, trials.samples, strict=True)]
