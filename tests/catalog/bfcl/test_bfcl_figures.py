"""The leaderboard's numbers, from scores that can be added up by hand."""

from __future__ import annotations

import pytest
from tests.catalog.catalog_kit import benchmark
from tests.catalog.conversations import graded
from tests.known import known

from benchwright.catalog.benchmark import Figure
from benchwright.catalog.bfcl.figures import OVERALL_FIGURE_NAME


def shown(**scores: list[float]) -> dict[str, Figure]:
    """The figures of these scores by category."""
    all_graded = [
        graded(value, labels={"category": category})
        for category, values in scores.items()
        for value in values
    ]
    return {figure.name: figure for figure in benchmark("bfcl").figures(all_graded)}


def test_simple_is_the_mean_of_its_languages_before_it_enters_its_group() -> None:
    found = shown(simple_python=[1, 1, 1, 1], simple_java=[0], simple_javascript=[1, 0], multiple=[1])
    assert found["category simple_python"].value == 1.0
    assert found["group non_live"].value == pytest.approx(((1 + 0 + 0.5) / 3 + 1) / 2)
    assert found["group non_live"].note == "without parallel, parallel_multiple"


def test_live_is_weighted_by_the_number_of_tasks() -> None:
    found = shown(live_simple=[1, 1, 1], live_multiple=[0])
    assert found["group live"].value == pytest.approx(3 / 4)


def test_relevance_enters_no_group() -> None:
    found = shown(live_relevance=[1, 0])
    assert found["category live_relevance"].value == 0.5
    assert found[OVERALL_FIGURE_NAME].value is None


def test_irrelevance_and_multi_turn_are_unweighted() -> None:
    found = shown(
        irrelevance=[1, 1, 1], live_irrelevance=[0], multi_turn_base=[1, 1], multi_turn_miss_func=[0]
    )
    assert found["group irrelevance"].value == 0.5
    assert found["group multi_turn"].value == 0.5


def test_the_overall_score_weighs_what_is_there_and_says_what_is_not() -> None:
    found = shown(simple_python=[1], live_simple=[0], multi_turn_base=[0.0])
    assert found[OVERALL_FIGURE_NAME].value == pytest.approx(10 / (10 + 10 + 30))
    assert known(found[OVERALL_FIGURE_NAME].note).startswith("without irrelevance, memory, web search")


def test_the_memory_is_the_mean_of_its_categories_and_a_fifth_of_the_overall_score() -> None:
    found = shown(memory_kv=[1, 1, 1], memory_rec_sum=[0], multi_turn_base=[1])
    assert found["group memory"].value == 0.5
    assert found["group memory"].note == "without memory_vector"
    assert found[OVERALL_FIGURE_NAME].value == pytest.approx((20 * 0.5 + 30 * 1) / 50)


def test_the_memory_counts_all_three_where_they_are_there() -> None:
    found = shown(memory_kv=[1], memory_vector=[1, 0], memory_rec_sum=[0])
    assert (found["group memory"].value, found["group memory"].note) == (0.5, None)


def test_without_scores_there_is_no_overall_score() -> None:
    assert shown()[OVERALL_FIGURE_NAME].value is None
