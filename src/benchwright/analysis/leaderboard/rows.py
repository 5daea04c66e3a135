"""The rows of a leaderboard: one row for each model and agent.

A model and agent with several runs in one column have several rows, which a detail distinguishes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from benchwright.analysis.leaderboard.columns import TaskScore
from benchwright.analysis.leaderboard.entrants import Entrant
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest_facts import answering_program_of

RowGrouping = Literal["model", "run"]

AGENT_SETTING_NAMES = ("module", "agent_command", "mcp", "system", "template")
"""Names of the settings that define the agent that asks the model."""


class RowGroup(NamedTuple):
    """A row: the indices of its entrants, and the detail that distinguishes the row from other rows of its model."""

    model: str
    agent: str
    entrant_indices: list[int]
    distinguishing_detail: str = ""


def group_entrants(
    entrants: Sequence[Entrant], columns: Sequence[TaskScore], by: RowGrouping
) -> list[RowGroup]:
    """Group entrants (targets of runs) into rows. If `by` is `run`, each run has a separate row.

    If `by` is `model`, runs of one model and agent on different tasks share a row. Runs in the same column
    must be in different rows. They are split by the settings that the user typed and the agent, then by
    program, by address, by load level, and at last by start time. If runs differ in nothing but start time,
    the newest run stays in the row with the other tasks.
    """
    filled = [
        {column.name for column in columns if place in column.entrant_indices}
        for place in range(len(entrants))
    ]
    asked: dict[tuple[str, str], list[int]] = {}
    for place, entrant in enumerate(entrants):
        asked.setdefault((entrant.model, entrant.agent), []).append(place)
    rows = []
    for (model, agent), places in asked.items():
        alone = [[place] for place in places]
        parts = alone if by == "run" else _parted(places, filled, entrants, list(ROW_DETAILS))
        rows += [RowGroup(model, agent, part, _detail(part, parts, entrants)) for part in parts]
    return rows


def _parted(
    places: list[int], filled: Sequence[set[str]], entrants: Sequence[Entrant], traits: list[RowDetail]
) -> list[list[int]]:
    if not _meet(places, filled):
        return [places]
    if not traits:
        return _one_by_one(places, filled, entrants)
    parts: dict[str, list[int]] = {}
    for place in places:
        parts.setdefault(traits[0](entrants[place]), []).append(place)
    return [found for part in parts.values() for found in _parted(part, filled, entrants, traits[1:])]


def _meet(places: Sequence[int], filled: Sequence[set[str]]) -> bool:
    """Return True if two of these entrants have a value in the same column, so that they cannot share a row."""
    return sum(len(filled[place]) for place in places) > len(
        set().union(*(filled[place] for place in places))
    )


def _one_by_one(
    places: Sequence[int], filled: Sequence[set[str]], entrants: Sequence[Entrant]
) -> list[list[int]]:
    """Return the newest entrant of each column, together as one row, and each older entrant as a separate row."""
    newest, taken, older = list[int](), set[str](), list[list[int]]()
    for place in sorted(places, key=lambda one: -entrants[one].manifest.created_at):
        if taken & filled[place]:
            older.append([place])
        else:
            newest.append(place)
            taken |= filled[place]
    return [newest, *older]


def _typed(entrant: Entrant) -> str:
    """Return the settings that the user typed and that influence the answers, as text."""
    typed, sent = entrant.manifest.settings, entrant.target.slot
    target = next(one for one in entrant.manifest.targets if one.slot == sent)
    told = [f"{name}={_plain(value)}" for name, value in target.settings.items() if name in typed]
    told += [f"{name}={value}" for name, value in target.headers.items()]
    told += [f"{name}={_plain(typed[name])}" for name in AGENT_SETTING_NAMES if typed.get(name)]
    return ", ".join(told)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else encode_json(value).decode()


def _program(entrant: Entrant) -> str:
    program = answering_program_of(entrant.manifest)
    return f"by {program}" if program else ""


def _address(entrant: Entrant) -> str:
    base_url = entrant.target.base_url
    if not base_url:
        return ""
    parts = urlsplit(base_url)
    return f"at {parts.netloc or parts.path}"


def _level(entrant: Entrant) -> str:
    if "load" not in entrant.manifest.about:
        return ""
    level = entrant.manifest.about["load"]["level"]
    if level.get("concurrency") is not None:
        return f"concurrency {level['concurrency']}"
    return "trace" if level.get("rate") is None else f"rate {level['rate']:g}/s"


def _begun(entrant: Entrant) -> str:
    moment = datetime.fromtimestamp(entrant.manifest.created_at / 1e9, UTC)
    slots = entrant.manifest.targets
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (f" {entrant.target.slot}" if len(slots) > 1 else "")


RowDetail = Callable[[Entrant], str]
ROW_DETAILS: Sequence[RowDetail] = (_typed, _program, _address, _level)


def _detail(part: Sequence[int], parts: Sequence[Sequence[int]], entrants: Sequence[Entrant]) -> str:
    """Return the traits in which rows of one model differ. If no trait distinguishes them, return the start time."""
    if len(parts) == 1:
        return ""
    told = []
    for trait in ROW_DETAILS:
        values = [tuple(dict.fromkeys(trait(entrants[place]) for place in one)) for one in parts]
        if len(set(values)) > 1:
            told += [value for value in dict.fromkeys(trait(entrants[place]) for place in part) if value]
    twins = [one for one in parts if _traits(one, entrants) == _traits(part, entrants)]
    if len(twins) > 1:
        told.append(_begun(entrants[part[0]]))
    return ", ".join(told)


def _traits(part: Sequence[int], entrants: Sequence[Entrant]) -> list[set[str]]:
    return [{trait(entrants[place]) for place in part} for trait in ROW_DETAILS]
