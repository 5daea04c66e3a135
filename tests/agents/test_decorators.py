"""`@osmosis_reward` and `@osmosis_rubric`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from benchwright.agents.decorators import osmosis_reward, osmosis_rubric

REWARD = "solution_str: str, ground_truth: str, extra_info: dict = None"
RUBRIC = "solution_str: str, ground_truth: str, extra_info: dict"


def define(parameters: str, body: str = "return 1.0", *, future: bool = False, is_async: bool = False) -> Any:
    """A function as a user's file would define it."""
    lines = [
        "from __future__ import annotations" if future else "",
        "from typing import Any, Dict, Optional",
        f"{'async ' if is_async else ''}def fn({parameters}):",
        f"    {body}",
    ]
    namespace: dict[str, Any] = {}
    exec(compile("\n".join(lines), "rewards.py", "exec", dont_inherit=True), namespace)
    return namespace["fn"]


both_ways = pytest.mark.parametrize("future", [False, True], ids=["plain", "future annotations"])


class TestReward:
    @both_ways
    @pytest.mark.parametrize(
        "third", ["dict", "dict | None", "Optional[dict]", "dict[str, Any]", "Dict[str, Any] | None"]
    )
    def test_takes_the_documented_signature(self, third: str, future: bool) -> None:
        parameters = f"solution_str: str, ground_truth: str, extra_info: {third} = None, **kwargs"
        fn = osmosis_reward(define(parameters, "return float(solution_str == ground_truth)", future=future))
        assert fn("4", "4") == 1.0
        assert fn(solution_str="5", ground_truth="4", extra_info={}) == 0.0

    @both_ways
    @pytest.mark.parametrize(
        ("parameters", "complaint"),
        [
            ("solution_str: str, ground_truth: str", "at least 3 parameters, got 2"),
            ("solution_str, ground_truth: str, extra_info: dict = None", "'solution_str' must be annotated"),
            ("solution_str: str, ground_truth: int, extra_info: dict = None", "'ground_truth' .* got int"),
            ("solution_str: str, truth: str, extra_info: dict = None", "named 'ground_truth', got 'truth'"),
            ("solution_str: str, ground_truth: str, extra_info: list = None", "annotated as dict, got list"),
            (RUBRIC, "'extra_info' must have a default"),
        ],
    )
    def test_refuses_another_when_it_is_defined(self, parameters: str, complaint: str, future: bool) -> None:
        with pytest.raises(TypeError, match=complaint):
            osmosis_reward(define(parameters, future=future))

    def test_an_annotation_that_means_nothing_is_told_as_it_is_written(self) -> None:
        parameters = "solution_str: str, ground_truth: str, extra_info: Nowhere = None"
        with pytest.raises(TypeError, match="'extra_info' must be annotated as dict, got Nowhere"):
            osmosis_reward(define(parameters, future=True))

    def test_must_return_a_float(self) -> None:
        with pytest.raises(TypeError, match="fn must return a float, got int"):
            osmosis_reward(define(REWARD, "return 1"))("4", "4")

    async def test_stays_async(self) -> None:
        fn = osmosis_reward(define(REWARD, is_async=True))
        assert inspect.iscoroutinefunction(fn)
        assert await fn("4", "4") == 1.0
        with pytest.raises(TypeError, match="must return a float"):
            await osmosis_reward(define(REWARD, "return None", is_async=True))("4", "4")

    def test_keeps_name_and_signature(self) -> None:
        fn = osmosis_reward(define(REWARD))
        assert fn.__name__ == "fn"
        assert list(inspect.signature(fn).parameters) == ["solution_str", "ground_truth", "extra_info"]

    def test_drops_the_data_source_only_where_there_is_no_place_for_it(self) -> None:
        assert osmosis_reward(define(REWARD))("4", "4", data_source="web") == 1.0
        curious = osmosis_reward(define(REWARD + ", **rest", "return float(rest['data_source'] == 'web')"))
        assert curious("4", "4", data_source="web") == 1.0

    def test_leaves_a_function_with_another_first_parameter_alone(self) -> None:
        assert osmosis_reward(define("messages, whatever", "return 3"))([], 1) == 3


class TestRubric:
    @both_ways
    @pytest.mark.parametrize("second", ["str", "str | None", "Optional[str]"])
    def test_takes_the_documented_signature(self, second: str, future: bool) -> None:
        fn = osmosis_rubric(
            define(f"solution_str: str, ground_truth: {second}, extra_info: dict", future=future)
        )
        assert fn("4", None, {}) == 1.0

    @pytest.mark.parametrize(
        ("parameters", "complaint"),
        [
            ("solution_str: int, ground_truth: str, extra_info: dict", "'solution_str' must be annotated as"),
            ("solution_str: str, ground_truth: int, extra_info: dict", "str or Optional"),
            ("solution_str: str, ground_truth: str = None, extra_info: dict = None", "cannot have a default"),
        ],
    )
    def test_refuses_another_when_it_is_defined(self, parameters: str, complaint: str) -> None:
        with pytest.raises(TypeError, match=complaint):
            osmosis_rubric(define(parameters))

    @pytest.mark.parametrize(
        ("call", "complaint"),
        [
            (lambda fn: fn(4, "4", {}), "'solution_str' must be a string, got int"),
            (lambda fn: fn("4", 4, {}), "'ground_truth' must be a string or None, got int"),
            (lambda fn: fn("4", "4"), "extra_info"),
        ],
    )
    def test_checks_its_arguments_when_it_is_called(
        self, call: Callable[[Any], float], complaint: str
    ) -> None:
        with pytest.raises(TypeError, match=complaint):
            call(osmosis_rubric(define(RUBRIC)))

    def test_must_return_a_float(self) -> None:
        with pytest.raises(TypeError, match="must return a float, got str"):
            osmosis_rubric(define(RUBRIC, "return 'good'"))("4", "4", {})

    def test_leaves_a_function_with_another_first_parameter_alone(self) -> None:
        assert osmosis_rubric(define("messages", "return 3"))([]) == 3
