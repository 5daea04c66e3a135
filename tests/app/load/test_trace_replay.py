"""A trace replayed: what is sent and when, turn by turn, against servers that say what they heard."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.load.load_kit import FAILING, Heard, listening_server, measure, rate, runs_of
from tests.simulated import simulated_endpoint

SLACK = 1.0
"""Seconds that a busy machine may be late."""


def trace(program: Program, *rows: Any, name: str = "trace.jsonl") -> str:
    program.write(name, "".join(json.dumps(row) + "\n" for row in rows))
    return name


def row(at: float, ids: list[int], output: int = 3, tokens: int | None = None) -> dict[str, Any]:
    """A row like Mooncake's, of blocks of 16 tokens."""
    length = 16 * len(ids) if tokens is None else tokens
    return {"timestamp": at * 1000, "input_length": length, "output_length": output, "hash_ids": ids}


def conversation(*requests: dict[str, Any], name: str = "c") -> dict[str, Any]:
    """A conversation like Weka's."""
    return {"id": name, "block_size": 64, "hash_id_scope": "local", "requests": list(requests)}


def request(think: float, ids: list[int], output: int = 3) -> dict[str, Any]:
    tokens = 64 * len(ids) + 5
    return {"t": 0, "type": "s", "in": tokens, "out": output, "hash_ids": ids, "think_time": think}


SHARED = [row(0, [1, 2, 3]), row(0.2, [1, 2, 4], 5), row(0.4, [9, 2, 3], tokens=45), row(0.6, [1, 2, 3, 5])]
BLOCKS = ("--block-size", "16")


class TestFlat:
    def test_prompts_have_the_lengths_and_the_common_beginnings_of_the_trace(self, program: Program) -> None:
        with listening_server() as (url, heard):
            report = measure(program, url, "--trace", trace(program, *SHARED), *BLOCKS)
        prompts = [one.prompt.split() for one in heard]
        assert [len(prompt) for prompt in prompts] == [48, 48, 45, 64]
        assert [one.body["max_tokens"] for one in heard] == [3, 5, 3, 3]
        assert prompts[0][:32] == prompts[1][:32]
        assert prompts[0][32:] != prompts[1][32:]
        assert prompts[3][:48] == prompts[0]
        replayed = report.levels[0].replayed
        assert replayed is not None
        assert (replayed.requests, replayed.answered, replayed.length_off) == (4, 4, 0)
        assert replayed.ideal_cached == pytest.approx((32 + 48) / 205)
        assert replayed.ended_early == 0

    def test_requests_come_when_they_are_due_scaled_by_the_speed(self, program: Program) -> None:
        rows = [row(8 * place, [place], 3) for place in range(4)]
        with listening_server() as (url, heard):
            report = measure(program, url, "--trace", trace(program, *rows), *BLOCKS, "--speed", "20")
        after = [one.came - 0.4 * place for place, one in enumerate(heard)]
        assert max(after) - min(after) < SLACK / 2
        (level,) = report.levels
        assert level.level.arrivals == "trace"
        assert level.replayed is not None
        assert level.replayed.late is not None
        assert level.replayed.late.n == 4

    def test_a_limit_and_a_duration_leave_the_rest_out(self, program: Program) -> None:
        name = trace(program, *SHARED)
        with listening_server() as (url, heard):
            measure(program, url, "--trace", name, *BLOCKS, "--limit", "2")
            assert len(heard) == 2
            measure(program, url, "--trace", name, *BLOCKS, "--duration", "0.5")
            assert len(heard) == 5

    def test_the_prompts_are_new_ones_but_for_a_seed(self, program: Program) -> None:
        name = trace(program, SHARED[0])
        with listening_server() as (url, heard):
            first = measure(program, url, "--trace", name, *BLOCKS)
            measure(program, url, "--trace", name, *BLOCKS)
            measure(program, url, "--trace", name, *BLOCKS, "--seed", str(first.prompt_seed))
        one, other, again = (heard_one.prompt for heard_one in heard)
        assert one == again
        assert one != other

    def test_a_cache_takes_exactly_what_the_ids_say(self, program: Program) -> None:
        with simulated_endpoint("--prefix-cache", "--policy", "words", "--words", "4") as url:
            (level,) = measure(program, url, "--trace", trace(program, *SHARED), *BLOCKS).levels
        assert level.replayed is not None
        assert level.replayed.cached == pytest.approx(level.replayed.ideal_cached)
        assert (level.warm_cache, level.unexpected_cached) == (False, 0)

    def test_a_cache_that_knew_the_prompts_is_told(self, program: Program) -> None:
        name = trace(
            program, *(row(0.01 * place, list(range(place * 20, place * 20 + 20))) for place in range(4))
        )
        given = ("--trace", name, *BLOCKS, "--seed", "7")
        with simulated_endpoint("--prefix-cache") as url:
            cold, warm = (measure(program, url, *given).levels[0] for _ in range(2))
        assert (cold.warm_cache, warm.warm_cache) == (False, True)

    def test_journals_keep_what_the_prompts_were_made_of_and_not_the_prompts(self, program: Program) -> None:
        with listening_server() as (url, heard):
            report = measure(program, url, "--trace", trace(program, SHARED[0]), *BLOCKS)
            (run,) = runs_of(program, report)
            bodies = (run / "bodies.jsonl").read_text()
            assert "48 words, made from the trace and the seed" in bodies
            assert heard[0].prompt not in bodies
            refused = program.run("load", "--trace", run.name, "--model", "m", "--base-url", url)
        assert "were made from a trace and not kept: replay trace.jsonl itself" in one_line_of(refused.stderr)

    def test_a_dry_run_says_what_would_be_sent(self, program: Program) -> None:
        given = ("--trace", trace(program, *SHARED), *BLOCKS, "--speed", "2", "--dry-run")
        told = program.run("load", "--model", "m", *given)
        assert "4 requests of trace.jsonl (Mooncake), 2 times as fast, sent to m" in told.stdout
        assert "4 requests in 0.3 s" in told.stdout

    def test_with_other_prompts_it_gives_only_the_times(self, program: Program) -> None:
        with listening_server() as (url, heard):
            given = ("--dataset", program.rows(3), "--trace", trace(program, *SHARED), "--speed", "2")
            report = measure(program, url, *given, *BLOCKS)
        assert [one.prompt for one in heard] == ["word0", "word1", "word2", "word0"]
        assert report.levels[0].replayed is None

    def test_times_alone_need_prompts(self, program: Program) -> None:
        refused = program.run("load", "--model", "m", "--trace", program.write("times.txt", "1\n2\n"))
        assert "times.txt has only times" in one_line_of(refused.stderr)


class TestConversations:
    def test_a_turn_comes_after_the_answer_before_and_its_think_time(self, program: Program) -> None:
        turns = [request(0, [1]), request(0.3, [1, 2]), request(4.0, [1, 2, 3])]
        given = ("--trace", trace(program, conversation(*turns)), "--speed", "2", "--max-think", "0.5")
        with listening_server(0.2) as (url, heard):
            report = measure(program, url, *given)
        pauses = [other.came - one.answered for one, other in pairwise(heard)]
        assert all(least <= pause <= least + SLACK for least, pause in zip([0.15, 0.5], pauses, strict=True))
        words = [one.prompt.split() for one in heard]
        assert [len(one) for one in words] == [69, 133, 197]
        assert words[0][:64] == words[1][:64] == words[2][:64]
        (level,) = report.levels
        assert (level.requests, level.counted) == (3, 2)  # the first is the warm-up of one in flight

    def test_sub_agents_run_beside_their_parent(self, program: Program) -> None:
        agent = {"t": 0.0, "type": "subagent", "requests": [request(0, [50]), request(0, [50, 51])]}
        turns = conversation(request(0, [1]), agent, agent, request(0, [1, 2]))
        with listening_server(0.5) as (url, heard):
            report = measure(program, url, "--trace", trace(program, turns))
        first, *others = sorted(heard, key=lambda one: one.came)
        assert len(others) == 5
        assert all(one.came >= first.answered for one in others)
        together = sorted(others, key=lambda one: one.came)[:3]
        assert max(one.came for one in together) < min(one.answered for one in together)
        assert report.levels[0].in_flight >= 3

    def test_as_many_conversations_are_under_way_as_the_level_says(self, program: Program) -> None:
        rows = [conversation(request(0, [1]), request(0, [1, 2]), name=f"c{place}") for place in range(6)]
        given = ("--trace", trace(program, *rows), "--concurrency", "1,3")
        with listening_server(0.1) as (url, heard):
            one, three = measure(program, url, *given).levels
        assert (one.requests, three.requests) == (12, 12)
        assert most_at_once(heard[:12]) == 1
        assert most_at_once(heard[12:]) == 3
        assert rate(one) < rate(three)

    def test_one_that_fails_is_not_gone_on_with_and_the_others_are(self, program: Program) -> None:
        well, broken = [request(0, [1]), request(0, [1, 2])], [request(0, [1]), request(0, [1], FAILING)]
        rows = [conversation(*broken, *well, name="broken"), conversation(*well, name="well")]
        with listening_server() as (url, heard):
            (level,) = measure(program, url, "--trace", trace(program, *rows), "--warmup", "0").levels
        assert len(heard) == 4
        assert (level.requests, level.failed, level.counted) == (4, 1, 4)
        assert level.replayed is not None
        assert (level.replayed.requests, level.replayed.answered) == (4, 3)

    def test_a_duration_ends_them_between_two_turns(self, program: Program) -> None:
        turns = [request(0.4, [1]) for _ in range(20)]
        with listening_server() as (url, heard):
            measure(program, url, "--trace", trace(program, conversation(*turns)), "--duration", "1")
        assert 1 <= len(heard) <= 3


def most_at_once(heard: list[Heard]) -> int:
    return max(sum(one.came <= other.came < one.answered for one in heard) for other in heard)


def test_a_run_of_ours_is_sent_again_as_it_was(program: Program) -> None:
    with listening_server() as (url, heard):
        given = ("--dataset", program.rows(4), "--rate", "20", "--arrivals", "constant", "--requests", "4")
        (run,) = runs_of(program, measure(program, url, *given))
        report = measure(program, url, "--trace", run.name, "--speed", "0.5")
    first, again = heard[:4], heard[4:]
    assert [one.prompt for one in first] == [one.prompt for one in again]
    assert 0.2 < again[-1].came - again[0].came < 0.3 + SLACK
    assert {one.body["max_tokens"] for one in again} == {4}
    assert report.levels[0].unexpected_cached is None
    assert report.prompt_seed is None


def test_the_folder_of_a_run_will_do(program: Program, tmp_path: Path) -> None:
    with listening_server() as (url, heard):
        (run,) = runs_of(program, measure(program, url, "--dataset", program.rows(1), "--requests", "1"))
        measure(program, url, "--trace", str(run))
    assert len(heard) == 2
