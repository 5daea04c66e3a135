"""The progress events of a pack's run, in the format and in the order that Bench Protocol documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchwright.packs.repeats import RawResult, representative_result
from benchwright.packs.types import BenchmarkScore, RegisteredModel, ScenarioMeta

ProgressEvent = dict[str, Any]
"""A ProgressEvent: its `type` and its payload in one object, with the camelCase keys of the protocol."""


class PackEvents:
    """Converts the progress of cells (a scenario with a model) into events, and passes the events to `write`.

    `models`: a mapping from the slot (the model's id in the run) to the model, in order. A cell is complete
    when all its `repeats` are finished. Its result is then the representative result (see the module
    `repeats`). `grouped`: True if the results of a scenario are emitted together, in the order of the models,
    once all of them are complete.
    """

    def __init__(
        self,
        run_id: str,
        models: Mapping[str, RegisteredModel],
        scenarios: Sequence[ScenarioMeta],
        repeats: int,
        write: Callable[[ProgressEvent], None],
        *,
        grouped: bool,
    ) -> None:
        self._run_id = run_id
        self._models = models
        self._titles = {scenario.id: scenario.title for scenario in scenarios}
        self._repeats = repeats
        self.write = write
        self._grouped = grouped
        self._attempts: dict[tuple[str, str], dict[int, RawResult]] = {}
        self._begun: set[str] = set()
        self._told: set[tuple[str, str]] = set()
        self._finished: set[str] = set()

    def add_earlier_attempt(self, slot: str, scenario: str, repeat: int, result: RawResult) -> None:
        """Add an attempt from an earlier session of the run. Its result remains valid. No event is emitted."""
        self._attempts.setdefault((scenario, slot), {})[repeat] = result

    def read_earlier_events(self, events: Iterable[ProgressEvent]) -> None:
        """Read the events of earlier sessions, so that results that were already emitted are not emitted again.

        The result of a complete cell is emitted again only if its event is missing (because the process was
        killed), or if the event shows another result.
        """
        told: dict[tuple[str, str], RawResult] = {}
        for event in events:
            if event["type"] == "scenario_result":
                told[event["scenarioId"], event["modelId"]] = event["result"]
            elif event["type"] == "scenario_finished":
                self._finished.add(event["scenarioId"])
        self._told = {
            (scenario, slot)
            for scenario, slot in self._attempts
            if self._is_complete(scenario, slot)
            and told.get((scenario, self._models[slot].id)) == self._result(scenario, slot)
        }

    def run_started(self) -> None:
        """Emit that the run starts or is resumed."""
        models = [{"id": model.id, "label": model.label} for model in self._models.values()]
        self._tell("run_started", runId=self._run_id, models=models, totalScenarios=len(self._titles))
        for scenario in self._titles:
            complete = self._complete(scenario)
            whole = len(complete) == len(self._models)
            untold = any((scenario, slot) not in self._told for slot in complete)
            if (untold and (whole or not self._grouped)) or (whole and scenario not in self._finished):
                self._begin(scenario)
                self._tell_complete(scenario)

    def verifier_preparing(self, **payload: Any) -> None:
        """Emit that a verifier is being prepared."""
        self._tell("verifier_preparing", **payload)

    def cell_started(self, slot: str, scenario: str, repeat: int) -> None:
        """Emit that an attempt at a cell begins."""
        self._begin(scenario)
        if self._repeats > 1:
            self.cell_progress(slot, scenario, f"Running attempt {repeat + 1}/{self._repeats}.")

    def cell_progress(self, slot: str, scenario: str, message: str) -> None:
        """Emit a pack's progress message for a cell."""
        self._tell("model_progress", modelId=self._models[slot].id, scenarioId=scenario, message=message)

    def cell_finished(self, slot: str, scenario: str, repeat: int, result: RawResult) -> None:
        """Record a finished attempt at a cell. Once the cell is complete, emit the cell's result."""
        self._begin(scenario)
        self._attempts.setdefault((scenario, slot), {})[repeat] = result
        self._tell_complete(scenario)

    def run_finished(self, scores: Mapping[str, BenchmarkScore]) -> None:
        """Emit that the run is finished. `scores`: a mapping from the slot to the score."""
        by_model = {self._models[slot].id: score.raw for slot, score in scores.items()}
        self._tell("run_finished", scores=by_model)

    def run_error(self, message: str) -> None:
        """Emit that the run ended early."""
        self._tell("run_error", message=message)

    def _begin(self, scenario: str) -> None:
        if scenario not in self._begun:
            self._begun.add(scenario)
            index = list(self._titles).index(scenario) + 1
            title, total = self._titles[scenario], len(self._titles)
            self._tell("scenario_started", scenarioId=scenario, title=title, index=index, total=total)

    def _tell_complete(self, scenario: str) -> None:
        """Emit the results of a scenario's complete cells that were not emitted yet.

        When the results of all cells are emitted, emit that the scenario is finished.
        """
        complete = self._complete(scenario)
        if self._grouped and len(complete) < len(self._models):
            return
        for slot in complete:
            if (scenario, slot) not in self._told:
                self._told.add((scenario, slot))
                model, result = self._models[slot], self._result(scenario, slot)
                self._tell("scenario_result", modelId=model.id, scenarioId=scenario, result=result)
        if len(complete) == len(self._models):
            self._tell("scenario_finished", scenarioId=scenario)

    def _complete(self, scenario: str) -> list[str]:
        return [slot for slot in self._models if self._is_complete(scenario, slot)]

    def _is_complete(self, scenario: str, slot: str) -> bool:
        return len(self._attempts.get((scenario, slot), {})) == self._repeats

    def _result(self, scenario: str, slot: str) -> RawResult:
        attempts = self._attempts[(scenario, slot)]
        return representative_result([attempts[repeat] for repeat in sorted(attempts)])

    def _tell(self, kind: str, **payload: Any) -> None:
        self.write({"type": kind, **payload})
