"""A session on a suite: the runs to make, their order, and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from benchwright.app.benchmarks import prepare_benchmark
from benchwright.app.evaluate import prepare_eval
from benchwright.app.prepared import PreparedRun
from benchwright.app.suites import Kind, SuiteEntry
from benchwright.config import BenchmarkSettings, EvalSettings, ModelEntry, Settings
from benchwright.errors import BenchwrightError, UserError
from benchwright.records import Record
from benchwright.text import Say

Outcome = Literal[
    "finished", "already finished", "incomplete", "stopped", "interrupted", "failed", "not started"
]


class SuitePart(NamedTuple):
    """An entry of a suite with its settings (including at most one agent) and its models."""

    entry: SuiteEntry
    settings: Settings
    models: tuple[ModelEntry, ...]

    @property
    def agent(self) -> str:
        """Name of the command-line agent; empty without one."""
        return self.settings.value_of("agent") or ""

    @property
    def title(self) -> str:
        """Title of the entry, with its agent."""
        return f"{self.entry.title} with {self.agent}" if self.agent else self.entry.title

    @property
    def for_all(self) -> Settings:
        """Settings for one run of all models."""
        return self.settings.model_copy(update={"model": self.models[0].model, "models": self.models})

    def for_one(self, model: ModelEntry) -> Settings:
        """Return the settings for a run of one model.

        A model without its own settings is passed as by `--model`.
        """
        own = () if model == ModelEntry(model=model.model) else (model,)
        return self.settings.model_copy(update={"model": model.model, "models": own})


class SuiteRun(Record, frozen=True):
    """The run of one suite entry with one model and agent, and its outcome. `problem`: why it failed."""

    kind: Kind
    name: str
    model: str
    outcome: Outcome
    agent: str = ""
    run: str | None = None
    problem: str = ""


RunOne = Callable[[SuitePart, ModelEntry, SuiteRun], SuiteRun]
"""Runs a part of a suite with a model: (part, model, initial SuiteRun) -> SuiteRun with its outcome."""


def run_all(parts: Sequence[SuitePart], run_one: RunOne) -> Iterator[SuiteRun]:
    """Run all parts for one model after another, until interrupted. Yield each SuiteRun.

    This order lets a server that holds one model at a time load each model once.
    """
    going = True
    for model in parts[0].models:
        for part in parts:
            ended = SuiteRun(part.entry.kind, part.entry.name, model.title, "not started", part.agent)
            if going:
                ended = run_one(part, model, ended)
                going = ended.outcome != "interrupted"
            yield ended


def prepare_part(entry: SuiteEntry, settings: Settings, say: Say) -> PreparedRun[Any]:
    """Prepare the run of a benchmark or an eval.

    Raises:
        UserError: If `prepare_benchmark` or `prepare_eval` raises it.
    """
    if isinstance(settings, EvalSettings):
        return prepare_eval(settings, say)
    assert isinstance(settings, BenchmarkSettings)
    return prepare_benchmark(entry.name, settings, say)


def find_problems(parts: Sequence[SuitePart], say: Say) -> dict[str, str]:
    """Return the problems that keep parts from running, by title, as far as they are known before any request.

    Packs are not checked here, because they are programs.

    Raises:
        UserError: If all parts have the same problem.
    """
    found = {}
    for part in parts:
        try:
            if part.entry.kind != "pack":
                settings = part.for_all.model_copy(update={"scrape_prometheus": False})
                prepare_part(part.entry, settings, say)
        except BenchwrightError as error:
            found[part.title] = str(error)
    if len(found) == len(parts) and len(set(found.values())) == 1:
        raise UserError(next(iter(found.values())))
    return found
