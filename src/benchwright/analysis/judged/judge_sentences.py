"""Sentences on judged scores. They are the same in terminals, reports and the viewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from benchwright.analysis.judged.certificate import MIN_RANDOM_SAMPLE_P
from benchwright.analysis.judged.records import Certificate, Judge
from benchwright.formats import count_with_noun
from benchwright.stats.judge_agreement import Agreement

METHOD_DESCRIPTIONS = {
    "post-stratified": "labels of its own answers, weighted by verdict",
    "prediction-powered": "labels of its own answers, prediction-powered (PPI++)",
    "rogan-gladen": "labels of other answers, Rogan-Gladen",
}


class JudgedScore(Protocol):
    """The fields of a target's score that concern its judge."""

    @property
    def scorer(self) -> str:
        """The name of the score."""
        ...

    @property
    def judge(self) -> Judge | None:
        """The judge that gave the score. None if no judge did."""
        ...

    @property
    def certificate(self) -> Certificate | None:
        """The score's certificate from human labels. None if there is none."""
        ...


def judge_lines(scores: Iterable[JudgedScore]) -> Iterator[str]:
    """Yield sentences on the judges of a target's scores, and on the certificates of these scores."""
    for one in scores:
        yield from judge_line(one.scorer, one.judge)
        yield from certificate_lines(one.scorer, one.certificate)


def certificate_lines(score: str, found: Certificate | None) -> Iterator[str]:
    """Yield sentences on a certificate. The last one states the corrected score, or why there is none."""
    if found is None:
        return
    if found.agreement is not None:
        yield f"{score}: {_agreement_text(found.agreement)} ({found.source})"
    if found.left_out:
        yield (
            f"{score}: {count_with_noun(found.left_out, 'label')} left out: the answer was "
            "replaced, or has no verdict"
        )
    if (
        found.wrong_longer is not None
        and found.wrong_longer_p is not None
        and found.wrong_longer_p < MIN_RANDOM_SAMPLE_P
    ):
        longer = "longer" if found.wrong_longer > 0.5 else "shorter"
        yield f"{score}: answers on which the judge is wrong are {longer} (p = {found.wrong_longer_p:.2g})"
    if found.corrected is None:
        yield f"{score}: not corrected: {found.refusal}"
        return
    one = found.corrected
    raw = "" if found.raw is None else f", {found.raw:.3f} by the judge alone"
    yield f"{score}: corrected {one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]{raw} ({METHOD_DESCRIPTIONS[one.method]})"


def _agreement_text(found: Agreement) -> str:
    parts = [f"the judge agrees with {count_with_noun(found.n, 'label')} in {found.accuracy.value:.1%}"]
    if found.kappa is not None:
        parts.append(f"kappa {found.kappa.value:.2f} [{found.kappa.low:.2f}, {found.kappa.high:.2f}]")
    for name, rate in (("sensitivity", found.sensitivity), ("specificity", found.specificity)):
        if rate is not None:
            parts.append(f"{name} {rate.value:.1%} [{rate.low:.1%}, {rate.high:.1%}]")
    return ", ".join(parts)


def judge_line(score: str, judge: Judge | None) -> Iterator[str]:
    """Yield a sentence on the judge of a score."""
    if judge is not None:
        sent = "".join(f", {name} {value}" for name, value in judge.settings.items())
        yield f"{score}: judged by {judge.model}, prompt {judge.prompt[:12]}{sent}"
