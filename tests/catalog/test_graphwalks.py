"""GraphWalks: the nodes on the last line, and how many of them are right."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored

from benchwright.catalog.graphwalks.benchmark import EMPTY_LIST_REASON
from benchwright.catalog.graphwalks.grading import f1_score, read_nodes
from benchwright.data.errors import DatasetError

GOLD = {"prompt": "?", "answer_nodes": ["a", "b", "c"]}
NONE = {"prompt": "?", "answer_nodes": []}
ROW = {
    "prompt": "a -> b\nFind the parents of node b.",
    "answer_nodes": ["a"],
    "prompt_chars": 219_451,
    "problem_type": "Parents",
    "date_added": "02-27-2026",
}


async def test_real_and_synthetic_graphs_pass_with_their_nodes_and_fail_with_any_other(
    real_rows: Path,
) -> None:
    played = await validated("graphwalks", real_rows / "graphwalks")
    assert (played.samples, played.failures) == (7, [])
    # the one graph where no node is right
    assert {name.partition("/")[0] for name in played.exceptions} == {"graphwalks_6"}
    assert set(played.exceptions.values()) == {EMPTY_LIST_REASON}


async def test_the_documented_variant_does_so_too(real_rows: Path) -> None:
    assert (await validated("graphwalks:documented", real_rows / "graphwalks")).failures == []


async def test_the_prompt_is_the_datasets_own(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "prompt_chars": 1_700_000, "problem_type": "bfs"}]
    short, long = samples("graphwalks", write_rows(tmp_path / "train.jsonl", rows))
    assert (await asked(benchmark("graphwalks"), short))[0] == [{"role": "user", "content": ROW["prompt"]}]
    assert short.labels == {
        "problem_type": "parents",
        "length": "128k and shorter",
        "date_added": "02-27-2026",
    }
    assert (long.labels["problem_type"], long.labels["length"]) == ("bfs", "256k to 1M")


@pytest.mark.parametrize(
    ("answer", "nodes"),
    [
        ("Final Answer: [a, b]", ["a", "b"]),
        ("I see.\nFinal Answer: [a,b]", ["a", "b"]),
        # the first node is not left with the words before it, as the card's code leaves it
        ("Final Answer: [a]", ["a"]),
        ("final answer:[a]", ["a"]),
        ("**Final Answer: [a]", ["a"]),
        ("Final Answer: []", []),
        ("Final Answer: [a, , a, b,]", ["a", "b"]),
        # blank lines at the end are not the last line
        ("Final Answer: [a]\n\n  \n", ["a"]),
        ("Final Answer: [a]\r\n", ["a"]),
        # the last line decides
        ("Final Answer: [a]\nI am sure.", None),
        ("Final Answer: [a]\nFinal Answer: [b]", ["b"]),
        ("Final Answer: [a] as asked", None),
        ("**Final Answer: [a]**", None),
        ("Final Answer: a, b", None),
        ("[a, b]", None),
        ("", None),
        # quotes are part of a node, as openbench reads it
        ("Final Answer: ['a']", ["'a'"]),
    ],
)
def test_nodes_are_read_from_the_last_line(answer: str, nodes: list[str] | None) -> None:
    assert read_nodes(answer) == nodes


PIECES = ["Final Answer:", "final answer: [", "[", "]", " ", "\n", "\r", "a", "b", ",", "c, "]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_the_linear_reading_is_that_of_openbenchs_pattern(text: str) -> None:
    """openbench's pattern, after the white space at the end of the answer is taken off."""
    listed = re.search(r"final answer:\s*\[(.*)\]\s*$", text.rstrip().split("\n")[-1], re.IGNORECASE)
    items = [item.strip() for item in listed[1].split(",") if item.strip()] if listed else None
    nodes = read_nodes(text)
    assert nodes == (None if items is None else list(dict.fromkeys(items)))


@pytest.mark.parametrize(
    ("predicted", "gold", "value"),
    [
        ("abc", "abc", 1.0),
        ("ab", "abc", 0.8),
        ("abcd", "abc", 6 / 7),
        # the card's formula says 1 here
        ("xyz", "abc", 0.0),
        ("", "abc", 0.0),
        ("x", "", 0.0),
        ("", "", 1.0),
    ],
)
def test_f1_of_sets_of_nodes(predicted: str, gold: str, value: float) -> None:
    assert f1_score(set(predicted), set(gold)) == pytest.approx(value)


@given(st.frozensets(st.integers(0, 9)), st.frozensets(st.integers(0, 9)))
def test_f1_is_symmetric_and_1_only_for_equal_sets(one: frozenset[int], other: frozenset[int]) -> None:
    a, b = {str(node) for node in one}, {str(node) for node in other}
    assert f1_score(a, b) == f1_score(b, a)
    assert (f1_score(a, b) == 1.0) == (a == b)


async def test_correct_is_an_equal_set_and_the_jaccard_similarity_is_kept() -> None:
    score = await scored("graphwalks", GOLD, "Final Answer: [c, a]")
    assert score.value == pytest.approx(0.8)
    assert score.span == "c, a"
    assert score.detail == {
        "correct": False,
        "expected": ["a", "b", "c"],
        "jaccard": pytest.approx(2 / 3),
        "parsed": True,
    }


async def test_an_answer_without_a_list_is_unparsed() -> None:
    score = await scored("graphwalks", GOLD, "a, b and c")
    assert (score.value, score.status) == (None, "unparsed")


async def test_where_no_node_is_right_an_answer_without_a_list_is_read_as_an_empty_one() -> None:
    score = await scored("graphwalks", NONE, "There is none.")
    assert score.value == 1.0
    assert score.detail is not None
    assert score.detail["parsed"] is False


async def test_the_documented_score_is_the_jaccard_similarity_of_the_whole_response() -> None:
    score = await scored("graphwalks:documented", GOLD, "[a, 'b', d]")
    assert score.value == pytest.approx(2 / 4)
    assert score.detail is not None
    assert (score.detail["correct"], score.detail["jaccard"]) == (False, pytest.approx(2 / 4))


HOSTILE = {
    "openings": "final answer:[" * 70_000 + "x",
    "brackets": "final answer:[" + "] " * 500_000 + "x",
    "blanks": "final answer:" + " " * 1_000_000 + "x",
    "nodes": "Final Answer: [" + "a1, " * 300_000 + "]",
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_a_megabyte_is_read_in_linear_time(answer: str) -> None:
    before = time.process_time()
    read_nodes(answer)
    assert time.process_time() - before < 2.0


def test_figures_are_given_per_problem_type_and_length() -> None:
    bfs = {"problem_type": "bfs", "length": "128k and shorter"}
    scores = [
        graded(1.0, {"correct": True}, labels=bfs),
        graded(0.5, {"correct": False}, labels=bfs),
        graded(None, {"correct": False}, labels={"problem_type": "parents", "length": "256k to 1M"}),
    ]
    assert figures(benchmark("graphwalks"), scores) == {
        "exact": pytest.approx(1 / 3),
        "bfs, 128k and shorter": 0.75,
        "parents, 256k to 1M": 0.0,
    }
    assert figures(benchmark("graphwalks"), []) == {}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"answer_nodes": "a"}, "answer_nodes"),
        ({"prompt": None}, "prompt"),
        ({"problem_type": 1}, "problem_type"),
    ],
)
def test_a_row_that_is_no_graph_is_told_by_its_number_and_field(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    path = write_rows(tmp_path / "train.jsonl", [ROW, {**ROW, **change}])
    with pytest.raises(DatasetError, match=rf"Row 1: .* `\$.{field}`"):
        list(benchmark("graphwalks").samples(source("graphwalks", path)))


def test_a_row_with_the_name_that_the_cards_prose_gives_is_told_what_is_missing(tmp_path: Path) -> None:
    row = {**ROW, "answer": ["a"]}
    del row["answer_nodes"]
    path = write_rows(tmp_path / "train.jsonl", [row])
    with pytest.raises(DatasetError, match="missing required field `answer_nodes`"):
        list(benchmark("graphwalks").samples(source("graphwalks", path)))
