"""A session on a suite: what of it is run, in which order, and what became of it."""

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
    """An entry of a suite with its settings, one agent at most among them, and the models that it is for."""

    entry: SuiteEntry
    settings: Settings
    models: tuple[ModelEntry, ...]

    @property
    def agent(self) -> str:
        """The command-line agent, empty without one."""
        return getattr(self.settings, "agent", None) or ""

    @property
    def title(self) -> str:
        """What is run, and by which agent."""
        return f"{self.entry.title} with {self.agent}" if self.agent else self.entry.title

    @property
    def for_all(self) -> Settings:
        """The settings of a run of all models."""
        return self.settings.model_copy(update={"model": self.models[0].model, "models": self.models})

    def for_one(self, model: ModelEntry) -> Settings:
        """The settings of the run of one model; of one without settings of its own, those that `--model` gives."""
        own = () if model == ModelEntry(model=model.model) else (model,)
        return self.settings.model_copy(update={"model": model.model, "models": own})


class SuiteRun(Record, frozen=True):
    """One entry of a suite with one model and agent, and what became of it; `problem` says why it failed."""

    kind: Kind
    name: str
    model: str
    outcome: Outcome
    agent: str = ""
    run: str | None = None
    problem: str = ""


RunOne = Callable[[SuitePart, ModelEntry, SuiteRun], SuiteRun]
"""Runs a part of a suite with a model: (part, model, what is known of it) -> what became of it."""


def run_all(parts: Sequence[SuitePart], run_one: RunOne) -> Iterator[SuiteRun]:
    """Runs each model through all parts, until it is interrupted; yields what became of each.

    Models come one after the other, so that a server that holds one at a time loads each once.
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
    """Prepares the run of a benchmark or an eval.

    Raises:
        UserError: see `prepare_benchmark` and `prepare_eval`.
    """
    if isinstance(settings, EvalSettings):
        return prepare_eval(settings, say)
    assert isinstance(settings, BenchmarkSettings)
    return prepare_benchmark(entry.name, settings, say)


def find_problems(parts: Sequence[SuitePart], say: Say) -> dict[str, str]:
    """What keeps parts from being run, as far as it shows before any model is asked; by their titles.

    Packs are looked at when it is their turn: they are programs.

    Raises:
        UserError: the same thing keeps every part from being run.
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
