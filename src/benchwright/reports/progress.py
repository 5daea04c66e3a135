"""The status line that shows the progress of a run."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.engine.progress import LiveProgress, RunningMean
from benchwright.formats import format_duration
from benchwright.text import make_safe


def status_line(progress: LiveProgress, names: Mapping[str, str]) -> str:
    """Return one line with trials done, rate, time left, concurrency, failures, and the scores so far.

    `names`: mapping from slot to the name of the target. It is empty if there is only one target.
    """
    parts = [f"[{progress.done:,}/{progress.total:,}]", f"{progress.trials_per_second:.1f}/s"]
    if progress.done < progress.total and progress.eta is not None:
        at_most = "at most " if progress.decision is not None else ""
        parts.append(f"{at_most}{format_duration(progress.eta)} left")
    if progress.level is not None:
        parts.append(f"{progress.level} at once{'' if progress.settled else ' (settling)'}")
    if progress.failed_trials:
        parts.append(f"{progress.failed_trials:,} failed")
    parts += map(make_safe, progress.pauses_and_activities)
    if progress.decision is not None:
        return "  ".join([*parts, make_safe(progress.decision())])
    for (slot, scorer), mean in progress.means.items():
        name = f"{names[slot]} {scorer}" if slot in names else scorer
        parts.append(f"{make_safe(name)} {_mean(mean)}")
    return "  ".join(parts)


def _mean(mean: RunningMean) -> str:
    """Format a mean and its interval. The interval is left out if there is none."""
    interval = mean.interval
    ends = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
    return f"{mean.mean:.3f}{ends}"
