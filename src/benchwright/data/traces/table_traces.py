"""Reads traces that are tables of times and lengths: Azure's (AzurePublicDataset) and BurstGPT's (HPMLL/BurstGPT)."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from benchwright.data.traces.decoding import check_not_negative_numbers
from benchwright.data.traces.records import Conversation, TracedRequest, TraceLine
from benchwright.errors import UserError

AZURE_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
BURSTGPT_COLUMNS = ("Timestamp", "Request tokens", "Response tokens")


def read_azure_conversations(lines: Iterable[TraceLine], block_size: int | None) -> Iterator[Conversation]:
    """Yield the requests of an Azure trace. Its times are wall-clock times."""
    return _requests(lines, AZURE_COLUMNS, parse_wall_clock)


def read_burstgpt_conversations(lines: Iterable[TraceLine], block_size: int | None) -> Iterator[Conversation]:
    """Yield the requests of BurstGPT. Its times are whole seconds. Requests with output length 0 had failed."""
    return _requests(lines, BURSTGPT_COLUMNS, float)


def parse_wall_clock(text: str) -> float:
    """Convert a time in the form `2023-11-16 18:17:03.9799600` to seconds since 1970.

    The fraction may have any number of digits.

    Raises:
        ValueError: If the text is not a time.
    """
    whole, _, fraction = text.partition(".")
    digits, zone = fraction, ""
    for sign in "+-Z":
        if sign in fraction:
            digits, _, zone = fraction.partition(sign)
            zone = sign + zone
    moment = datetime.fromisoformat(f"{whole}{zone.replace('Z', '+00:00')}")
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() + (float(f"0.{digits}") if digits else 0.0)


def _requests(
    lines: Iterable[TraceLine], columns: tuple[str, str, str], seconds: Callable[[str], float]
) -> Iterator[Conversation]:
    rows = iter(lines)
    header = _cells(next(rows))
    found = [header.index(name) for name in columns]
    for line in rows:
        cells = _cells(line)
        try:
            moment, asked, answered = (cells[place] for place in found)
            at, tokens, output = seconds(moment), int(asked), int(answered)
        except (ValueError, IndexError):
            raise UserError(
                f"{line.location}: it does not hold {', '.join(columns)}: {line.text[:80].decode(errors='replace')!r}."
            ) from None
        check_not_negative_numbers(line.location, **{columns[1]: tokens, columns[2]: output})
        yield Conversation(line.location, [TracedRequest(input_tokens=tokens, output_tokens=output)], at)


def _cells(line: TraceLine) -> list[str]:
    return next(csv.reader([line.text.decode("utf-8-sig", errors="replace")]))
