"""Token counts under the names and in the places that servers have for them."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.endpoint.usage import read_usage, total_gap
from benchwright.records import Usage

DETAILS = "completion_tokens_details"


def counts(prompt: Any = 20, completion: Any = 10, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


class TestTokensOfThinking:
    def test_that_only_the_total_tells_are_tokens_of_the_answer(self) -> None:
        assert read_usage(counts(total_tokens=430)) == Usage(20, 410, reasoning_tokens=400)
        assert total_gap(counts(total_tokens=430)) == (400, True)

    def test_that_are_counted_beside_the_answer_are_tokens_of_it(self) -> None:
        usage = counts(total_tokens=430, **{DETAILS: {"reasoning_tokens": 400}})
        assert read_usage(usage) == Usage(20, 410, reasoning_tokens=400)
        assert total_gap(usage) is None

    def test_that_are_counted_within_the_answer_are_no_more(self) -> None:
        usage = counts(completion=410, total_tokens=430, **{DETAILS: {"reasoning_tokens": 400}})
        assert read_usage(usage) == Usage(20, 410, reasoning_tokens=400)

    def test_may_stand_outside_the_details(self) -> None:
        assert read_usage(counts(total_tokens=30, reasoning_tokens=7)).reasoning_tokens == 7
        assert read_usage(counts(total_tokens=30, reasoning_tokens=0)).reasoning_tokens is None

    @pytest.mark.parametrize(
        "others",
        [
            {"cache_read_input_tokens": 400},
            {"cache_creation_input_tokens": 100, "cache_read_input_tokens": 300},
            {"prompt_tokens_details": {"cached_tokens": 400}},
        ],
    )
    def test_are_none_if_another_count_explains_the_total(self, others: dict[str, Any]) -> None:
        usage = counts(total_tokens=430, **others)
        assert read_usage(usage).completion_tokens == 10
        assert total_gap(usage) == (400, False)

    @pytest.mark.parametrize("total", [30, 29, 0, None, "430"])
    def test_are_none_without_such_a_total(self, total: Any) -> None:
        assert read_usage(counts(total_tokens=total)) == Usage(20, 10)
        assert total_gap(counts(total_tokens=total)) is None


class TestNames:
    def test_may_be_those_of_anthropic(self) -> None:
        usage = {"input_tokens": 20, "output_tokens": 10, "cache_read_input_tokens": 5}
        assert read_usage(usage) == Usage(20, 10, cached_tokens=5)

    @pytest.mark.parametrize("name", ["cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"])
    def test_of_tokens_from_a_cache(self, name: str) -> None:
        assert read_usage(counts(**{name: 16})).cached_tokens == 16

    def test_of_the_reference_come_first(self) -> None:
        usage = counts(input_tokens=1, prompt_tokens_details={"cached_tokens": 0}, cached_tokens=16)
        assert read_usage(usage) == Usage(20, 10, cached_tokens=0)


@pytest.mark.parametrize(
    ("value", "count"), [(5.0, 5), (5.5, None), (float("inf"), None), (-1.0, None), (True, None)]
)
def test_a_count_may_be_written_with_a_point(value: Any, count: int | None) -> None:
    assert read_usage(counts(prompt=value)).prompt_tokens == count
