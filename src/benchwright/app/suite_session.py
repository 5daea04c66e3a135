"""Execution of a suite: which runs are made, in which order, and how each ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from benchwright.app.benchmarks import prepare_benchmark
from benchwright.app.evaluate import prepare_eval
from benchwright.app.prepared_run import PreparedRun
from benchwright.app.suites import EntryKind, SuiteEntry
from benchwright.config import BenchmarkSettings, EvalSettings, ModelEntry, Settings
from benchwright.errors import BenchwrightError, UserError
from benchwright.records import Record
from benchwright.text import Say

SuiteOutcome = Literal[
    "finished", "already finished", "incomplete", "stopped", "interrupted", "failed", "not started"
]


class SuitePart(NamedTuple):
    """An entry of a suite that is ready to run: its settings (with at most one agent) and its models."""

    entry: SuiteEntry
    settings: Settings
    models: tuple[ModelEntry, ...]

    @property
    def agent(self) -> str:
        """Name of the command-line agent. Empty if there is no agent."""
        return self.settings.setting_value("agent") or ""

    @property
    def title(self) -> str:
        """Title of the entry, with its agent."""
        return f"{self.entry.title} with {self.agent}" if self.agent else self.entry.title

    @property
    def settings_for_all_models(self) -> Settings:
        """Settings for a single run with all models."""
        return self.settings.model_copy(update={"model": self.models[0].model, "models": self.models})

    def settings_for_one_model(self, model: ModelEntry) -> Settings:
        """Return the settings for a run of one model.

        A model without settings of its own is passed as if it were given by `--model`.
        """
        own = () if model == ModelEntry(model=model.model) else (model,)
        return self.settings.model_copy(update={"model": model.model, "models": own})


class SuiteRun(Record, frozen=True):
    """The run of one suite entry with one model and one agent, and how that run ended.

    `problem`: why the run failed.
    """

    kind: EntryKind
    name: str
    model: str
    outcome: SuiteOutcome
    agent: str = ""
    run: str | None = None
    problem: str = ""


RunPart = Callable[[SuitePart, ModelEntry, SuiteRun], SuiteRun]
"""Function that runs a part of a suite with one model: (part, model, initial SuiteRun) -> SuiteRun with its outcome."""


def run_all_parts(parts: Sequence[SuitePart], run_one: RunPart) -> Iterator[SuiteRun]:
    """Run all parts of a suite with the first model, then with the next one, until interrupted. Yield each SuiteRun.

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
    """Return the prepared run of a suite entry that is a benchmark or an eval.

    Raises:
        UserError: If `prepare_benchmark` or `prepare_eval` raises it.
    """
    if isinstance(settings, EvalSettings):
        return prepare_eval(settings, say)
    assert isinstance(settings, BenchmarkSettings)
    return prepare_benchmark(entry.name, settings, say)


def find_problems(parts: Sequence[SuitePart], say: Say) -> dict[str, str]:
    """Return the problems that would keep parts of a suite from running, as {title of the part: problem}.

    Only problems that can be found without a request are included. Packs are not checked, because that would run
    their programs.

    Raises:
        UserError: If all parts have the same problem.
    """
    found = {}
    for part in parts:
        try:
            if part.entry.kind != "pack":
                settings = part.settings_for_all_models.model_copy(update={"scrape_prometheus": False})
                prepare_part(part.entry, settings, say)
        except BenchwrightError as error:
            found[part.title] = str(error)
    if len(found) == len(parts) and len(set(found.values())) == 1:
        raise UserError(next(iter(found.values())))
    return found
