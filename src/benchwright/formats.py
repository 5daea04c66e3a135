"""Formats numbers for people."""

from __future__ import annotations

from benchwright.statistic import NoScore, Statistic


def format_duration(seconds: float | None) -> str:
    """Return a duration as text: 26ms, 6.2s, 3m12s, 2h05m. Return a dash if the duration is not known."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    return f"{minutes // 60}h{minutes % 60:02d}m"


def format_milliseconds(seconds: float | None) -> str:
    """Return a latency (given in seconds) as text in milliseconds with three significant digits.

    Return a dash for None.
    """
    if seconds is None:
        return "–"
    value = seconds * 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def count_with_noun(count: int, noun: str) -> str:
    """Return a count with its noun: 1 sample, 2 samples, 1,234 samples."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def number_text(value: Statistic, form: str = ".3f") -> str:
    """Return a statistic as text: a number, `no score`, or a dash if the statistic is not known."""
    if isinstance(value, NoScore):
        return "no score"
    return "–" if value is None else format(value, form)


def format_interval(low: Statistic, high: Statistic, form: str = ".3f") -> str:
    """Return an interval as text. Return a dash if an end of the interval is not a number."""
    if isinstance(low, NoScore) or isinstance(high, NoScore) or low is None or high is None:
        return "–"
    return f"[{low:{form}}, {high:{form}}]"


def figure_text(value: Statistic) -> str:
    """Return a benchmark's figure as text: shares with four decimals, counts whole, `no score`, or a dash."""
    whole = isinstance(value, float | int) and abs(value) > 1 and value == int(value)
    return number_text(value, ",.0f" if whole else ".4f")


def parse_duration(text: str) -> float | None:
    """Return the number of seconds in a duration such as `0.5`, `0.5s` or `500ms`.

    None if the text is not a duration.
    """
    number, unit = text.strip(), 1.0
    if number.endswith("ms"):
        number, unit = number[:-2], 1e-3
    elif number.endswith("s"):
        number = number[:-1]
    try:
        seconds = float(number) * unit
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
