"""MRCR: the gate of the random prefix, and the likeness of texts behind it."""

from __future__ import annotations

import json
import time
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import Talk, figures, graded, scored, solved

from benchwright.catalog.mrcr.grading import grade_likeness, similarity
from benchwright.catalog.mrcr.rows import CONTEXT_BINS, context_bin
from benchwright.catalog.mrcr.solver import fit_conversation
from benchwright.data.errors import DatasetError
from benchwright.records import Usage

PREFIX = "aYooSG8CQg"
POEM = "O tapir of the moonlit stream,\nYou wander softly as a dream."
OTHER = "In the twilight of the jungle green,\nA tapir walks, unseen, serene."
CONTENT = {"answer": PREFIX + POEM, "prefix": PREFIX}
CONVERSATION = [
    {"role": "user", "content": "write a poem about tapirs"},
    {"role": "assistant", "content": POEM},
    {"role": "user", "content": f"Prepend {PREFIX} to the 1st (1 indexed) poem about tapirs."},
]
ROW = {
    "prompt": json.dumps(CONVERSATION),
    "answer": PREFIX + POEM,
    "random_string_to_prepend": PREFIX,
    "n_needles": 2,
    "desired_msg_index": 1,
    "total_messages": 3,
    "n_chars": 40_000,
    "date_added": "04-12-2025",
}


@pytest.mark.parametrize("name", ["mrcr", "mrcr:documented"])
async def test_a_synthetic_conversation_passes_with_its_answer_and_fails_with_any_other(
    name: str, real_rows: Path
) -> None:
    played = await validated(name, real_rows / "mrcr")
    assert played.checks > 0
    assert played.failures == []


async def test_the_conversation_is_sent_as_it_is_and_its_length_is_the_servers_count(tmp_path: Path) -> None:
    task = benchmark("mrcr")
    (sample,) = task.samples(source("mrcr", write_rows(tmp_path / "train.jsonl", [ROW])))
    talk = Talk([PREFIX + POEM], usage=Usage(prompt_tokens=8000))
    outcome = await solved(task, sample, talk)
    assert talk.asked == [("model", CONVERSATION, {})]
    score = await task.scorers[0].score(sample, outcome, talk)
    assert score.value == 1.0
    assert score.detail is not None
    assert score.detail["context_length"] == 8000
    assert "approximate" not in score.detail


async def test_without_a_count_the_length_is_told_by_characters_and_marked(tmp_path: Path) -> None:
    task = benchmark("mrcr:documented")
    (sample,) = task.samples(source("mrcr", write_rows(tmp_path / "train.jsonl", [ROW])))
    talk = Talk([PREFIX + POEM])
    score = await task.scorers[0].score(sample, await solved(task, sample, talk), talk)
    assert score.detail is not None
    assert score.detail["context_length"] == round((40_000 + len(PREFIX + POEM)) / 4.9)
    assert score.detail["approximate"] is True


@pytest.mark.parametrize(
    ("response", "value"),
    [
        (PREFIX + POEM, 1.0),
        # the gate: nothing is stripped before the prefix is looked for
        (POEM, 0.0),
        (f" {PREFIX}{POEM}", 0.0),
        (f"\n{PREFIX}{POEM}", 0.0),
        (f"Here it is: {PREFIX}{POEM}", 0.0),
        (PREFIX.lower() + POEM, 0.0),
        (PREFIX, 0.0),
        # behind it: 2M / T
        (PREFIX + POEM[:30], 2 * 30 / (30 + len(POEM))),
        (f"{PREFIX}{POEM}!", 2 * len(POEM) / (2 * len(POEM) + 1)),
        # only one prefix is taken off
        (PREFIX + PREFIX + POEM, 2 * len(POEM) / (2 * len(POEM) + len(PREFIX))),
    ],
)
def test_likeness_counts_behind_the_gate_of_the_prefix(response: str, value: float) -> None:
    assert grade_likeness(CONTENT, response).score == pytest.approx(value)


def test_another_needle_is_alike_but_not_correct() -> None:
    verdict = grade_likeness(CONTENT, PREFIX + OTHER)
    assert verdict.score is not None
    assert 0.2 < verdict.score < 0.8
    assert not verdict.is_correct


def test_a_blank_response_is_unparsed() -> None:
    assert grade_likeness(CONTENT, " ").score is None


@given(st.text("abc \n", max_size=300), st.text("abc \n", min_size=1, max_size=300))
def test_likeness_is_the_ratio_of_difflib_in_this_order(response: str, answer: str) -> None:
    """The ratio is not symmetric, and its heuristic for long texts stays on."""
    if len(response) <= 50 * len(answer):
        assert similarity(response, answer) == SequenceMatcher(None, response, answer).ratio()


def test_a_response_that_is_much_too_long_is_not_compared() -> None:
    """At fifty times the length nothing could bring the ratio above 0.04."""
    before = time.process_time()
    assert similarity("a" * 1_000_000, "a" * 199) == 0.0
    assert time.process_time() - before < 1.0


async def test_the_documented_match_wants_the_whole_answer_somewhere() -> None:
    assert (await scored("mrcr:documented", CONTENT, f"Here it is: {PREFIX}{POEM}")).value == 1.0
    assert (await scored("mrcr:documented", CONTENT, PREFIX + POEM[:30])).value == 0.0
    assert (await scored("mrcr:documented", CONTENT, "")).value is None


# --- bins


@pytest.mark.parametrize(
    ("tokens", "name"),
    [
        (100, "4k-8k"),
        (4096, "4k-8k"),
        (8192, "4k-8k"),
        (8193, "8k-16k"),
        (131_072, "64k-128k"),
        (1_048_576, "512k-1M"),
        (2_000_000, "512k-1M"),
    ],
)
def test_a_bin_holds_its_upper_end(tokens: int, name: str) -> None:
    assert context_bin(tokens) == name


@given(st.integers(1, 2_000_000), st.integers(1, 2_000_000))
def test_bins_are_in_order(one: int, other: int) -> None:
    shorter, longer = sorted((one, other))
    assert CONTEXT_BINS.index(context_bin(shorter)) <= CONTEXT_BINS.index(context_bin(longer))


def test_conversations_beyond_the_limit_are_left_out_and_it_says_so(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "train.jsonl", [ROW, {**ROW, "n_chars": 700_000}, ROW])
    assert [sample.labels["context"] for sample in samples("mrcr", path)] == ["4k-8k", "128k-256k", "4k-8k"]
    kept = samples("mrcr", path, {"max_context": "131072"})
    assert [sample.id for sample in kept] == ["mrcr_0", "mrcr_2"]
    assert benchmark("mrcr", {"max_context": "131072"}).departures == (
        "conversations of more than about 131,072 tokens are left out",
    )


def test_figures_are_given_per_number_of_needles_and_bin_in_order() -> None:
    def labels(needles: int, context: str) -> dict[str, str]:
        return {"n_needles": str(needles), "context": context}

    scores = [
        graded(0.5, labels=labels(8, "4k-8k")),
        graded(1.0, labels=labels(2, "16k-32k")),
        graded(None, labels=labels(2, "16k-32k")),
        graded(0.25, labels=labels(2, "8k-16k")),
    ]
    known = figures(benchmark("mrcr"), scores)
    assert list(known.items()) == [
        ("2 needles, 8k-16k", 0.25),
        ("2 needles, 16k-32k", 0.5),
        ("8 needles, 4k-8k", 0.5),
    ]


# --- rows


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"prompt": "write a poem"}, "`prompt` is not a JSON list of messages"),
        ({"prompt": '{"role": "user"}'}, "`prompt` is not a JSON list of messages"),
        ({"prompt": '[{"role": "user"}]'}, "`prompt` is not a JSON list of messages"),
        ({"prompt": CONVERSATION}, r"`\$.prompt`"),
        ({"answer": POEM}, "`answer` does not start with `random_string_to_prepend`"),
        ({"random_string_to_prepend": ""}, r"`\$.random_string_to_prepend`"),
    ],
)
def test_a_row_that_is_no_conversation_is_told_by_its_number(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    path = write_rows(tmp_path / "train.jsonl", [ROW, {**ROW, **change}])
    with pytest.raises(DatasetError, match=f"Row 1: .*{complaint}"):
        list(benchmark("mrcr").samples(source("mrcr", path)))


def test_the_hubs_layout_of_one_directory_per_number_of_needles_is_read(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for needles in (2, 4, 8):
        for part in (0, 1):
            file = tmp_path / f"{needles}needle" / f"{needles}needle_{part}.parquet"
            file.parent.mkdir(exist_ok=True)
            pq.write_table(pa.Table.from_pylist([{**ROW, "n_needles": needles}]), file)
    assert [sample.labels["n_needles"] for sample in samples("mrcr", tmp_path)] == list("224488")


LONG = [
    {"role": "user" if number % 2 == 0 else "assistant", "content": f"{number:03}" * 10}
    for number in range(41)
]
"""Forty-one messages of thirty characters, the first and the last of them the user's."""


@pytest.mark.parametrize("counted", [True, False])
async def test_a_conversation_that_is_too_long_loses_its_middle_and_speakers_still_take_turns(
    counted: bool,
) -> None:
    talk = Talk(["x"], count=lambda text: len(text) // 5 if counted else None)
    fitted = await fit_conversation(talk, LONG, 100)
    assert (fitted.is_cut, fitted.is_estimated) == (True, not counted)
    assert fitted.messages[0] == LONG[0]
    assert fitted.messages[-1] == LONG[-1]
    roles = [message["role"] for message in fitted.messages]
    assert all(one != other for one, other in pairwise(roles))
    characters = sum(len(message["content"]) for message in fitted.messages)
    assert 0.6 * 500 <= characters <= 500


async def test_one_that_is_short_enough_is_sent_whole() -> None:
    fitted = await fit_conversation(Talk(["x"]), LONG, 100_000)
    assert (fitted.messages, fitted.is_cut) == (LONG, False)


@given(st.integers(1, 400))
async def test_whatever_the_limit_the_question_is_asked_and_nobody_speaks_twice(most: int) -> None:
    fitted = await fit_conversation(Talk(["x"]), LONG, most)
    roles = [message["role"] for message in fitted.messages]
    assert fitted.messages[-1] == LONG[-1]
    assert all(one != other for one, other in pairwise(roles))


def test_cutting_is_marked_as_a_departure() -> None:
    (told,) = benchmark("mrcr", {"max_input_tokens": "8000"}).departures
    assert "more than 8,000 tokens are cut in the middle" in told
