"""Records about a judged score: its judge, and its certificate from human labels."""

from __future__ import annotations

from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.stats.judge_agreement import Agreement, CorrectedMean


class Judge(Record, frozen=True):
    """The judge of a score: its model, a digest of its prompt, and the settings of its requests."""

    model: str
    prompt: str
    settings: dict[str, object] = {}


class Certificate(Record, frozen=True):
    """Certificate of a judge's score of one target: the judge's agreement with human labels.

    `own`: number of labels of this target's answers. `other`: number of labels of answers from outside the
    run. `left_out`: number of labels of answers that were replaced since, or have no verdict. A label or
    verdict is right if it is at least `threshold`. `corrected`: the corrected mean; None if the correction is
    refused. `refusal`: the reason why the correction is refused. `raw`: the judge's mean, with trials without
    an answer as 0. `wrong_longer`: the probability that an answer on which the judge is wrong is longer than
    an answer on which the judge is right (0.5: length does not matter). `wrong_longer_p`: the two-sided
    p-value of the hypothesis that this probability is 0.5. `wrong_longer` and `wrong_longer_p` are None
    unless there are answers of both kinds.
    """

    source: str
    own: int
    other: int
    left_out: int
    threshold: float
    agreement: Agreement | None
    raw: float | None
    corrected: CorrectedMean | None
    refusal: str | None = None
    wrong_longer: float | None = None
    wrong_longer_p: float | None = None


def judge_of(manifest: Manifest, score: str) -> Judge | None:
    """Return the judge of a score.

    Return None if no judge gave the score, or if the version of Benchwright that made the run did not record
    the judge.
    """
    judging = next((one.judging for one in manifest.scorers if one.name == score), None)
    judge = next((target for target in manifest.helpers if target.slot == "judge"), None)
    if judging is None or judge is None:
        return None
    sent = {name: value for name, value in judging.settings.items() if value is not None}
    return Judge(judge.model, judging.prompt, {**judge.settings, **sent})
