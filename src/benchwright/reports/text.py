"""Text for terminals: numbers in the field's usual forms, and foreign text made harmless."""

from __future__ import annotations


def plain(text: str) -> str:
    """Text in one line without control, format and bidirectional characters: it cannot steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    import unicodedata

    return "".join(
        character if character.isprintable() and unicodedata.category(character) != "Cf" else " "
        for character in text
    )


def plain_lines(text: str) -> str:
    """Like `plain`, but line ends and tabs are kept."""
    return "\n".join(plain(line.replace("\t", "    ")) for line in text.split("\n"))


def duration(seconds: float) -> str:
    """26ms, 6.2s, 3m12s, 2h05m."""
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    return f"{minutes // 60}h{minutes % 60:02d}m"


def milliseconds(seconds: float | None) -> str:
    """A latency in ms with three figures, or a dash."""
    if seconds is None:
        return "–"
    value = seconds * 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def number(value: float | None, form: str = ".3f") -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None else format(value, form)


def settling_lines(left_out: int, requests: int) -> list[str]:
    """That so many of the requests count in no timing, if there are any."""
    if not left_out:
        return []
    if left_out == requests:
        return ["No request counts in timings: the concurrency had not settled yet."]
    return [f"{left_out:,} requests made while the concurrency settled do not count in timings."]
