"""What is known of a judged score: who judged, and the certificate that people's labels give."""

from __future__ import annotations

from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.stats.judged import Agreement, Corrected


class Judge(Record, frozen=True):
    """Who gave a score: the model as it was named, how it was asked, and a digest of the prompt."""

    model: str
    prompt: str
    settings: dict[str, object] = {}


class Certificate(Record, frozen=True):
    """What people's labels say of a judge's score of one target.

    `own` labels are of this target's answers, `other` ones of answers from elsewhere; `left_out` are labels of answers
    that were replaced since, or that the judge gave no verdict on. A label or a verdict is right from `threshold` on.
    `corrected` is None where it is refused; `refusal` says why. `raw` is the judge's own mean, with trials without an
    answer as 0. `wrong_longer` is the probability that an answer on which the judge is wrong is longer than one on
    which it is right (0.5: length does not matter), `wrong_longer_p` its two-sided p-value; None without both kinds.
    """

    source: str
    own: int
    other: int
    left_out: int
    threshold: float
    agreement: Agreement | None
    raw: float | None
    corrected: Corrected | None
    refusal: str | None = None
    wrong_longer: float | None = None
    wrong_longer_p: float | None = None


def judge_of(manifest: Manifest, score: str) -> Judge | None:
    """Who judged a score; None where it is not a judge's, or the run is of a version that did not note it."""
    judging = next((one.judging for one in manifest.scorers if one.name == score), None)
    judge = next((target for target in manifest.helpers if target.slot == "judge"), None)
    if judging is None or judge is None:
        return None
    sent = {name: value for name, value in judging.settings.items() if value is not None}
    return Judge(judge.model, judging.prompt, {**judge.settings, **sent})
