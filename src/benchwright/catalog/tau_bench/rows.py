"""The format of tau-bench's tasks, and their conversion into samples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.tau_bench.environment import DOMAINS, DomainEnvironments
from benchwright.catalog.tau_bench.python_source import read_tasks
from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetValidationError
from benchwright.records import Record, Sample


class Action(Record, frozen=True):
    """A gold tool call: the tool's name and its arguments."""

    name: str
    kwargs: dict[str, Any]


class TaskRow(Record, frozen=True):
    """A task of tau-bench.

    `instruction`: text for the simulated user. `actions`: the gold tool calls. `outputs`: texts that the
    agent must say to the user. `task_index`: counts from 0 within the domain's split.
    """

    domain: str
    task_index: int
    user_id: str
    instruction: str
    actions: list[Action]
    outputs: list[str] = []


def samples(source: Source, split: str, domain: str, worlds: DomainEnvironments) -> Iterator[Sample]:
    """Yield one sample per task of a domain. If `domain` is `all`, yield the tasks of both domains.

    Raises:
        DatasetError: If there are no tasks, or one is invalid.
    """
    worlds.set_source(source)
    found = False
    for row in _rows(source, split):
        if domain in ("all", row.domain):
            found = True
            yield _sample(row, worlds)
    if not found:
        raise DatasetNotFound(f"{source.root} holds no {split} tasks of the domain {domain}")


def _rows(source: Source, split: str) -> Iterator[TaskRow]:
    python = [file for file in source.files(split) if file.suffix == ".py"]
    rows = (row for file in python for row in _python_rows(file)) if python else source.read(TaskRow, split)
    for row in rows:
        if row.domain not in DOMAINS:
            raise DatasetValidationError(
                f"{source.root}: {split} task {row.task_index} is of the domain {row.domain!r}, "
                f"not of {' or '.join(DOMAINS)}"
            )
        yield row


def _python_rows(file: Path) -> Iterator[TaskRow]:
    for index, task in enumerate(read_tasks(file)):
        try:
            yield msgspec.convert({**task, "domain": file.parent.name, "task_index": index}, TaskRow)
        except (msgspec.ValidationError, TypeError) as error:
            raise DatasetValidationError(f"{file}: task {index}: {error}") from error


def _sample(row: TaskRow, worlds: DomainEnvironments) -> Sample:
    content = msgspec.to_builtins(row) | {"outputs": row.outputs, "world": worlds[row.domain].digest}
    labels = {"domain": row.domain, "customer": row.user_id}
    return Sample(
        f"tau_bench_{row.domain}_{row.task_index}",
        content,
        labels=labels,
        input=row.instruction,
        target=_target(row),
    )


def _target(row: TaskRow) -> str:
    """Return a sample's target as text: the gold actions, one per line, and the required outputs."""
    calls = [f"{action.name}({json.dumps(action.kwargs, ensure_ascii=False)})" for action in row.actions]
    return "\n".join([*(calls or ["no call"]), *(f"tells the user: {output}" for output in row.outputs)])
