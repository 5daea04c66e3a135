"""Running requests that need more memory than there is: the youngest makes way, and is answered in full nonetheless."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from tests.endpoint.simulate.simulate_kit import Answer, Served, Simulate

from benchwright.endpoint.simulate import Delay, EndpointStats, Settings, TruthRecord

WORDS = 48
SERVER: dict[str, Any] = {
    "cache_blocks": 13,
    "block_size": 4,
    "policy": "words",
    "words": WORDS,
    "between_tokens": Delay(mean_ms=20),
}
"""An answer to one token has 12 blocks in the end, so that a second request finds no room at some time, however late
it comes while the first one runs."""


def run_two(served: Served, *, stream: bool) -> tuple[Answer, Answer]:
    fields: dict[str, Any] = {"stream_options": {"include_usage": True}} if stream else {}
    asked = [served.start(name, name, stream=stream, **fields) for name in ("older", "younger")]
    older, younger = (one.answer for one in asked)
    return older, younger


class Run(NamedTuple):
    """Two requests that did not fit together, after both were answered."""

    stream: bool
    answers: tuple[Answer, Answer]
    older: TruthRecord
    younger: TruthRecord
    stats: EndpointStats
    metrics: dict[str, float]


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "stream"])
def run(request: pytest.FixtureRequest) -> Run:
    served = Served(Settings(**SERVER))
    try:
        answers = run_two(served, stream=request.param)
        truths = served.truth("older"), served.truth("younger")
        return Run(request.param, answers, *truths, served.stats, served.metrics())
    finally:
        served.stop()


class TestTheYoungestMakesWay:
    def test_and_both_answers_are_whole(self, run: Run, simulate: Simulate) -> None:
        alone = simulate(policy="words", words=WORDS).chat("hello").text
        for answer in run.answers:
            deltas = answer.deltas if run.stream else [answer.message]
            assert "".join(delta.get("content", "") for delta in deltas) == alone
        assert [(one.tokens, one.complete) for one in (run.older, run.younger)] == [(WORDS, True)] * 2

    def test_and_the_log_and_the_metrics_say_so(self, run: Run) -> None:
        assert (run.older.preemptions, run.older.queued) == (0, 0)
        assert run.younger.preemptions == run.metrics["vllm:num_preemptions_total"] == 1
        assert run.younger.queued > 0

    def test_and_goes_on_when_the_other_is_done(self, run: Run) -> None:
        assert run.younger.last_byte - run.older.last_byte >= 200e6, "half of its tokens were left"

    def test_and_nothing_is_left_in_use(self, run: Run) -> None:
        assert (run.stats.used_blocks, run.stats.running, run.stats.waiting) == (0, 0, 0)

    def test_and_its_first_prefill_is_the_one_that_is_told(self, run: Run) -> None:
        for truth in (run.older, run.younger):
            assert truth.prefill_start == truth.prefill_end == truth.received

    def test_and_its_second_turn_is_no_query(self, run: Run) -> None:
        usages = [(one.chunks[-1] if run.stream else one.json)["usage"] for one in run.answers]
        assert [usage["prompt_tokens_details"]["cached_tokens"] for usage in usages] == [0, 0]
        assert run.metrics["vllm:prefix_cache_queries_total"] == 2


def test_what_it_had_is_prefilled_again_unless_it_is_still_in_the_cache(simulate: Simulate) -> None:
    gap = 0.04
    server = {**SERVER, "cache_blocks": 20, "prefill": 10.0, "between_tokens": Delay(mean_ms=gap * 1000)}
    served = simulate(**server)
    run_two(served, stream=True)
    younger = served.truth("younger")
    assert younger.preemptions == 1
    answering = (younger.last_byte - younger.prefill_end - younger.queued) / 1e9
    again = answering - (WORDS - 2) * gap
    assert 0.05 < again < 2, "a second for some ten tokens that the older one displaced; four if it were all"


def test_one_that_waits_again_waits_before_all_others(simulate: Simulate) -> None:
    served = simulate(**SERVER)
    asked = [served.start(name, name) for name in ("older", "younger")]
    served.wait_until(lambda stats: stats.preemptions == 1)
    asked.append(served.start("third", "third"))
    assert [one.answer.status for one in asked] == [200] * 3
    assert served.truth("third").prefill_start >= served.truth("older").last_byte


def test_a_client_that_leaves_after_a_preemption_is_forgotten(simulate: Simulate) -> None:
    served = simulate(**SERVER)
    older = served.start("older")
    with served.asking("younger", "younger"):
        served.wait_until(lambda stats: stats.preemptions == 1)
    assert older.answer.status == 200
    assert not served.truth("younger").complete
    assert served.chat("hello").status == 200
    assert (served.stats.used_blocks, served.stats.waiting) == (0, 0)


@pytest.mark.parametrize("split", [False, True])
def test_many_that_do_not_fit_all_come_through(simulate: Simulate, split: bool) -> None:
    server = {**SERVER, "cache_blocks": 30, "between_tokens": Delay(mean_ms=10), "split": split}
    served = simulate(**server, slots=6)
    asked = [served.start(f"p{number}", stream=number % 2 == 0) for number in range(12)]
    assert [one.answer.status for one in asked] == [200] * 12
    stats = served.stats
    assert (stats.answered, stats.used_blocks, stats.running, stats.waiting) == (12, 0, 0, 0)
    assert {(truth.tokens, truth.complete) for truth in served.log} == {(WORDS, True)}
    assert stats.preemptions == sum(truth.preemptions for truth in served.log) > 0


def test_with_room_for_all_nobody_makes_way(simulate: Simulate) -> None:
    served = simulate(**{**SERVER, "cache_blocks": 26})
    run_two(served, stream=False)
    assert served.stats.preemptions == 0
