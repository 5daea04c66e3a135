"""Remarks on how faithfully a trace was replayed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.load.records import LevelResult

MIN_REPORTED_LENGTH_DEVIATION = 0.01
"""A remark is made if the prompts' lengths deviate from the trace by more than this share of the tokens."""


def replay_notes(results: Sequence[LevelResult], speed: float) -> Iterator[str]:
    """Yield remarks on how faithfully each level replayed its trace."""
    for one in results:
        replayed = one.replayed
        if replayed is None:
            continue
        at = f"Level {one.level.name}: " if len(results) > 1 else ""
        late = "" if replayed.late is None else f", sent {replayed.late.p99.value * 1000:.1f} ms late (p99)"
        yield (
            f"{at}{replayed.answered:,} of {replayed.requests:,} requests of the trace were answered{late}"
            + (f", at {speed:g} times its speed" if speed != 1 else "")
        )
        if replayed.ideal_cached is not None:
            own = (
                "did not tell its own"
                if replayed.cached is None
                else f"took {replayed.cached * 100:.1f} % from its own"
            )
            ideal = f"{replayed.ideal_cached * 100:.1f} % of the prompt tokens"
            yield f"{at}A cache without limit would know {ideal}; the server {own}"
        if replayed.length_off is not None and replayed.length_off > MIN_REPORTED_LENGTH_DEVIATION:
            yield (
                f"{at}Prompts are {replayed.length_off * 100:.1f} % longer or shorter than those of the trace, "
                f"{replayed.length_off_most or 0:,} tokens at most"
            )
        if replayed.ended_early:
            yield (
                f"{at}{replayed.ended_early * 100:.0f} % of the answers ended before the recorded length: if the "
                "server supports it, --param ignore_eos=true makes them long enough"
            )
