"""Reads results of promptfoo. They have one cell for each test, prompt and provider."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from benchwright.interop.foreign_results import (
    ForeignRun,
    ForeignScale,
    ForeignTarget,
    ForeignTrial,
    ReadResults,
    UnreadableResults,
)
from benchwright.interop.promptfoo_scores import OVERALL_SCORE_NAME, PASS_SCORE_NAME, CellScores, cell_scores
from benchwright.interop.untrusted_files import (
    count_or_none,
    number_or_none,
    object_or_empty,
    objects_in_list,
    parse_time,
    read_json,
    require_object,
    text_or_empty,
    to_nanoseconds,
)
from benchwright.records import RequestRecord, Status, Usage
from benchwright.text import one_line

FORMAT = "promptfoo"
MAX_RECOGNITION_BYTES = 4_096
"""Number of bytes at the beginning of a file that are examined to recognise a promptfoo file."""

ERROR_REASON_CODE = 2
"""The `failureReason` of a cell that ended in an error and was therefore not graded."""

MAX_NAME_LENGTH = 60
MAX_REASON_LENGTH = 500


ColumnKey = int | str


class PromptColumn(NamedTuple):
    """A prompt and a provider. Together they are a target."""

    slot: str
    model: str


def recognises(path: Path) -> bool:
    """Return True if the path is a promptfoo file, judged by the beginning of its content."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        beginning = file.read(MAX_RECOGNITION_BYTES)
    return b'"evalId"' in beginning and b'"results"' in beginning


def read(path: Path) -> ReadResults:
    """Read a file as one run.

    Raises:
        UnreadableResults: If the file is damaged, has no cells, or has a cell twice with different contents.
    """
    whole = require_object(read_json(path), path)
    results = require_object(whole.get("results"), f"{path}, results")
    written = objects_in_list(results.get("results"))
    if not written:
        raise UnreadableResults(f"{path} has no results of single tests.")
    cells = _once(written, path)
    columns = _columns(cells)
    stats = [
        count_or_none(object_or_empty(results.get("stats")).get(name)) or 0
        for name in ("successes", "failures", "errors")
    ]
    cached = sum(object_or_empty(cell.get("response")).get("cached") is True for cell in cells)
    notes = [f"{cached} answers came from promptfoo's cache."] if cached else []
    if len(cells) < len(written):
        notes.append(f"{len(written) - len(cells)} results stood twice, word for word; each counts once.")
    trials = list(_trials(cells, columns))
    return [
        ForeignRun(
            format=FORMAT,
            program="promptfoo",
            path=path,
            task=one_line(
                text_or_empty(object_or_empty(whole.get("config")).get("description")), MAX_NAME_LENGTH
            )
            or "promptfoo",
            targets=[ForeignTarget(one.slot, one.model) for one in columns.values()],
            scores={PASS_SCORE_NAME: ForeignScale(0.0, 1.0, 1.0), OVERALL_SCORE_NAME: ForeignScale()},
            trials=trials,
            created_at=parse_time(results.get("timestamp")),
            repeats=1 + max(trial.repeat for trial in trials),
            planned_trials=max(sum(stats), len(cells)),
            missing_data=["time to first token"],
            notes=[*notes, "promptfoo's score is the weighted mean of a test's assertions."],
        )
    ]


def _columns(cells: list[dict[str, Any]]) -> dict[ColumnKey, PromptColumn]:
    """Return the columns by key, in order. If several columns share a name, a number is added to the name."""
    found: dict[ColumnKey, tuple[str, str]] = {}
    for cell in sorted(cells, key=lambda one: count_or_none(one.get("promptIdx")) or 0):
        found.setdefault(
            _column(cell), (_model(cell), text_or_empty(object_or_empty(cell.get("prompt")).get("label")))
        )
    if len(found) == 1:
        return {key: PromptColumn("primary", model) for key, (model, _) in found.items()}
    several = len({label for _, label in found.values()}) > 1
    names = {
        key: one_line(f"{model} {label}" if several else model, MAX_NAME_LENGTH)
        for key, (model, label) in found.items()
    }
    often = Counter(names.values())
    return {
        key: PromptColumn(name if often[name] == 1 else f"{name} {place}", found[key][0])
        for place, (key, name) in enumerate(names.items())
    }


def _column(cell: Mapping[str, Any]) -> ColumnKey:
    """Return the key of a cell's column: the column's number.

    Files of older versions do not number the columns. For these, the key is the cell's provider and prompt.
    """
    number_of_column = count_or_none(cell.get("promptIdx"))
    if number_of_column is not None:
        return number_of_column
    provider, prompt = object_or_empty(cell.get("provider")), object_or_empty(cell.get("prompt"))
    return json.dumps([provider.get("id"), provider.get("label"), prompt.get("label")], sort_keys=True)


def _model(cell: Mapping[str, Any]) -> str:
    """Return the name of a cell's provider. In older versions, the provider is a plain text."""
    provider = cell.get("provider")
    return (
        text_or_empty(provider)
        or text_or_empty(object_or_empty(provider).get("label"))
        or text_or_empty(object_or_empty(provider).get("id"))
        or "?"
    )


def _once(cells: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """Return the cells without exact duplicates.

    Raises:
        UnreadableResults: If two cells of one test and column differ.
    """
    found: dict[tuple[int, ColumnKey], dict[str, Any]] = {}
    unnumbered = []
    for cell in cells:
        test = count_or_none(cell.get("testIdx"))
        if test is None:
            unnumbered.append(cell)
        elif found.setdefault((test, _column(cell)), cell) != cell:
            raise UnreadableResults(
                f"{path}: the test {test} stands there twice for {_model(cell)}, and the two differ."
            )
    return [*found.values(), *unnumbered]


def _trials(cells: list[dict[str, Any]], columns: Mapping[ColumnKey, PromptColumn]) -> Iterator[ForeignTrial]:
    """Yield the cells as trials, in the order of tests.

    Cells of one column with equal variables are repeats.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for cell in sorted(cells, key=lambda one: count_or_none(one.get("testIdx")) or 0):
        slot = columns[_column(cell)].slot
        sample, digest = _sample(cell)
        repeat = seen[slot, sample]
        seen[slot, sample] += 1
        failed = cell.get("failureReason") == ERROR_REASON_CODE or (
            bool(cell.get("error")) and not object_or_empty(cell.get("gradingResult"))
        )
        worth = CellScores({}, ()) if failed else cell_scores(cell)
        answer = object_or_empty(cell.get("response")).get("output")
        metadata = object_or_empty(object_or_empty(cell.get("testCase")).get("metadata"))
        yield ForeignTrial(
            sample=sample,
            repeat=repeat,
            slot=slot,
            status=Status.PROVIDER_ERROR if failed else Status.ANSWERED,
            reason=one_line(str(cell.get("error")), MAX_REASON_LENGTH) if failed else None,
            scores=worth.scores,
            input=text_or_empty(object_or_empty(cell.get("prompt")).get("raw")) or None,
            sample_digest=digest,
            answer=answer if isinstance(answer, str) else "" if answer is None else json.dumps(answer),
            requests=[_request(cell, f"{slot}-{sample}-{repeat}", failed=failed)],
            labels={
                name: one
                for name, one in metadata.items()
                if isinstance(one, str) and 0 < len(one) <= MAX_NAME_LENGTH
            },
            remarks=worth.remarks,
        )


def _sample(cell: Mapping[str, Any]) -> tuple[str, str]:
    """Return (name, digest) of the sample of a cell.

    They are derived from the cell's variables. If the cell has no variables, they are derived from its
    description. The name depends on nothing else, so it is the same in every file.
    """
    given = object_or_empty(cell.get("vars")) or {
        "": text_or_empty(object_or_empty(cell.get("testCase")).get("description"))
    }
    canonical = json.dumps(given, sort_keys=True, ensure_ascii=True)
    digest = xxhash.xxh3_64_hexdigest(canonical.encode())
    shown = ", ".join(str(one) for one in given.values() if one not in ("", None))
    return f"{one_line(shown, MAX_NAME_LENGTH)} {digest[:8]}".strip(), digest


def _request(cell: Mapping[str, Any], name: str, *, failed: bool) -> RequestRecord:
    response = object_or_empty(cell.get("response"))
    usage = object_or_empty(response.get("tokenUsage"))
    details = object_or_empty(usage.get("completionDetails"))
    cached = response.get("cached") is True
    milliseconds = number_or_none(cell.get("latencyMs"))
    return RequestRecord(
        id=name,
        total=0 if cached or milliseconds is None else to_nanoseconds(milliseconds / 1000),
        usage=Usage(
            count_or_none(usage.get("prompt")),
            count_or_none(usage.get("completion")),
            reasoning_tokens=count_or_none(details.get("reasoning")),
        ),
        finish_reason=text_or_empty(response.get("finishReason")) or None,
        error="error" if failed else None,
    )
