"""The keys and commands with which a person steps through rollouts."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

KEY_SUMMARY = "n: next call  c: no more pauses  m: messages  t: tools  r N: row N  q: quit  ?: help"

HELP_TEXT = """\
  n, next, Enter   make the next model call; after a row, go to the next row
  c, continue      run to the end of the row without pausing
  m, messages      show the conversation
  t, tools         show the tools that the model may call
  r N, row N       leave this row and go to row N
  q, quit, exit    quit
  ?, help          show this"""


class StepKey(Enum):
    """The commands with which a person steps through rollouts."""

    NEXT = ("", "n", "next")
    CONTINUE = ("c", "continue")
    MESSAGES = ("m", "messages")
    TOOLS = ("t", "tools")
    ROW = ("r", "row")
    QUIT = ("q", "quit", "exit")
    HELP = ("?", "help")


_KEY_OF = {word: key for key in StepKey for word in key.value}


class StepCommand(NamedTuple):
    """The command in a line of input. `key`: None if the line is invalid. `row`: set if `key` is `StepKey.ROW`."""

    key: StepKey | None
    row: int | None = None


def parse_command(line: str | None) -> StepCommand:
    """Parse a line of input. None (the end of the input) means to quit. A number alone means to go to that row."""
    if line is None:
        return StepCommand(StepKey.QUIT)
    word, _, rest = line.strip().lower().partition(" ")
    key = _KEY_OF.get(word)
    if key not in (None, StepKey.ROW):
        return StepCommand(key if not rest else None)
    try:
        return StepCommand(StepKey.ROW, int(rest if key else line))
    except ValueError:
        return StepCommand(None)


def out_of_range_message(row: int, rows: range) -> str:
    """Return the message for a row that does not exist."""
    return f"Row index out of range: {row}. Rows: {rows.start} to {rows.stop - 1}."
