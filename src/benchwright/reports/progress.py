"""How a run goes on, in one line."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.engine.progress import Progress, RunningMean
from benchwright.formats import duration
from benchwright.text import plain


def status_line(progress: Progress, names: Mapping[str, str]) -> str:
    """How much is done, how fast, what is left, what failed, and the scores so far.

    `names` are those of the targets by slot, where there are several.
    """
    parts = [f"[{progress.done:,}/{progress.total:,}]", f"{progress.rate:.1f}/s"]
    if progress.done < progress.total and progress.eta is not None:
        at_most = "at most " if progress.decision is not None else ""
        parts.append(f"{at_most}{duration(progress.eta)} left")
    if progress.level is not None:
        parts.append(f"{progress.level} at once{'' if progress.settled else ' (settling)'}")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    parts += map(plain, progress.waiting)
    if progress.decision is not None:
        return "  ".join([*parts, plain(progress.decision())])
    for (slot, scorer), mean in progress.means.items():
        name = f"{names[slot]} {scorer}" if slot in names else scorer
        parts.append(f"{plain(name)} {_mean(mean)}")
    return "  ".join(parts)


def _mean(mean: RunningMean) -> str:
    """A mean, with its interval where it has one."""
    interval = mean.interval
    ends = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
    return f"{mean.mean:.3f}{ends}"
