"""The five execution modes: in which order cells run, and which of them at once."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import UserError
from benchwright.packs.execution_modes import DEFAULT_MODE, MODES, find_mode, trial_arranger
from benchwright.records import Sample, Target, Trial

SLOTS = ["primary", "model-2"]


def trials(scenarios: int, models: int, repeats: int) -> list[Trial]:
    """The trials of a plan in the order in which the engine makes them."""
    return [
        Trial(
            f"{scenario}-{repeat}-{model}", Sample(f"S{scenario}", {}), Target(slot(model), "m", "u"), repeat
        )
        for scenario in range(scenarios)
        for repeat in range(repeats)
        for model in range(models)
    ]


def slot(number: int) -> str:
    return "primary" if number == 0 else f"model-{number + 1}"


def waves(mode: str, scenarios: int = 2, models: int = 2, repeats: int = 1) -> list[list[str]]:
    """What runs at once, as "scenario-repeat-model"."""
    made = trial_arranger(find_mode(mode), [slot(number) for number in range(models)])(
        iter(trials(scenarios, models, repeats))
    )
    return [[trial.key for trial in wave] for _, wave in groupby(made, key=lambda trial: trial.wave)]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("serial", [["0-0-0", "0-0-1", "1-0-0", "1-0-1"]]),
        ("serial_by_model", [["0-0-0", "1-0-0", "0-0-1", "1-0-1"]]),
        ("parallel_by_test_case", [["0-0-0", "0-0-1"], ["1-0-0", "1-0-1"]]),
        ("parallel_by_model", [["0-0-0", "1-0-0"], ["0-0-1", "1-0-1"]]),
        ("full_parallel", [["0-0-0", "0-0-1", "1-0-0", "1-0-1"]]),
    ],
)
def test_each_mode_has_its_order_and_its_groups(mode: str, expected: list[list[str]]) -> None:
    assert waves(mode) == expected


def test_attempts_at_the_same_cell_follow_one_another() -> None:
    assert waves("serial", 1, 2, 2) == [["0-0-0", "0-1-0", "0-0-1", "0-1-1"]]
    assert waves("parallel_by_test_case", 1, 2, 2) == [["0-0-0", "0-0-1"], ["0-1-0", "0-1-1"]]
    assert waves("full_parallel", 2, 1, 2) == [["0-0-0", "1-0-0"], ["0-1-0", "1-1-0"]]


@given(
    mode=st.sampled_from(list(MODES)),
    scenarios=st.integers(1, 4),
    models=st.integers(1, 3),
    repeats=st.integers(1, 3),
)
def test_nothing_is_lost_and_no_cell_has_two_attempts_at_once(
    mode: str, scenarios: int, models: int, repeats: int
) -> None:
    made = waves(mode, scenarios, models, repeats)
    keys = [key for wave in made for key in wave]
    assert sorted(keys) == sorted(trial.key for trial in trials(scenarios, models, repeats))
    order = {key: place for place, key in enumerate(keys)}
    for scenario in range(scenarios):
        for model in range(models):
            places = [order[f"{scenario}-{repeat}-{model}"] for repeat in range(repeats)]
            assert places == sorted(places)
    if not MODES[mode].is_serial:
        for wave in made:
            cells = [(key.split("-")[0], key.split("-")[2]) for key in wave]
            assert len(cells) == len(set(cells))


def test_two_modes_are_serial_and_one_is_the_default() -> None:
    assert [name for name, mode in MODES.items() if mode.is_serial] == ["serial", "serial_by_model"]
    assert DEFAULT_MODE == "parallel_by_test_case"
    assert all(mode.name == name for name, mode in MODES.items())


def test_hyphens_are_as_good_as_underscores() -> None:
    assert find_mode("full-parallel") is MODES["full_parallel"]


def test_a_wrong_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"There is no mode 'paralel_by_model'\. Did you mean"):
        find_mode("paralel_by_model")
