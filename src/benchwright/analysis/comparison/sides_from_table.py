"""Builds a side of a comparison from the table of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from benchwright.agents.rows import ID
from benchwright.analysis.benchmark_file import AGGREGATED_METRICS_KEYS
from benchwright.analysis.comparison.side_trials import groups_of, samples_of, to_signed_integers, trials_of
from benchwright.analysis.comparison.sides import (
    MAX_ANSWER_LENGTH,
    CodedTexts,
    LostWork,
    PromptAndTarget,
    Side,
    SideFacts,
    TrialUsage,
    UsedSamples,
)
from benchwright.analysis.labels import breakdown_labels, label_columns
from benchwright.analysis.scores import failure_reasons
from benchwright.analysis.sent_settings import sent_settings
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary, TargetSummary
from benchwright.errors import JournalError, UserError
from benchwright.records import Message, Target
from benchwright.runs.journal import encode_json, read_body
from benchwright.runs.manifest import Manifest, origin_of, read_manifest
from benchwright.runs.manifest_facts import harness_of
from benchwright.runs.question import read_question
from benchwright.runs.table import RunTable, read_table
from benchwright.runs.trial_prompt import read_input
from benchwright.runs.usage_columns import UsageColumns
from benchwright.statistic import Statistic
from benchwright.suggestions import did_you_mean

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows


def slots_of(manifest: Manifest) -> list[str]:
    """Return the slots of a run's targets. If there is a baseline, its slot comes first."""
    slots = [target.slot for target in manifest.targets]
    return sorted(slots, key=lambda slot: slot != "baseline")


class RunSides:
    """The sides of a run, one for each target. The journal is read only once for all sides."""

    def __init__(self, directory: Path, reference: str, table: RunTable | None = None) -> None:
        self.manifest = read_manifest(directory)
        self.reference = reference
        self.table = read_table(directory, effort=True) if table is None else table
        self.summary = summarise(self.manifest, self.table)

    def side(self, slot: str | None = None) -> Side:
        """Return the side of one target. By default, it is the first target.

        Raises:
            UserError: If the run has no such target.
        """
        slots = [target.slot for target in self.manifest.targets]
        slot = slots[0] if slot is None and slots else slot
        if slot is None:
            raise UserError(f"{self.reference}: the run has no targets.")
        if slot not in slots:
            raise UserError(
                f"{self.reference}: the run has the targets {', '.join(slots)}.{did_you_mean(slot, slots)}"
            )
        return side_of(self.manifest, self.table, self.summary, self.reference, slot)

    def sides(self) -> list[Side]:
        """Return one side for every target. The baseline comes first."""
        return [self.side(slot) for slot in slots_of(self.manifest)]


def side_of(manifest: Manifest, table: RunTable, summary: RunSummary, reference: str, slot: str) -> Side:
    """Return a side of a comparison, for the target in `slot`.

    The trials of the side are ordered by first start. `reference`: how the user named the run. `table` must
    have been read with `effort=True`, because the side includes tokens and times.
    """
    rows = table.rows_in_start_order(table.counted_rows(slot))
    target = next(one for one in summary.targets if one.slot == slot)
    requests = table.requests.get(slot)
    effort = _effort(table, rows, slot, len(manifest.targets))
    timings = {} if requests is None else {name: requests.timing_column(name) for name in ("ttft", "latency")}
    facts = side_facts_of(manifest, reference, slot)
    return Side(
        facts=msgspec.structs.replace(
            facts,
            settings={**facts.settings, **sent_settings(target.requests)},
            simulated=table.simulated,
            concurrency=None if _is_open_loop(manifest.about) else summary.concurrency,
            timings_valid=summary.timings_valid,
            state=summary.state,
        ),
        trials=trials_of(manifest, table, rows),
        timings=timings,
        metrics=_metrics(target),
        extracted_answers=lambda score, wanted: _evidence(table, rows, _scorer(manifest, score), wanted),
        prompt_digests=lambda: _contents(table, rows),
        question_digests=lambda: _questions(table, rows),
        prompts_and_targets=lambda wanted: _asked_at(table, rows, wanted),
        lower_is_better=_lower_is_better(manifest),
        labels=lambda: _labels(manifest, table, rows),
        usage=effort,
        pass_threshold=manifest.pass_threshold,
        used_samples=_prefix(table, summary),
        failure_reasons=lambda score: failure_reasons(table, _scorer(manifest, score), rows),
    )


def _prefix(table: RunTable, summary: RunSummary) -> UsedSamples | None:
    """Return the samples on which the decision of a run that was decided early is based.

    They are the first samples of a random order. Return None if the run has no decision, or if all its
    samples were asked.
    """
    question = read_question(table.directory) if summary.decision is not None else None
    if question is None or summary.decision is None or summary.state == "finished":
        return None
    sizes = np.cumsum([len(unit) for unit in question.units])
    taken = int(np.searchsorted(sizes, summary.decision.used, side="right"))
    return UsedSamples(question.units[:taken], len(question.units), max(map(len, question.units)))


def _labels(manifest: Manifest, table: RunTable, rows: Rows) -> dict[str, CodedTexts]:
    """Return the labels by which differences are broken down."""
    found = label_columns(table, rows)
    return {
        name: CodedTexts(found[name].codes, found[name].values.__getitem__)
        for name in breakdown_labels(manifest, found)
        if name in found
    }


def _effort(table: RunTable, rows: Rows, slot: str, targets: int) -> TrialUsage:
    effort, requests = table.effort, table.requests.get(slot)
    assert effort is not None
    lost = table.cut_off_rows(slot)
    everyone = np.concatenate([rows, lost]) if lost.size else rows
    reused = table.reused.compact_numbers(rows).astype(bool)
    seconds, lost_seconds = _seconds(effort, rows, reused, lost)
    prompt, completion = (
        to_signed_integers(column.compact_numbers(everyone))
        for column in (effort.prompt_tokens, effort.completion_tokens)
    )
    n = rows.size
    return TrialUsage(
        seconds=seconds,
        prompt_tokens=prompt[:n],
        completion_tokens=completion[:n],
        latency=np.frombuffer(effort.latency, np.float32)[rows],
        ttft=np.frombuffer(effort.ttft, np.float32)[rows],
        reused_mask=reused,
        unsettled_mask=effort.unsettled.compact_numbers(rows).astype(bool),
        lost_work=LostWork(
            samples_of(table, lost),
            groups_of(table, lost),
            lost_seconds,
            prompt[n:],
            completion[n:],
        ),
        requests=0 if requests is None else requests.answered + requests.side.answered,
        timed_requests=0 if requests is None else requests.timed,
        uncounted_requests=0 if requests is None else requests.uncounted + requests.side.uncounted,
        target_count=targets,
    )


def _seconds(
    effort: UsageColumns, rows: Rows, reused: NDArray[np.bool_], lost: Rows
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    """Return two arrays in seconds: the working time of each trial (n,), and of each cancelled trial (m,).

    Trials that are in flight together share the time (see `UsageColumns`). Reused trials have 0. The first
    array is None if the times are unknown.
    """
    own = np.concatenate([rows[~reused], lost]) if lost.size or reused.any() else rows
    shared = effort.trial_seconds(own)
    if shared is None or own is rows:
        return shared, np.zeros(lost.size)
    seconds = np.zeros(rows.size)
    seconds[~reused] = shared[: shared.size - lost.size]
    return seconds, shared[shared.size - lost.size :]


def _scorer(manifest: Manifest, score: str) -> str:
    return manifest.scorers[0].name if manifest.kind == "benchmark" else score


def side_facts_of(manifest: Manifest, reference: str, slot: str) -> SideFacts:
    """Return the facts about one target of a run that are known before the run's first trial."""
    about = manifest.about
    target = next(one for one in manifest.targets if one.slot == slot)
    benchmark = manifest.kind == "benchmark"
    graders: dict[str, str] | None = {scorer.name: scorer.fingerprint for scorer in manifest.scorers}
    origin = origin_of(manifest)
    if origin is not None:
        graders = None
    elif benchmark:
        graders = dict.fromkeys(("accuracy", "score"), manifest.scorers[0].fingerprint)
    return SideFacts(
        reference=reference,
        source="journal",
        kind=manifest.kind,
        subject=about.get("benchmark", manifest.name) if benchmark else _subject(manifest),
        model=manifest.typed_models.get(slot, target.model),
        variant=about.get("variant") if benchmark else None,
        protocol=about.get("protocol") if benchmark else None,
        protocol_version=manifest.task.version if benchmark else None,
        data_digests=tuple(data.xxh3 for data in manifest.data) or None,
        has_ids=any(ID in data.columns for data in manifest.data),
        grader_fingerprints=graders,
        is_streamed=manifest.stream if origin is None else None,
        source_program=None if origin is None else origin.program,
        settings=_settings(manifest, target) if origin is None else {},
        run=manifest.id,
        slot=slot,
        agent=harness_of(manifest),
    )


def _is_open_loop(about: Mapping[str, Any]) -> bool:
    """Return True if requests were sent at a given rate, so that the number in flight depended on the server."""
    return "load" in about and about["load"]["level"].get("concurrency") is None


def _subject(manifest: Manifest) -> str:
    """Return the name of the run's task: the dataset of an eval, or the name of a pack or benchmark."""
    if manifest.kind == "eval" and manifest.data:
        return Path(manifest.data[0].path).stem
    return manifest.task.name


def _settings(manifest: Manifest, target: Target) -> dict[str, str]:
    """Return the settings that influence the answers, except the model, as {name: text}."""
    given = {name: value for name, value in target.settings.items() if value is not None}
    shown = {name: encode_json(value).decode() for name, value in given.items()}
    shown |= {f"header {name}": value for name, value in target.headers.items()}
    for name, value in msgspec.to_builtins(manifest.limits).items():
        shown[f"limit of {name}"] = str(value)
    shown["repeats"] = str(manifest.repeats)
    if agent := harness_of(manifest):
        shown["agent"] = agent
    shown["agent, prompt or protocol (fingerprint)"] = manifest.task.fingerprint[:12]
    if departures := manifest.about.get("departures"):
        shown["departures from the protocol"] = "; ".join(departures)
    return shown


def _metrics(target: TargetSummary) -> dict[str, Statistic]:
    """Return a target's documented performance figures and its pass@k, as {metric name: value}."""
    found: dict[str, Statistic] = {name: getattr(target.requests, name) for name in AGGREGATED_METRICS_KEYS}
    for score in target.scores:
        for entry in score.passes:
            found[f"{score.scorer}.pass_at_{entry.k}"] = entry.pass_at_k
            found[f"{score.scorer}.pass_hat_{entry.k}"] = entry.pass_hat_k
    return found


def _evidence(table: RunTable, rows: Rows, scorer: str, wanted: set[int]) -> dict[int, str]:
    found = {}
    for position in sorted(wanted):
        trial = table.read_trial(int(rows[position]))
        score = trial.scores.get(scorer)
        text = None if score is None else score.span
        if text is None and trial.record.body[1]:
            try:
                text = read_body(table.directory, trial.record).answer or None
            except JournalError:
                text = None
        if text is not None:
            found[position] = text[:MAX_ANSWER_LENGTH]
    return found


def _asked_at(table: RunTable, rows: Rows, wanted: set[int]) -> dict[int, PromptAndTarget]:
    """Return the prompt and expected answer of each wanted trial. Trials whose body cannot be read are left out."""
    found = {}
    for position in sorted(wanted):
        record = table.read_trial(int(rows[position])).record
        try:
            body = read_body(table.directory, record) if record.body[1] else None
        except JournalError:
            body = None
        if body is not None:
            prompt = _text_of(_asked(body.messages)) or read_input(body.input, body.messages)
            found[position] = PromptAndTarget(prompt, body.target)
    return found


def _contents(table: RunTable, rows: Rows) -> Sequence[str] | None:
    """Return a digest of each trial's user messages before the first answer.

    None if any trial has no such messages.
    """
    found = []
    for trial in table.read_trials(rows):
        if not trial.record.body[1]:
            return None
        try:
            asked = _asked(read_body(table.directory, trial.record).messages)
        except JournalError:
            return None
        if not asked:
            return None
        found.append(xxhash.xxh3_128_hexdigest(encode_json(asked)))
    return found


def _questions(table: RunTable, rows: Rows) -> Sequence[str] | None:
    """Return a digest of each trial's readable question, ignoring white space.

    None if the question of any trial is unknown.
    """
    found = []
    for trial in table.read_trials(rows):
        if not trial.record.body[1]:
            return None
        try:
            body = read_body(table.directory, trial.record)
        except JournalError:
            return None
        question = read_input(body.input, body.messages) or _text_of(_asked(body.messages))
        if not question:
            return None
        found.append(xxhash.xxh3_128_hexdigest(" ".join(question.split()).encode("utf-8", "surrogatepass")))
    return found


def _text_of(contents: Sequence[Any]) -> str:
    return "\n".join(one for one in contents if isinstance(one, str))


def _lower_is_better(manifest: Manifest) -> frozenset[str]:
    origin = origin_of(manifest)
    known = {} if origin is None else origin.scores
    return frozenset(name for name, scale in known.items() if scale.lower_is_better)


def _asked(messages: Sequence[Message]) -> list[Any]:
    asked = []
    for message in messages:
        if message.get("role") == "assistant":
            break
        if message.get("role") == "user":
            asked.append(message.get("content"))
    return asked
