"""promptfoo's results: a cell for each test of each prompt and provider."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from benchwright.interop.foreign import (
    ForeignRun,
    ForeignScale,
    ForeignScore,
    ForeignTarget,
    ForeignTrial,
    UnreadableResults,
)
from benchwright.interop.reading import (
    an_object,
    count,
    mapping,
    moment,
    nanoseconds,
    number,
    objects,
    read_json,
    text,
)
from benchwright.records import RequestRecord, Status, Usage
from benchwright.text import one_line

FORMAT = "promptfoo"
BEGINNING = 4_096
"""Bytes of a file that tell whether it is one of promptfoo's."""

ERROR = 2
"""The reason of a cell that failed without being graded."""

LONGEST_NAME = 60
LONGEST_REASON = 500


class Column(NamedTuple):
    """A prompt and a provider: a target of its own."""

    slot: str
    model: str


def recognises(path: Path) -> bool:
    """Whether this is a file of promptfoo's, by its beginning."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        beginning = file.read(BEGINNING)
    return b'"evalId"' in beginning and b'"results"' in beginning


def read(path: Path) -> list[ForeignRun]:
    """The run of a file.

    Raises:
        UnreadableResults: it is damaged, or has no cells.
    """
    whole = an_object(read_json(path), path)
    results = an_object(whole.get("results"), f"{path}, results")
    cells = objects(results.get("results"))
    if not cells:
        raise UnreadableResults(f"{path} has no results of single tests.")
    columns = _columns(cells)
    cached = sum(mapping(cell.get("response")).get("cached") is True for cell in cells)
    notes = [f"{cached} answers came from promptfoo's cache."] if cached else []
    trials = list(_trials(cells, columns))
    return [
        ForeignRun(
            format=FORMAT,
            program="promptfoo",
            path=path,
            task=one_line(text(mapping(whole.get("config")).get("description")), LONGEST_NAME) or "promptfoo",
            targets=[ForeignTarget(one.slot, one.model) for one in columns.values()],
            scores={"success": ForeignScale(0.0, 1.0, 1.0), "score": ForeignScale()},
            trials=trials,
            created_at=moment(results.get("timestamp")),
            repeats=1 + max(trial.repeat for trial in trials),
            planned=len(cells),
            lacks=["time to first token"],
            notes=[*notes, "promptfoo's score is the weighted mean of a test's assertions."],
        )
    ]


def _columns(cells: list[dict[str, Any]]) -> dict[int, Column]:
    """The columns by number, in order; a name that several have gets its number."""
    found: dict[int, tuple[str, str]] = {}
    for cell in sorted(cells, key=lambda one: count(one.get("promptIdx")) or 0):
        provider, prompt = mapping(cell.get("provider")), mapping(cell.get("prompt"))
        model = text(provider.get("label")) or text(provider.get("id")) or "?"
        found.setdefault(count(cell.get("promptIdx")) or 0, (model, text(prompt.get("label"))))
    if len(found) == 1:
        return {place: Column("primary", model) for place, (model, _) in found.items()}
    several = len({label for _, label in found.values()}) > 1
    names = {
        place: one_line(f"{model} {label}" if several else model, LONGEST_NAME)
        for place, (model, label) in found.items()
    }
    often = Counter(names.values())
    return {
        place: Column(name if often[name] == 1 else f"{name} {place}", found[place][0])
        for place, name in names.items()
    }


def _trials(cells: list[dict[str, Any]], columns: Mapping[int, Column]) -> Iterator[ForeignTrial]:
    """The cells in the order of the tests: those with the same variables in one column are repeats."""
    seen: Counter[tuple[str, str]] = Counter()
    for cell in sorted(cells, key=lambda one: count(one.get("testIdx")) or 0):
        slot = columns[count(cell.get("promptIdx")) or 0].slot
        sample, digest = _sample(cell)
        repeat = seen[slot, sample]
        seen[slot, sample] += 1
        grading = mapping(cell.get("gradingResult"))
        failed = cell.get("failureReason") == ERROR or (bool(cell.get("error")) and not grading)
        answer = mapping(cell.get("response")).get("output")
        metadata = mapping(mapping(cell.get("testCase")).get("metadata"))
        yield ForeignTrial(
            sample=sample,
            repeat=repeat,
            slot=slot,
            status=Status.PROVIDER_ERROR if failed else Status.ANSWERED,
            reason=one_line(str(cell.get("error")), LONGEST_REASON) if failed else None,
            scores={} if failed else _scores(cell, text(grading.get("reason"))),
            input=text(mapping(cell.get("prompt")).get("raw")) or None,
            identity=digest,
            answer=answer if isinstance(answer, str) else "" if answer is None else json.dumps(answer),
            requests=[_request(cell, f"{slot}-{sample}-{repeat}", failed=failed)],
            labels={
                name: one
                for name, one in metadata.items()
                if isinstance(one, str) and 0 < len(one) <= LONGEST_NAME
            },
        )


def _sample(cell: Mapping[str, Any]) -> tuple[str, str]:
    """(a name that is the same wherever the variables are, their digest); without any, by the description."""
    given = mapping(cell.get("vars")) or {"": text(mapping(cell.get("testCase")).get("description"))}
    canonical = json.dumps(given, sort_keys=True, ensure_ascii=True)
    digest = xxhash.xxh3_64_hexdigest(canonical.encode())
    shown = ", ".join(str(one) for one in given.values() if one not in ("", None))
    return f"{one_line(shown, LONGEST_NAME)} {digest[:8]}".strip(), digest


def _scores(cell: Mapping[str, Any], reason: str) -> dict[str, ForeignScore]:
    given = {"success": cell.get("success"), "score": cell.get("score"), **mapping(cell.get("namedScores"))}
    return {
        name: ForeignScore(value, explanation=reason or None)
        for name, value in ((name, number(one)) for name, one in given.items())
        if value is not None
    }


def _request(cell: Mapping[str, Any], name: str, *, failed: bool) -> RequestRecord:
    response = mapping(cell.get("response"))
    usage = mapping(response.get("tokenUsage"))
    details = mapping(usage.get("completionDetails"))
    cached = response.get("cached") is True
    milliseconds = number(cell.get("latencyMs"))
    return RequestRecord(
        id=name,
        total=0 if cached or milliseconds is None else nanoseconds(milliseconds / 1000),
        usage=Usage(
            count(usage.get("prompt")),
            count(usage.get("completion")),
            reasoning_tokens=count(details.get("reasoning")),
        ),
        finish_reason=text(response.get("finishReason")) or None,
        error="error" if failed else None,
    )
