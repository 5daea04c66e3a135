"""Workload of a load measurement that replays a trace (recorded requests): the trace's requests, or only its times."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchwright.app.load.replay.prompts import BlockPrompts
from benchwright.app.load.replay.task import ReplaySpeed, ReplayTask
from benchwright.app.load.replay.trace_from_run import trace_of_run
from benchwright.app.load.sections import ReplaySettings
from benchwright.app.load.settings import LoadSettings
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.model_mix import describe_model_mix, parse_model_mix
from benchwright.app.load.synthetic.words import make_words
from benchwright.app.load.workload import CalibrationSteps, Workload, unscored_request
from benchwright.config import SamplingSettings
from benchwright.data.manifest import file_fingerprint
from benchwright.data.traces.records import Trace
from benchwright.data.traces.trace_reader import read_trace
from benchwright.errors import UserError
from benchwright.formats import count_with_noun
from benchwright.runs.manifest import DataFile
from benchwright.runs.store import find_run
from benchwright.text import Say

ASSUMED_CALIBRATION = Calibration()
"""Calibration that is assumed before the server was asked: one token per word."""


def find_trace(settings: LoadSettings) -> Trace | None:
    """Return the trace that the settings name: a file, a folder or a run of Benchwright. Return None without --trace.

    Raises:
        UserError: If the trace does not exist or cannot be read, or if an option needs a trace and none is given.
    """
    if settings.replay.trace is None:
        for name in ("speed", "block_size", "max_think"):
            if getattr(settings.replay, name) is not None:
                raise UserError(f"--{name.replace('_', '-')} needs --trace.")
        return None
    limits = [settings.load.requests, settings.selection.limit if settings.replays_requests else None]
    limit = min((one for one in limits if one is not None), default=None)
    path = settings.replay.trace
    if path.exists() and not (path / "run.json").exists():
        return read_trace(path, limit, settings.replay.block_size)
    try:
        run = find_run(str(path))
    except UserError as error:
        raise UserError(f"Cannot read the trace {path}: there is no such file. {error}") from None
    return trace_of_run(run, limit)


def replay_speed(replay: ReplaySettings, sampling: SamplingSettings) -> ReplaySpeed:
    """Return the speed at which the settings replay a trace."""
    return ReplaySpeed(replay.speed or 1.0, replay.max_think, sampling.max_tokens)


def replay_workload(
    settings: LoadSettings,
    trace: Trace,
    prompt_seed: int,
    say: Say,
    calibration: Calibration = ASSUMED_CALIBRATION,
) -> Workload:
    """Return a workload that replays the conversations of a trace.

    Generated prompts differ at each level, so that the server has none of them in its cache.

    Raises:
        UserError: If the mix of models is invalid.
    """
    path = settings.replay.trace
    assert path is not None
    mix = {} if settings.synthetic.model_mix is None else parse_model_mix(settings.synthetic.model_mix)

    def task_of(level: int) -> ReplayTask:
        salt = f"{prompt_seed}:{level}"
        return ReplayTask(
            path.stem,
            salt,
            trace,
            BlockPrompts(salt, calibration),
            replay_speed(settings.replay, settings.sampling),
            mix,
        )

    def calibrated(found: Calibration) -> Workload:
        return replay_workload(settings, trace, prompt_seed, say, found)

    made, conversations = needs_generated_prompts(trace), len(trace.conversations)
    data = [DataFile(str(path), file_fingerprint(path), conversations)] if path.is_file() else []
    request = unscored_request(
        *(settings, task_of(0), conversations, path.stem, "load", say, data),
        parallel=trace.max_requests_in_flight,
        aborts=trace.has_turns,
    )
    about = describe_trace(path, trace, settings.replay.speed) + (
        f", models mixed ({describe_model_mix(mix)})" if mix else ""
    )
    return Workload(
        msgspec.structs.replace(request, manifest_facts={"trace": {"path": str(path), "made": made}}),
        task_of,
        conversations,
        about,
        prompt_seed if made else None,
        CalibrationSteps(calibration_text, calibrated) if made and calibration.measured is None else None,
        is_made_of_trace=made,
    )


def calibration_text(words: int, seed: str) -> str:
    """Return this many words like those in generated prompts, to calibrate the prompt lengths."""
    return make_words(seed, words).decode("ascii")


def describe_trace(path: Path, trace: Trace, speed: float | None) -> str:
    """Return a description of the trace and its speed, for messages."""
    number = sum(1 for _ in trace.requests)
    conversations = (
        f" in {count_with_noun(len(trace.conversations), 'conversation')}" if trace.has_turns else ""
    )
    faster = f", {speed:g} times as fast" if speed not in (None, 1.0) else ""
    failed = (
        f" ({count_with_noun(trace.failed_requests, 'failed one')} left out)" if trace.failed_requests else ""
    )
    return (
        f"{count_with_noun(number, 'request')}{conversations} of {path.name} ({trace.format}){faster}{failed}"
    )


def needs_generated_prompts(trace: Trace) -> bool:
    """Return True if a trace contains only lengths and block ids, so that its prompts must be generated."""
    return any(request.messages is None for request in trace.requests)
