"""Explains why the timings of a run are invalid, and what the user can do. All outputs use this text."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.runs.concurrency_history import ConcurrencyHistory
from benchwright.runs.manifest import Manifest
from benchwright.runs.process_delays import LoopLag

USER_CODE_SETTINGS = {
    "module": "the agent",
    "mcp": "the tools",
    "eval_fn": "the eval functions",
    "scorer": "the scorers",
}
"""Mapping from each setting of an eval that runs user code in our process to a name for that code."""


def timings_note(manifest: Manifest, lag: LoopLag, paces: ConcurrencyHistory) -> str | None:
    """Return why the timings are invalid and what could help, in one or two sentences.

    None if the timings are valid.
    """
    if not lag.spoils_timings:
        return None
    measured = f"loop lag p99 {lag.p99 / 1e6:.1f} ms, longest {lag.longest / 1e6:.0f} ms"
    less = _less_at_once(manifest, paces)
    search = f"look for {' and for '.join(_causes(manifest))}"
    advice = f"{less}, or {search}" if less else search.capitalize()
    return f"the client was too busy ({measured}). {advice}."


def _less_at_once(manifest: Manifest, paces: ConcurrencyHistory) -> str | None:
    """Return advice on how to reduce the load on our process. None if it cannot be reduced."""
    if "load" in manifest.about:
        level = manifest.about["load"]["level"]
        if "rate" in level:
            return f"Measure a lower --rate than {level['rate']:g}"
        return _lower("--concurrency", level.get("concurrency", 1))
    if manifest.concurrency is None:
        found = max(paces.settled, default=paces.last)
        return _lower("--concurrency", found) if found else "Give --concurrency a low number"
    return _lower("--concurrency", manifest.concurrency)


def _lower(option: str, concurrency: int) -> str | None:
    return f"Give a lower {option} than {concurrency}" if concurrency > 1 else None


def _causes(manifest: Manifest) -> Iterator[str]:
    """Yield further possible reasons why our process is busy, which depend on the kind of run."""
    if manifest.kind == "benchmark":
        yield "slow grading"
    own = [name for setting, name in USER_CODE_SETTINGS.items() if manifest.settings.get(setting)]
    if own:
        yield f"blocking code in {' or '.join(own)}"
    yield "other programs that keep this machine busy"
