"""The documented comparisons of texts and of sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.llm_benchmarker_api.evaluators.matching import (
    contains_match,
    exact_match,
    extract_set,
    jaccard_similarity,
    normalize,
    set_exact_match,
)


class TestTexts:
    def test_case_accents_punctuation_and_spaces_do_not_matter(self) -> None:
        assert normalize("  Élan,\n vital!! ") == "elan vital"
        assert normalize("ﬁne ½") == "fine 12"
        assert exact_match("The  Answer.", "the answer")
        assert not exact_match("the answers", "the answer")

    def test_inclusion_is_that_of_plain_text(self) -> None:
        assert contains_match("It is Paris, of course.", "paris")
        assert not contains_match("It is Par is.", "paris")
        assert contains_match("12", "2"), "as documented; the official graders of hle and mrcr are others"

    @given(st.text())
    def test_normalising_comes_to_rest(self, text: str) -> None:
        once = normalize(text)
        assert normalize(normalize(once)) == normalize(once)

    @given(st.text(), st.text())
    def test_what_is_equal_is_contained(self, one: str, other: str) -> None:
        assert not exact_match(one, other) or contains_match(one, other)


class TestSets:
    def test_brackets_and_quotes_are_taken_off_and_empty_items_left_out(self) -> None:
        assert extract_set("{a, 'b', \"c\"}") == {"a", "b", "c"}
        assert extract_set("[a,\n b,, ]") == {"a", "b"}
        assert extract_set("a\nb") == {"a", "b"}
        assert extract_set("[]") == extract_set(" ") == set()

    def test_brackets_that_do_not_surround_the_whole_stay(self) -> None:
        assert extract_set("see [a]") == {"see [a]"}

    def test_sets_are_equal_in_any_order(self) -> None:
        assert set_exact_match("[b, a]", {"a", "b"})
        assert not set_exact_match("[b]", {"a", "b"})

    def test_jaccard_is_the_share_of_the_union_that_both_have(self) -> None:
        assert jaccard_similarity({"a", "b", "c"}, {"b", "c", "d"}) == 2 / 4
        assert jaccard_similarity("a, b", ["a", "b"]) == 1.0

    def test_two_empty_sets_are_alike_and_one_alone_is_not(self) -> None:
        assert jaccard_similarity(set(), set()) == 1.0
        assert jaccard_similarity({"a"}, set()) == jaccard_similarity(set(), {"a"}) == 0.0

    @given(st.sets(st.text(min_size=1)), st.sets(st.text(min_size=1)))
    def test_jaccard_is_symmetric_bounded_and_one_only_for_equal_sets(
        self, one: set[str], other: set[str]
    ) -> None:
        value = jaccard_similarity(one, other)
        assert value == jaccard_similarity(other, one)
        assert 0 <= value <= 1
        assert (value == 1) == set_exact_match(one, other)
