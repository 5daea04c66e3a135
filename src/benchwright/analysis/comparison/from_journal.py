"""A side from the journal of a run."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import xxhash

from benchwright.analysis.benchmark_file import AGGREGATED
from benchwright.analysis.comparison.effort import EffortBuilder
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, SCORED, Facts, Side, TrialsBuilder
from benchwright.analysis.summary import RunSummary, TargetSummary, summary_of
from benchwright.errors import UserError
from benchwright.records import SIMULATED, Message, Status
from benchwright.runs.final_trials import FinalTrial, FinalTrials
from benchwright.runs.journal import encode_json, read_body
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.paces import in_timings
from benchwright.suggest import did_you_mean

HAD_ITS_SAY = frozenset({Status.UNPARSED, Status.REFUSED, Status.TRUNCATED, Status.LIMIT})
"""Statuses of a trial whose model was asked to the end, and gave nothing to score."""

LONGEST_ANSWER = 300
"""Characters of an answer that are kept as evidence."""


def slots_of(directory: Path) -> list[str]:
    """The targets of a run, the one to compare with first: the baseline, if there is one."""
    slots = [target.slot for target in read_manifest(directory).targets]
    return sorted(slots, key=lambda slot: slot != "baseline")


def read_side(
    directory: Path, reference: str, slot: str | None = None, summary: RunSummary | None = None
) -> Side:
    """The trials of one target, by default the first, of a run; its `summary` is made unless it is given.

    Raises:
        UserError: the run has no such target.
        JournalError: the journal cannot be read.
    """
    manifest = read_manifest(directory)
    slots = [target.slot for target in manifest.targets]
    slot = slots[0] if slot is None else slot
    if slot not in slots:
        raise UserError(
            f"{reference}: the run has the targets {', '.join(slots)}.{did_you_mean(slot, slots)}"
        )
    final = FinalTrials(directory, slot)
    benchmark = manifest.kind == "benchmark"
    builder = TrialsBuilder(["accuracy", "score"] if benchmark else [one.name for one in manifest.scorers])
    timings = {"ttft": array("d"), "latency": array("d")}
    effort = EffortBuilder()
    simulated = False
    for trial in final:
        record = trial.record
        effort.add(record)
        scores = _benchmark_scores(trial, manifest) if benchmark else _scores(trial)
        builder.add(record.sample, record.repeat, record.group, _absent(trial), scores)
        simulated = simulated or any(SIMULATED in request.flags for request in record.requests)
        if record.reused_from is None:
            for request in record.requests:
                if request.role == "model" and in_timings(request):
                    timings["latency"].append(request.total / 1e9)
                    if request.ttft is not None:
                        timings["ttft"].append(request.ttft / 1e9)
    summary = summary_of(directory) if summary is None else summary
    target = next(one for one in summary.targets if one.slot == slot)
    return Side(
        facts=_facts(manifest, reference, slot, simulated, summary),
        trials=builder.trials(),
        timings={name: np.array(values, np.float64) for name, values in timings.items()},
        metrics=_metrics(target),
        evidence=lambda score, wanted: _evidence(final, directory, _scorer(manifest, score), wanted),
        contents=lambda: _contents(final, directory),
        effort=effort.effort(directory, slot, len(slots)),
        pass_threshold=manifest.pass_threshold,
    )


def _scorer(manifest: Manifest, score: str) -> str:
    return manifest.scorers[0].name if manifest.kind == "benchmark" else score


def _absent(trial: FinalTrial) -> int:
    """The state of a trial without a score: the model had its say, or there is none for another reason."""
    return NO_ANSWER if trial.record.status in HAD_ITS_SAY else ERROR


def _scores(trial: FinalTrial) -> dict[str, tuple[float | None, int]]:
    found: dict[str, tuple[float | None, int]] = {
        name: (value, SCORED) for name, value in trial.record.scores.items()
    }
    for name, score in trial.scores.items():
        found[name] = (score.value, ERROR if score.status is Status.GRADER_ERROR else NO_ANSWER)
    return found


def _benchmark_scores(trial: FinalTrial, manifest: Manifest) -> dict[str, tuple[float | None, int]]:
    """`accuracy` and `score`, as the result file has them."""
    score = trial.scores.get(manifest.scorers[0].name)
    if score is None:
        return {}
    without = ERROR if score.status is Status.GRADER_ERROR else NO_ANSWER
    correct = None if score.value is None else float(bool((score.detail or {}).get("correct")))
    return {"accuracy": (correct, without), "score": (score.value, without)}


def _facts(manifest: Manifest, reference: str, slot: str, simulated: bool, summary: RunSummary) -> Facts:
    about = manifest.about
    target = next(one for one in manifest.targets if one.slot == slot)
    benchmark = manifest.kind == "benchmark"
    graders = {scorer.name: scorer.fingerprint for scorer in manifest.scorers}
    if benchmark:
        graders = dict.fromkeys(("accuracy", "score"), manifest.scorers[0].fingerprint)
    return Facts(
        reference=reference,
        source="journal",
        kind=manifest.kind,
        subject=about["benchmark"] if benchmark else _subject(manifest),
        model=manifest.typed_models.get(slot, target.model),
        variant=about.get("variant") if benchmark else None,
        protocol=f"{about.get('protocol')} (version {manifest.task.version})" if benchmark else None,
        data=tuple(data.xxh3 for data in manifest.data) or None,
        graders=graders,
        simulated=simulated,
        concurrency=None if _is_open_loop(about) else summary.concurrency,
        stream=manifest.stream,
        timings_valid=summary.timings_valid,
        settings=_settings(manifest, target.settings),
        run=manifest.id,
        slot=slot,
        state=summary.state,
    )


def _is_open_loop(about: Mapping[str, Any]) -> bool:
    """Whether requests came at a rate, so that how many were in flight was the server's doing."""
    return "load" in about and about["load"]["level"].get("concurrency") is None


def _subject(manifest: Manifest) -> str:
    """The dataset of an eval, the name of a pack."""
    if manifest.kind == "eval" and manifest.data:
        return Path(manifest.data[0].path).stem
    return manifest.task.name


def _settings(manifest: Manifest, settings: Mapping[str, Any]) -> dict[str, str]:
    """What shapes the answers besides the model, as text."""
    shown = {name: encode_json(value).decode() for name, value in settings.items() if value is not None}
    for name, value in msgspec.to_builtins(manifest.limits).items():
        shown[f"limit of {name}"] = str(value)
    shown["repeats"] = str(manifest.repeats)
    shown["agent, prompt or protocol (fingerprint)"] = manifest.task.fingerprint[:12]
    if departures := manifest.about.get("departures"):
        shown["departures from the protocol"] = "; ".join(departures)
    return shown


def _metrics(target: TargetSummary) -> dict[str, float | None]:
    """The documented performance figures, and pass@k."""
    found: dict[str, float | None] = {name: getattr(target.requests, name) for name in AGGREGATED}
    for score in target.scores:
        for entry in score.passes:
            found[f"{score.scorer}.pass_at_{entry.k}"] = entry.pass_at_k
            found[f"{score.scorer}.pass_hat_{entry.k}"] = entry.pass_hat_k
    return found


def _evidence(trials: FinalTrials, directory: Path, scorer: str, wanted: set[int]) -> dict[int, str]:
    found = {}
    last = max(wanted, default=-1)
    for position, trial in enumerate(trials):
        if position > last:
            break
        if position not in wanted:
            continue
        score = trial.scores.get(scorer)
        text = None if score is None else score.span
        if text is None and trial.record.body[1]:
            text = read_body(directory, trial.record).answer or None
        if text is not None:
            found[position] = text[:LONGEST_ANSWER]
    return found


def _contents(trials: FinalTrials, directory: Path) -> Sequence[str] | None:
    """A digest of what each trial was asked: what the user said before the first answer; None where nothing was."""
    found = []
    for trial in trials:
        if not trial.record.body[1]:
            return None
        asked = _asked(read_body(directory, trial.record).messages)
        if not asked:
            return None
        found.append(xxhash.xxh3_128_hexdigest(encode_json(asked)))
    return found


def _asked(messages: Sequence[Message]) -> list[Any]:
    asked = []
    for message in messages:
        if message.get("role") == "assistant":
            break
        if message.get("role") == "user":
            asked.append(message.get("content"))
    return asked
