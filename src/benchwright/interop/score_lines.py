"""Reads JSON Lines of ids and scores. Any program without a format of its own can write them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.interop.foreign_results import (
    ForeignRun,
    ForeignScale,
    ForeignScore,
    ForeignTarget,
    ForeignTrial,
    ReadResults,
    UnreadableResults,
)
from benchwright.interop.untrusted_files import (
    JSON_ERRORS,
    MAX_LINE_BYTES,
    count_or_none,
    number_or_none,
    object_or_empty,
    read_lines,
    require_object,
    text_or_empty,
)
from benchwright.records import Status
from benchwright.text import one_line

FORMAT = "scores"
SAMPLE_ID_FIELDS = ("id", "sample_id", "custom_id", "question_id")
SCORE_FIELDS = ("score", "correct", "value", "reward")
MAX_REASON_LENGTH = 500


def recognises(path: Path) -> bool:
    """Return True if the path is a .jsonl file whose first line has an id, and also a score or an error."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as file:
        line = file.readline(MAX_LINE_BYTES)
    try:
        first = json.loads(line)
    except JSON_ERRORS:
        return False
    return isinstance(first, dict) and _id(first) is not None and _says_something(first)


def read(path: Path) -> ReadResults:
    """Read a file as one run. Each model is a target.

    Raises:
        UnreadableResults: If a line is not an object, has no id, or has neither a score nor an error.
    """
    models: dict[str, None] = {}
    scores: dict[str, ForeignScale] = {}
    repeats = 1
    seen: Counter[tuple[str, str]] = Counter()
    for place, line in _lines(path):
        models[text_or_empty(line.get("model")) or path.stem] = None
        scores.update(dict.fromkeys(_scores(line), ForeignScale()))
        repeats = max(repeats, _repeat(line, seen, path.stem, place) + 1)
    names = list(models)
    slots = ["primary"] if len(names) == 1 else names
    return [
        ForeignRun(
            format=FORMAT,
            program="JSON Lines",
            path=path,
            task="scores",
            targets=[ForeignTarget(slot, name) for slot, name in zip(slots, names, strict=True)],
            scores=scores,
            trials=_trials(path, dict(zip(names, slots, strict=True))),
            repeats=repeats,
            missing_data=["times", "tokens", "what wrote it"],
        )
    ]


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, line in enumerate(read_lines(path), 1):
        where = f"{path}, line {place}"
        found = require_object(line, where)
        if _id(found) is None:
            raise UnreadableResults(f"{where}: it has no id; name it {' or '.join(SAMPLE_ID_FIELDS)}.")
        if not _says_something(found):
            raise UnreadableResults(f"{where}: it has neither a score nor an error.")
        yield where, found


def _trials(path: Path, slots: Mapping[str, str]) -> Iterator[ForeignTrial]:
    seen: Counter[tuple[str, str]] = Counter()
    for where, line in _lines(path):
        scores = _scores(line)
        error = line.get("error")
        failed = bool(error) and all(score.value is None for score in scores.values())
        yield ForeignTrial(
            sample=_id(line) or "",
            repeat=_repeat(line, seen, path.stem, where),
            slot=slots[text_or_empty(line.get("model")) or path.stem],
            status=Status.PROVIDER_ERROR if failed else Status.ANSWERED,
            reason=one_line(str(error), MAX_REASON_LENGTH) if failed else None,
            scores={} if failed else scores,
            input=_first_text(line, "input", "prompt", "question"),
            target=_first_text(line, "target", "expected"),
            answer=_first_text(line, "answer", "output", "response") or "",
            group=_first_text(line, "group"),
        )


def _id(line: Mapping[str, Any]) -> str | None:
    found = next((line[name] for name in SAMPLE_ID_FIELDS if isinstance(line.get(name), str | int)), None)
    return None if found is None or found == "" else str(found)


def _says_something(line: Mapping[str, Any]) -> bool:
    return (
        bool(line.get("error"))
        or isinstance(line.get("scores"), dict)
        or any(name in line for name in SCORE_FIELDS)
    )


def _scores(line: Mapping[str, Any]) -> dict[str, ForeignScore]:
    given = object_or_empty(line.get("scores")) or {name: line[name] for name in SCORE_FIELDS if name in line}
    why = _first_text(line, "explanation")
    return {
        name: ForeignScore(value, explanation=why)
        if value is not None
        else ForeignScore(None, Status.UNPARSED)
        for name, value in ((name, number_or_none(one)) for name, one in given.items())
    }


def _repeat(line: Mapping[str, Any], seen: Counter[tuple[str, str]], model: str, where: str) -> int:
    """Return the number of a line's repeat, from 0.

    A line may state the repeat as `epoch`, which counts from 1. If it does not, the number is the count of
    earlier lines with the same sample.
    """
    key = (text_or_empty(line.get("model")) or model, _id(line) or "")
    seen[key] += 1
    if "repeat" in line or "epoch" in line:
        named = count_or_none(line.get("repeat")) if "repeat" in line else count_or_none(line.get("epoch"))
        if named is None or named > 100_000 or ("repeat" not in line and named == 0):
            raise UnreadableResults(f"{where}: its repeat is not a number from 0, or its epoch none from 1.")
        return named if "repeat" in line else named - 1
    return seen[key] - 1


def _first_text(line: Mapping[str, Any], *names: str) -> str | None:
    return next((line[name] for name in names if isinstance(line.get(name), str) and line[name]), None)
