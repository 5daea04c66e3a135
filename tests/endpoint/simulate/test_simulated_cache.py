"""A server with a prefix cache: which tokens of a prompt are found there, how long they are, and what prefill takes."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.endpoint.simulate.simulate_kit import Answer, Served, Simulate

from benchwright.endpoint.simulate import Delay, Script, Settings
from benchwright.errors import UserError


def words(name: str, number: int) -> str:
    """A text of so many tokens, none of which is in a text of another name."""
    return " ".join(f"{name}{place}" for place in range(number))


def cached(answer: Answer) -> int:
    found: int = answer.json["usage"]["prompt_tokens_details"]["cached_tokens"]
    return found


def ask(served: Served, *prompts: str) -> list[int]:
    """Asks for one token after each of the prompts, one after the other; how much of each was cached."""
    return [cached(served.chat(prompt, max_tokens=1)) for prompt in prompts]


class TestWhatIsFound:
    def test_the_full_blocks_with_which_an_earlier_prompt_began(self, simulate: Simulate) -> None:
        prompt = words("a", 40)
        served = simulate(cache_blocks=100)
        assert ask(served, prompt, prompt, f"{prompt} and more", f"new {prompt}") == [0, 32, 32, 0]

    def test_without_a_cache_nothing_is_said(self, simulate: Simulate) -> None:
        served = simulate()
        assert "prompt_tokens_details" not in served.chat("hello").json["usage"]
        assert served.log[0].cached_tokens is None
        assert not [name for name in served.metrics() if "cache" in name or "preempt" in name]

    def test_a_block_has_as_many_tokens_as_is_said(self, simulate: Simulate) -> None:
        a, b, c, d = (words(name, 4) for name in "abcd")
        served = simulate(cache_blocks=100, block_size=4)
        assert ask(served, f"{a} {b} {c}", f"{a} {b} {d}", f"{a} {c} {b}", f"{a} {b} {c} {d}") == [
            0,
            8,
            4,
            12,
        ]

    def test_the_last_token_is_always_computed(self, simulate: Simulate) -> None:
        prompt = words("a", 8)
        assert ask(simulate(cache_blocks=100, block_size=4), prompt, prompt) == [0, 4]

    def test_the_same_tokens_after_others_are_another_block(self, simulate: Simulate) -> None:
        a, b, c = (words(name, 4) for name in "abc")
        served = simulate(cache_blocks=100, block_size=4)
        assert ask(served, f"{a} {c} x", f"{b} {c} x", f"{c} x") == [0, 0, 0]
        assert ask(served, f"{a} {c} x", f"{b} {c} x", f"{c} x") == [8, 8, 4]

    def test_white_space_and_messages_do_not_shift_the_blocks(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=100, block_size=4)
        ask(served, words("a", 9))
        messages = [
            {"role": "system", "content": words("a", 3) + "\n"},
            {"role": "user", "content": "  a3 a4\n\na5"},
            {"role": "user", "content": [{"type": "text", "text": "a6 a7 a8"}]},
        ]
        fields: dict[str, Any] = {"messages": messages, "max_tokens": 1}
        assert cached(served.ask("POST", "/v1/chat/completions", fields)) == 8
        assert cached(served.complete(words("a", 9), max_tokens=1)) == 8

    def test_answers_are_found_by_the_next_turn(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=100, block_size=4, policy="words", words=10)
        turn: dict[str, Any] = {"role": "user", "content": words("a", 7)}
        said = served.ask("POST", "/v1/chat/completions", {"messages": [turn]}).message
        following = {"messages": [turn, said, {"role": "user", "content": "and then"}]}
        assert cached(served.ask("POST", "/v1/chat/completions", following)) == 16, "of 7 + 10"

    @pytest.mark.parametrize("stream", [False, True])
    def test_streams_and_whole_answers_tell_the_same(self, simulate: Simulate, stream: bool) -> None:
        served = simulate(cache_blocks=100, block_size=4)
        ask(served, words("a", 9))
        answer = served.chat(words("a", 9), stream=stream, stream_options={"include_usage": True})
        usage = answer.chunks[-1]["usage"] if stream else answer.json["usage"]
        assert usage["prompt_tokens_details"] == {"cached_tokens": 8}


class TestHowLongItIsKept:
    def test_what_was_unused_for_longest_makes_way(self, simulate: Simulate) -> None:
        a, b, c = (words(name, 8) for name in "abc")
        served = simulate(cache_blocks=5, block_size=4)
        assert ask(served, f"{a} x", f"{b} x") == [0, 0], "each needs three blocks, and leaves two"
        assert ask(served, f"{a} x", f"{c} x") == [8, 0]
        assert ask(served, f"{a} x") == [8]
        assert ask(served, f"{b} x") == [0]

    def test_the_end_of_a_prompt_makes_way_before_its_beginning(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=6, block_size=4)
        assert ask(served, words("a", 17), words("b", 9), words("a", 17)) == [0, 0, 12]

    def test_what_a_running_request_holds_stays(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=8, block_size=4, prefill=1e9, between_tokens=Delay(mean_ms=60_000))
        with served.asking(words("a", 9)):
            assert ask(served, *(words(name, 9) for name in "bcdef")) == [0] * 5
            assert ask(served, words("a", 9)) == [8]

    @pytest.mark.parametrize("blocks", [4, 16, 1000])
    def test_no_more_is_kept_than_there_are_blocks(self, simulate: Simulate, blocks: int) -> None:
        served = simulate(cache_blocks=blocks, block_size=4)
        prompts = [words(f"p{number}-", 5) for number in range(50)]
        assert sum(ask(served, *prompts)) == 0
        kept = sum(ask(served, *reversed(prompts))) // 4
        assert kept == min(blocks - 1, 50), "one block is for the last token"

    def test_a_prompt_that_leaves_no_room_for_an_answer_is_refused(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=4, block_size=4)
        assert served.chat(words("a", 15)).status == 200
        refused = served.chat(words("a", 16))
        assert (refused.status, refused.json["error"]["code"]) == (400, "context_length_exceeded")
        assert "16 tokens" in refused.json["error"]["message"]
        assert served.ask("POST", "/tokenize", {"prompt": "hello"}).json["max_model_len"] == 16

    def test_an_answer_ends_where_there_is_no_more_room(self, simulate: Simulate) -> None:
        answer = simulate(cache_blocks=4, block_size=4, policy="words", words=100).chat(words("a", 10)).json
        assert answer["choices"][0]["finish_reason"] == "length"
        assert answer["usage"]["total_tokens"] == 16

    def test_so_does_a_scripted_one(self, simulate: Simulate) -> None:
        script = Script("hello", [{"role": "assistant", "content": words("said", 100)}])
        answer = simulate(cache_blocks=4, block_size=4, scripts=(script,)).chat("hello").json
        assert answer["choices"][0]["finish_reason"] == "length"
        assert answer["usage"]["completion_tokens"] == 15


class TestPrefill:
    def test_it_takes_its_time_for_each_token_that_is_not_cached(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=1000, block_size=10, prefill=1000.0, first_token=Delay(mean_ms=20))
        ask(served, words("a", 401), words("a", 401), words("a", 200) + " b")
        took = [truth.prefill_end - truth.prefill_start for truth in served.log]
        assert [one // 1_000_000 for one in took] == [401, 1, 1]
        for truth in served.log:
            assert truth.first_token - truth.prefill_end >= 19e6, "--ttft comes on top"
        cold, warm, _ = (truth.first_token - truth.received for truth in served.log)
        assert cold > 3 * warm

    def test_without_a_cache_all_tokens_are_computed(self, simulate: Simulate) -> None:
        served = simulate(prefill=1000.0)
        for _ in range(2):
            served.chat(words("a", 100))
        assert [truth.prefill_end - truth.prefill_start for truth in served.log] == [100_000_000] * 2

    def test_blocks_are_found_as_soon_as_they_are_computed(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=30_000, block_size=10, prefill=1000.0)
        with served.asking(words("a", 100_001), "first"):
            time.sleep(0.1)
            with served.asking(words("a", 100_001), "second"):
                pass
        first, second = served.truth("first"), served.truth("second")
        computed = (second.prefill_start - first.prefill_start) // 1_000_000
        assert second.cached_tokens == computed - computed % 10 > 0

    def test_what_was_not_computed_when_the_client_left_is_not_found(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=10, block_size=1000, prefill=1.0)
        for name in ("first", "second"):
            with served.asking(words("a", 1001), name):
                pass
        assert (served.truth("first").complete, served.truth("second").cached_tokens) == (False, 0)
        assert served.stats.used_blocks == 0

    def test_a_prompt_is_looked_up_when_its_turn_comes(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=100, block_size=4, slots=1, first_token=Delay(mean_ms=200))
        asked = [served.start(words("a", 9), max_tokens=1) for _ in range(2)]
        assert [cached(one.answer) for one in asked] == [0, 8], "at its arrival nothing was there"


class TestMetrics:
    def test_they_agree_with_the_log(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=40, block_size=4, slots=2, policy="words", words=6)
        asked = [served.start(words(name, 30) + f" {number}") for number in range(4) for name in "abc"]
        assert {one.answer.status for one in asked} == {200}
        log, found = served.log, served.metrics()
        assert found["vllm:prompt_tokens_total"] == sum(one.prompt_tokens for one in log) == 12 * 31
        assert found["vllm:generation_tokens_total"] == sum(one.tokens for one in log) == 12 * 6
        assert found["vllm:prefix_cache_queries_total"] == 12 * 31
        assert found["vllm:prefix_cache_hits_total"] == sum(one.cached_tokens or 0 for one in log) > 0
        assert found["vllm:num_preemptions_total"] == sum(one.preemptions for one in log)
        queued = sum(one.queued for one in log) / 1e9
        assert found["vllm:request_queue_time_seconds_sum"] == pytest.approx(queued)
        prefill = sum(one.first_token - one.prefill_start for one in log) / 1e9
        assert found["vllm:request_prefill_time_seconds_sum"] == pytest.approx(prefill)

    def test_usage_is_the_share_of_blocks_that_running_requests_hold(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=10, block_size=4, first_token=Delay(mean_ms=60_000))
        shared = words("a", 4)
        with served.asking(f"{shared} b"), served.asking(f"{shared} c"):
            usage = served.metrics()["vllm:kv_cache_usage_perc"]
        assert usage == 0.3, "one block is shared, and each has another"
        assert served.metrics()["vllm:kv_cache_usage_perc"] == 0

    def test_a_request_that_left_the_queue_was_not_looked_up(self, simulate: Simulate) -> None:
        served = simulate(cache_blocks=10, slots=1, first_token=Delay(mean_ms=60_000))
        with served.asking("hello"), served.asking("hello there", "left"):
            served.wait_until(lambda stats: stats.waiting == 1)
        left = served.truth("left")
        assert (left.prompt_tokens, left.cached_tokens, left.prefill_start) == (2, None, 0)
        assert left.queued > 0
        assert served.metrics()["vllm:prefix_cache_queries_total"] == 1


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"cache_blocks": 0}, "at least one block"),
        ({"cache_blocks": 1, "block_size": 0}, "at least one token"),
        ({"block_size": 32}, "needs a prefix cache"),
        ({"prefill": 0.0}, "above 0"),
        ({"prefill": float("nan")}, "above 0"),
    ],
)
def test_a_cache_that_cannot_be_is_a_user_error(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError, match=named):
        Settings(**fields)
