"""How a trial ends: whatever its code does becomes a status, and the run goes on to the next trial."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.engine_kit import FunctionScorer, Solve, always, answer, journalled, plan_of, run_plan

from benchwright.engine.protocols import Score, Session
from benchwright.errors import ExecutionError, LimitReached, ProviderError, RunStopped, UserError
from benchwright.records import Outcome, Sample, Status, Trial, TrialLimits
from benchwright.runs.journal import read_body


def raising(error: BaseException) -> Solve:
    async def solve(trial: Trial, session: Session) -> Outcome:
        raise error

    return solve


def returning(outcome: Any) -> Solve:
    async def solve(trial: Trial, session: Session) -> Any:
        return outcome

    return solve


async def fall_forever(trial: Trial, session: Session) -> Outcome:
    return await fall_forever(trial, session)


async def wait_for_what_was_cancelled(trial: Trial, session: Session) -> Outcome:
    helper = asyncio.ensure_future(asyncio.sleep(60))
    helper.cancel()
    await helper
    return Outcome()


@pytest.mark.parametrize(
    ("solve", "reason"),
    [
        (raising(ValueError("no such tool")), "ValueError: no such tool"),
        (raising(ExecutionError("the container is gone")), "the container is gone"),
        (raising(KeyError()), "KeyError"),
        (raising(SystemExit(3)), "SystemExit: 3"),
        (raising(StopIteration()), "RuntimeError: coroutine raised StopIteration"),
        (raising(TimeoutError("the tool took too long")), "TimeoutError: the tool took too long"),
        (raising(ExceptionGroup("both", [ValueError(), KeyError()])), "ExceptionGroup: both (2 sub-exceptions)"),
        (raising(asyncio.CancelledError()), "CancelledError"),
        (wait_for_what_was_cancelled, "CancelledError"),
        (raising(ValueError("a\nb\t c")), "ValueError: a b c"),
        (fall_forever, "RecursionError: maximum recursion depth exceeded"),
        (returning(None), "the solver returned a NoneType, not an Outcome"),
        (returning(Outcome(reason=ValueError("x"))), "answer and reason of an outcome are text"),  # type: ignore[arg-type]
        (returning(Outcome(scores={"own": float("nan")})), "the score is nan"),
        (returning(Outcome(scores={"own": "high"})), "must be real number, not str"),  # type: ignore[dict-item]
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
async def test_whatever_a_solver_does_ends_only_its_trial(tmp_path: Path, solve: Solve, reason: str) -> None:
    result = await run_plan(plan_of(3, solve, [always(1.0)]), tmp_path, concurrency=1)
    assert result.is_finished
    done = journalled(tmp_path)
    assert [trial.status for trial in done.trials] == [Status.EXECUTION_ERROR] * 3
    assert all(reason in (trial.reason or "") for trial in done.trials)
    assert done.scores == []


async def test_an_endless_reason_is_cut(tmp_path: Path) -> None:
    await run_plan(plan_of(1, raising(ValueError("x" * 10_000))), tmp_path)
    reason = journalled(tmp_path).trial.reason
    assert reason is not None
    assert len(reason) == 500
    assert reason.endswith("…")


def caused(error: Exception) -> Exception:
    """An error as an agent's code raises it from another."""
    wrapper = RuntimeError("my agent gave up")
    wrapper.__cause__ = error
    return wrapper


def met_while_handling(error: Exception) -> Exception:
    """An error that came up while another was being handled."""
    wrapper = ValueError("and then this")
    wrapper.__context__ = error
    return wrapper


def grouped(error: Exception) -> Exception:
    """An error as a TaskGroup raises it, of an agent that asks several things at once."""
    return ExceptionGroup("unhandled errors in a TaskGroup", [ExceptionGroup("inner", [error])])


@pytest.mark.parametrize("wrap", [lambda error: error, caused, met_while_handling, grouped])
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ProviderError("the endpoint answered HTTP 500"), Status.PROVIDER_ERROR),
        (RunStopped("no token for 120 s when the run was stopped"), Status.CANCELLED),
        (LimitReached("turns", 3), Status.LIMIT),
    ],
)
async def test_an_endpoints_failure_and_a_limit_stay_what_they_are_however_wrapped(
    tmp_path: Path, wrap: Callable[[Exception], Exception], error: Exception, status: Status
) -> None:
    await run_plan(plan_of(1, raising(wrap(error))), tmp_path)
    trial = journalled(tmp_path).trial
    assert (trial.status, trial.reason) == (status, str(error))


async def test_an_error_that_causes_itself_is_told_all_the_same(tmp_path: Path) -> None:
    error = ValueError("round and round")
    other = KeyError("x")
    error.__cause__, other.__cause__ = other, error
    await run_plan(plan_of(1, raising(error)), tmp_path)
    assert journalled(tmp_path).trial.reason == "ValueError: round and round"


async def test_a_users_mistake_found_inside_a_trial_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no target 'judge'"):
        await run_plan(plan_of(3, raising(UserError("This run has no target 'judge'"))), tmp_path)


@pytest.mark.parametrize("status", [Status.REFUSED, Status.TRUNCATED, Status.LIMIT])
async def test_an_outcome_keeps_its_status_and_is_scored(tmp_path: Path, status: Status) -> None:
    outcome = Outcome(status, answer="half an ans", reason="the server said so")
    await run_plan(plan_of(1, returning(outcome), [always(0.0)]), tmp_path)
    done = journalled(tmp_path)
    assert (done.trial.status, done.trial.reason) == (status, "the server said so")
    assert done.score.value == 0.0


async def test_scores_of_the_solver_itself_are_plain_numbers(tmp_path: Path) -> None:
    import numpy

    outcome = Outcome(scores={"tests passed": True, "share": numpy.float32(0.5)})  # type: ignore[dict-item]
    await run_plan(plan_of(1, returning(outcome)), tmp_path)
    assert journalled(tmp_path).trial.scores == {"tests passed": 1.0, "share": 0.5}


async def test_messages_that_json_cannot_hold_are_told_as_well_as_can_be(tmp_path: Path) -> None:
    looped: list[Any] = ["see"]
    looped.append(looped)
    odd: dict[Any, Any] = {"role": "tool", 7: {1, 2}, ("a", "b"): looped}
    messages = [{"role": "user", "content": "\ud800"}, odd]
    await run_plan(plan_of(2, returning(Outcome(messages=messages, answer="4")), [always(1.0)]), tmp_path)
    done = journalled(tmp_path)
    body = read_body(tmp_path, done.trials[1])
    assert body.answer == "4"
    assert body.messages == [
        {"role": "user", "content": "?"},
        {"role": "tool", "7": [1, 2], "('a', 'b')": ["see", "['see', [...]]"]},
    ]
    assert len(done.scores) == 2


def scoring(function: Callable[[], Any]) -> FunctionScorer:
    return FunctionScorer(lambda sample, outcome: function())


def fails(error: BaseException) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (fails(ZeroDivisionError("division by zero")), "ZeroDivisionError: division by zero"),
        (fails(SystemExit(1)), "SystemExit: 1"),
        (fails(asyncio.CancelledError()), "CancelledError"),
        (fails(ProviderError("the judge answered HTTP 500")), "the judge answered HTTP 500"),
        (lambda: None, "AttributeError: 'NoneType' object has no attribute 'value'"),
        (lambda: Score(float("nan")), "the score is nan, which cannot be averaged"),
        (lambda: Score(float("inf")), "the score is inf, which cannot be averaged"),
        (lambda: Score("1"), "TypeError: must be real number, not str"),  # type: ignore[arg-type]
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_whatever_a_scorer_does_is_an_error_of_that_score_alone(
    tmp_path: Path, function: Callable[[], Any], error: str
) -> None:
    scorers = [scoring(function), always(1.0, "other")]
    assert (await run_plan(plan_of(2, answer, scorers), tmp_path, concurrency=1)).is_finished
    done = journalled(tmp_path)
    assert [trial.status for trial in done.trials] == [Status.ANSWERED] * 2
    assert [(score.value, score.status) for score in done.scores] == [
        (None, Status.GRADER_ERROR),
        (1.0, Status.SCORED),
    ] * 2
    assert done.scores[0].detail == {"error": error}


async def test_what_a_stopped_run_did_not_wait_for_is_asked_and_scored_when_it_goes_on(
    tmp_path: Path,
) -> None:
    stopped = [True]

    def judge(sample: Sample, outcome: Outcome) -> Score:
        if stopped:
            raise RunStopped("no token for 120 s when the run was stopped")
        return Score(1.0)

    async def solve(trial: Trial, session: Session) -> Outcome:
        if stopped and trial.sample.id == "1":
            raise RunStopped("no token for 120 s when the run was stopped")
        return Outcome(answer="yes")

    plan = plan_of(2, solve, [FunctionScorer(judge)])
    await run_plan(plan, tmp_path)
    first = journalled(tmp_path)
    assert {trial.sample: trial.status for trial in first.trials} == {
        "0": Status.ANSWERED,
        "1": Status.CANCELLED,
    }
    assert first.scores == []
    stopped.clear()
    await run_plan(plan, tmp_path)
    now = journalled(tmp_path)
    assert [trial.sample for trial in now.trials[2:]] == ["1"]
    assert [score.value for score in now.scores] == [1.0, 1.0]


async def test_a_score_is_a_plain_number_and_its_detail_plain_data(tmp_path: Path) -> None:
    import numpy

    await run_plan(
        plan_of(1, answer, [scoring(lambda: Score(numpy.float64(0.5), detail={"hits": {7}}))]), tmp_path
    )
    score = journalled(tmp_path).score
    assert (type(score.value), score.value, score.detail) == (float, 0.5, {"hits": [7]})


async def test_a_scorer_sees_the_sample_and_the_outcome(tmp_path: Path) -> None:
    def same(sample: Sample, outcome: Outcome) -> Score:
        return Score(float(outcome.answer == str(sample.content)))

    await run_plan(plan_of(4, answer, [FunctionScorer(same)]), tmp_path)
    assert [score.value for score in journalled(tmp_path).scores] == [1.0] * 4


async def test_a_trial_that_takes_too_long_reaches_its_limit(tmp_path: Path) -> None:
    async def slow(trial: Trial, session: Session) -> Outcome:
        await asyncio.sleep(60)
        return Outcome()

    await run_plan(plan_of(3, slow, [always(1.0)], limits=TrialLimits(seconds=0.05)), tmp_path)
    done = journalled(tmp_path)
    assert {(trial.status, trial.reason) for trial in done.trials} == {
        (Status.LIMIT, "the trial reached its limit of 0.05 seconds")
    }
    assert all(trial.duration >= 50_000_000 for trial in done.trials)


async def test_a_timeout_of_the_agents_own_is_no_limit_of_the_trial(tmp_path: Path) -> None:
    async def impatient(trial: Trial, session: Session) -> Outcome:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)
        return Outcome()

    await run_plan(plan_of(1, impatient, limits=TrialLimits(seconds=60)), tmp_path)
    assert journalled(tmp_path).trial.status is Status.EXECUTION_ERROR
