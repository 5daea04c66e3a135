"""The execution modes of Bench Protocol.

A mode determines the order of a run's trials, and which trials are concurrent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from benchwright.errors import UserError
from benchwright.records import Trial
from benchwright.suggestions import did_you_mean

DEFAULT_MODE = "parallel_by_test_case"


class TrialPosition(msgspec.Struct, frozen=True):
    """A trial's position in the plan: the indexes of its scenario, its model and its repeat."""

    scenario: int
    model: int
    repeat: int


class ExecutionMode(msgspec.Struct, frozen=True):
    """An execution mode.

    `order_key`: a function from a trial's position to a key by which the trials are sorted. `wave_key`: a
    function from a trial's position to a value. Trials with the same value may run concurrently. `is_serial`:
    True if one trial runs at a time. Attempts at the same cell always run one after another.
    """

    name: str
    label: str
    order_key: Callable[[TrialPosition], Any]
    wave_key: Callable[[TrialPosition], Any]
    is_serial: bool = False


_ALL = (
    ExecutionMode(
        "serial",
        "Serial per Test Case",
        lambda at: (at.scenario, at.model, at.repeat),
        lambda at: 0,
        is_serial=True,
    ),
    ExecutionMode(
        "serial_by_model",
        "Serial per Model",
        lambda at: (at.model, at.scenario, at.repeat),
        lambda at: 0,
        is_serial=True,
    ),
    ExecutionMode(
        DEFAULT_MODE,
        "Parallel per Test Case",
        lambda at: (at.scenario, at.repeat, at.model),
        lambda at: (at.scenario, at.repeat),
    ),
    ExecutionMode(
        "parallel_by_model",
        "Parallel per Model",
        lambda at: (at.model, at.repeat, at.scenario),
        lambda at: (at.model, at.repeat),
    ),
    ExecutionMode(
        "full_parallel",
        "Parallel for All",
        lambda at: (at.repeat, at.scenario, at.model),
        lambda at: at.repeat,
    ),
)

MODES: Mapping[str, ExecutionMode] = {mode.name: mode for mode in _ALL}


def choose_mode(name: str | None, models: int) -> ExecutionMode:
    """Return the mode with this name. If the name is None, return the default mode for this number of models.

    For several models the default is the protocol's: the models of one scenario run concurrently. For one
    model, all scenarios run concurrently.

    Raises:
        UserError: If no mode has that name.
    """
    if name is None:
        name = DEFAULT_MODE if models > 1 else "parallel_by_model"
    return find_mode(name)


def find_mode(name: str) -> ExecutionMode:
    """Return the mode with this name of the protocol. Underscores in the name may be written as hyphens.

    Raises:
        UserError: If no mode has that name.
    """
    mode = MODES.get(name.replace("-", "_"))
    if mode is None:
        raise UserError(
            f"There is no mode {name!r}.{did_you_mean(name, MODES)} Choose from: {', '.join(MODES)}."
        )
    return mode


def trial_arranger(mode: ExecutionMode, slots: list[str]) -> Callable[[Iterator[Trial]], Iterator[Trial]]:
    """Return a function that sorts the trials of a run into the order and waves of a mode.

    `slots`: the ids of the models in the run, in order.
    """

    def arrange(trials: Iterator[Trial]) -> Iterator[Trial]:
        scenarios: dict[str, int] = {}
        places = []
        for trial in trials:
            scenario = scenarios.setdefault(trial.sample.id, len(scenarios))
            places.append((TrialPosition(scenario, slots.index(trial.target.slot), trial.repeat), trial))
        places.sort(key=lambda pair: mode.order_key(pair[0]))
        waves: dict[Any, int] = {}
        for place, trial in places:
            wave = waves.setdefault(mode.wave_key(place), len(waves))
            yield msgspec.structs.replace(trial, wave=wave)

    return arrange
