"""Eval functions: their two shapes, how they are called, and how they become scorers."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.decorators import osmosis_reward
from benchwright.agents.eval_fns import (
    EvalFnError,
    EvalFnScorer,
    EvalFnWrapper,
    load_eval_fn,
    load_eval_fns,
)
from benchwright.engine.answers import final_answer
from benchwright.errors import GraderError, UserError
from benchwright.records import Message, Outcome, Sample, Status

Write = Callable[[str, str], Path]

CONVERSATION: list[Message] = [
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": "Four."},
    {"role": "user", "content": "As a number?"},
    {"role": "assistant", "content": "4"},
]
METADATA = {"ground_truth": "4", "topic": "sums"}


async def score(fn: Callable[..., Any]) -> float:
    return await EvalFnWrapper(fn=fn, name="fn")(CONVERSATION, "4", METADATA)


class TestShapes:
    async def test_a_simple_function_gets_the_last_answer_the_target_and_the_row(self) -> None:
        seen: dict[str, Any] = {}

        def fn(solution_str: str, ground_truth: str, extra_info: Any = None, **kwargs: Any) -> float:
            seen.update(solution=solution_str, target=ground_truth, row=extra_info, rest=kwargs)
            return 0.25

        assert await score(fn) == 0.25
        assert seen == {"solution": "4", "target": "4", "row": METADATA, "rest": {}}

    async def test_a_full_function_gets_all_messages(self) -> None:
        def fn(messages: Any, ground_truth: str, metadata: dict[str, Any], **kwargs: Any) -> float:
            return float(messages == CONVERSATION and metadata == METADATA and ground_truth == "4")

        assert await score(fn) == 1.0

    async def test_a_function_may_change_what_it_gets(self) -> None:
        def fn(messages: Any, ground_truth: str, metadata: Any) -> float:
            metadata.clear()
            messages.clear()
            return 1.0

        assert await score(fn) == 1.0
        assert METADATA
        assert CONVERSATION

    async def test_decorated_functions_work_as_they_are(self) -> None:
        @osmosis_reward
        def fn(solution_str: str, ground_truth: str, extra_info: dict = None) -> float:  # type: ignore[assignment, type-arg]  # noqa: RUF013
            return float(solution_str == ground_truth)

        assert await score(fn) == 1.0

    async def test_objects_and_partial_functions_can_be_called_too(self) -> None:
        class Judge:
            async def __call__(self, solution_str: str, ground_truth: str, extra_info: Any) -> float:
                return 0.5

        def fn(solution_str: str, ground_truth: str, extra_info: Any, weight: float) -> float:
            return weight

        assert await score(Judge()) == 0.5
        assert await score(functools.partial(fn, weight=0.75)) == 0.75

    @pytest.mark.parametrize(
        ("fn", "complaint"),
        [
            (lambda answer, truth: 1.0, "Cannot detect eval function mode: first parameter is 'answer'"),
            (lambda: 1.0, "Cannot detect eval function mode: 'fn' has no parameters"),
            (lambda solution_str: 1.0, "cannot be called with solution_str, ground_truth, extra_info"),
            (lambda messages, ground_truth, metadata, more: 1.0, "missing a required argument: 'more'"),
        ],
    )
    def test_other_shapes_are_refused_before_anything_runs(
        self, fn: Callable[..., Any], complaint: str
    ) -> None:
        with pytest.raises(EvalFnError, match=complaint):
            EvalFnWrapper(fn=fn, name="fn")


class TestCalls:
    async def test_plain_functions_run_off_the_event_loop(self) -> None:
        def fn(solution_str: str, ground_truth: str, extra_info: Any) -> float:
            return float(threading.get_ident())

        assert await score(fn) != threading.get_ident()

    async def test_async_functions_run_on_it(self) -> None:
        async def fn(solution_str: str, ground_truth: str, extra_info: Any) -> float:
            return float(threading.get_ident())

        assert await score(fn) == threading.get_ident()

    async def test_a_plain_function_that_returns_a_coroutine_is_awaited(self) -> None:
        async def later() -> float:
            return 0.5

        def fn(solution_str: str, ground_truth: str, extra_info: Any) -> Any:
            return later()

        assert await score(fn) == 0.5

    @pytest.mark.parametrize(("result", "value"), [(1, 1.0), (True, 1.0), (-2.5, -2.5)])
    async def test_any_number_is_a_score(self, result: Any, value: float) -> None:
        got = await score(lambda solution_str, ground_truth, extra_info: result)
        assert got == value
        assert type(got) is float

    async def test_so_is_nan(self) -> None:
        assert math.isnan(await score(lambda solution_str, ground_truth, extra_info: math.nan))

    @pytest.mark.parametrize("result", ["1.0", None, [1.0]])
    async def test_nothing_else_is(self, result: Any) -> None:
        with pytest.raises(EvalFnError, match="'fn' must return a number, but it returned"):
            await score(lambda solution_str, ground_truth, extra_info: result)


messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool"])},
        optional={"content": st.none() | st.text()},
    )
)


@given(messages)
def test_the_final_answer_is_the_last_text_of_the_assistant(conversation: list[Message]) -> None:
    spoken = [m["content"] for m in conversation if m["role"] == "assistant" and m.get("content") is not None]
    assert final_answer(conversation) == (spoken[-1] if spoken else "")


class TestScorer:
    @staticmethod
    async def run(fn: Callable[..., Any]) -> Any:
        scorer = EvalFnScorer(EvalFnWrapper(fn, "rewards:fn"))
        outcome = Outcome(messages=CONVERSATION, answer="4")
        return await scorer.score(Sample("0", METADATA), outcome, session=None)  # type: ignore[arg-type]

    async def test_scores_an_outcome_against_the_row(self) -> None:
        result = await self.run(
            lambda solution_str, ground_truth, extra_info: float(solution_str == ground_truth)
        )
        assert (result.value, result.status) == (1.0, Status.SCORED)

    @pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), SystemExit(1), StopIteration()])
    async def test_whatever_the_function_raises_is_a_grader_error(self, error: BaseException) -> None:
        def fn(solution_str: str, ground_truth: str, extra_info: Any) -> float:
            raise error

        with pytest.raises(GraderError, match=type(error).__name__):
            await self.run(fn)

    async def test_so_is_a_result_that_is_no_number(self) -> None:
        with pytest.raises(GraderError, match="must return a number"):
            await self.run(lambda solution_str, ground_truth, extra_info: "good")


class TestFingerprint:
    SOURCE = (
        "def a(solution_str, ground_truth, extra_info): return 1.0\ndef b(solution_str, **rest): return 0.0\n"
    )

    def fingerprints(self) -> list[str]:
        return [EvalFnScorer(fn).fingerprint for fn in load_eval_fns(["rewards:a", "rewards:b"])]

    def test_is_the_same_for_the_same_source(self, project: Write) -> None:
        project("rewards.py", self.SOURCE)
        assert self.fingerprints() == self.fingerprints()

    def test_tells_the_functions_of_a_file_apart(self, project: Write) -> None:
        project("rewards.py", self.SOURCE)
        assert len(set(self.fingerprints())) == 2

    def test_changes_with_the_file(self, project: Write) -> None:
        path = project("rewards.py", self.SOURCE)
        before = self.fingerprints()
        path.write_text(self.SOURCE + "# another line\n")
        assert not set(before) & set(self.fingerprints())

    def test_is_never_the_same_where_the_source_is_not_known(self) -> None:
        namespace: dict[str, Any] = {}
        exec("class Made:\n    def __call__(self, solution_str, **rest): return 1.0", namespace)
        wrapper = EvalFnWrapper(namespace["Made"](), "made")
        assert EvalFnScorer(wrapper).fingerprint != EvalFnScorer(wrapper).fingerprint


class TestLoading:
    async def test_loads_functions_under_their_whole_path(self, project: Write) -> None:
        project("reward_fn/compute.py", "def fn(solution_str, **rest): return 0.5")
        (wrapper,) = load_eval_fns(["reward_fn.compute:fn"])
        assert wrapper.name == "reward_fn.compute:fn"
        assert await wrapper(CONVERSATION, "4", METADATA) == 0.5

    @pytest.mark.parametrize(
        ("path", "complaint"),
        [
            (
                "rewards",
                "Invalid eval function path 'rewards'. Expected format: 'module:function' "
                "(e.g., 'rewards:compute_reward')",
            ),
            ("nowhere:fn", "Cannot import module 'nowhere'"),
            ("rewards:fm", "Module 'rewards' has no attribute 'fm'. Available: ['fn', 'limit']"),
            ("rewards:limit", "'rewards:limit' is not callable: it is a int"),
        ],
    )
    def test_saysin_one_line_what_is_wrong(self, project: Write, path: str, complaint: str) -> None:
        project("rewards.py", "limit = 3\ndef fn(solution_str, **rest): return 0.5")
        with pytest.raises(EvalFnError) as caught:
            load_eval_fn(path)
        assert complaint in str(caught.value)
        assert "\n" not in str(caught.value)
        assert isinstance(caught.value, UserError)

    def test_refuses_the_same_function_twice(self) -> None:
        with pytest.raises(EvalFnError, match="Duplicate eval function path: 'rewards:fn'"):
            load_eval_fns(["rewards:fn", "rewards:fn"])
