"""MultiChallenge: the conversation as it is, what the judge is asked, and what its reply means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import Talk, asked, figures, graded, scored

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.multichallenge.grading import OFFICIAL_JUDGE, read_verdict
from benchwright.catalog.registry import find_about
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.errors import DatasetError
from benchwright.errors import GraderError

SAID = [
    {"role": "user", "content": "I eat no nuts."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "Plan a dinner."},
]
ROW = {
    "QUESTION_ID": "q1",
    "AXIS": "INFERENCE_MEMORY",
    "CONVERSATION": SAID,
    "TARGET_QUESTION": "Is it free of {nuts}?",
    "PASS_CRITERIA": "YES",
}
CONTENT = {"conversation": SAID, "question": "Is it free of {nuts}?", "passes": "YES"}


def judged(judge: str = OFFICIAL_JUDGE) -> Benchmark:
    return benchmark("multichallenge", {"judge_model": judge}, ["judge"])


async def test_conversations_pass_where_the_judge_says_so(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "test.jsonl", [ROW, {**ROW, "QUESTION_ID": "q2", "PASS_CRITERIA": "NO"}])
    played = await validate_benchmark(judged(), source("multichallenge", path))
    assert (played.samples, played.failures) == (2, [])
    assert (await validated("multichallenge", path)).failures == []


async def test_the_conversation_is_asked_as_it_is(tmp_path: Path) -> None:
    (sample,) = samples("multichallenge", write_rows(tmp_path / "test.jsonl", [ROW]))
    assert (sample.id, sample.labels) == ("q1", {"axis": "INFERENCE_MEMORY"})
    assert await asked(benchmark("multichallenge"), sample) == (SAID, {})


def test_rows_of_the_hub_have_names_in_small_letters(tmp_path: Path) -> None:
    rows = [{name.lower(): value for name, value in ROW.items()} | {"num_turns": 2}]
    (sample,) = samples("multichallenge:hub", write_rows(tmp_path / "test.jsonl", rows))
    assert sample.content == CONTENT


async def test_the_judge_sees_the_answer_and_the_question_and_no_conversation() -> None:
    talk = Talk(judge=['{"reasoning": "No nut.", "verdict": "YES"}'])
    score = await scored(judged(), CONTENT, "Rice with {beans}.", talk)
    assert (score.value, score.span) == (1.0, "YES")
    ((role, messages, params),) = talk.asked
    text = messages[0]["content"]
    assert role == "judge"
    assert "<MODEL_RESPONSE>\nRice with {beans}.\n</MODEL_RESPONSE>" in text
    assert "<CRITERIA>\nIs it free of {nuts}?\n</CRITERIA>" in text
    assert "I eat no nuts" not in text
    assert (params["slot"], params["temperature"]) == ("judge", 0.0)


@pytest.mark.parametrize(("judge", "schema"), [(OFFICIAL_JUDGE, True), ("some-judge", False)])
async def test_only_the_official_judge_is_asked_for_a_schema(judge: str, schema: bool) -> None:
    talk = Talk(judge=["YES"])
    await scored(judged(judge), CONTENT, "Rice.", talk)
    assert ("response_format" in talk.asked[0][2]) is schema


async def test_without_a_judge_the_model_judges_itself_which_is_marked() -> None:
    talk = Talk(judge=["NO"])
    score = await scored("multichallenge", CONTENT, "Nuts.", talk)
    assert (score.value, "slot" in talk.asked[0][2]) == (0.0, False)
    assert "the model judges its own answers" in benchmark("multichallenge").departures[0]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("It has none.\n\nYES", "YES"),
        ('The criterion says "YES", but no: **NO**.', "NO"),
        ('{"reasoning": "YES?", "verdict": "NO"}', "NO"),
        ('{"reasoning": "YES", "verdict": "maybe"}', None),
        ('{"reasoning": "YES", "verdict": null}', None),
        ('{"reasoning": "YES"}', None),
        ("yes", None),
        ("NOTHING OF IT", None),
        ("", None),
    ],
)
def test_the_verdict_is_the_last_word_or_that_of_the_json(said: str, verdict: str | None) -> None:
    assert read_verdict(said) == verdict


async def test_a_judge_without_a_verdict_is_a_failure_and_no_wrong_answer() -> None:
    with pytest.raises(GraderError, match="neither YES nor NO: 'Hm'"):
        await scored(judged(), CONTENT, "Rice.", Talk(judge=["Hm"]))


async def test_a_blank_answer_has_no_score_and_is_not_judged() -> None:
    talk = Talk()
    assert ((await scored(judged(), CONTENT, " \n", talk)).value, talk.asked) == (None, [])


def test_the_published_score_is_the_unweighted_mean_over_axes() -> None:
    scores = [graded(1.0, labels={"axis": "A"})] + [graded(0.0, labels={"axis": "B"})] * 3
    assert figures(judged(), scores) == {"macro_axis": 0.5}


def test_another_judge_is_a_departure() -> None:
    assert judged().departures == ()
    assert judged("o3-mini").departures == (f"judged by o3-mini; published figures use {OFFICIAL_JUDGE}",)


def test_the_sets_have_their_sizes() -> None:
    assert (find_about("multichallenge").items, find_about("multichallenge:hub").items) == (273, 266)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"CONVERSATION": SAID[:2]}, "does not end with a message of the user"),
        ({"PASS_CRITERIA": "MAYBE"}, "Invalid enum value 'MAYBE'"),
    ],
)
def test_a_bad_row_is_told_with_its_number(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    path = write_rows(tmp_path / "test.jsonl", [ROW, {**ROW, **changed}])
    with pytest.raises(DatasetError) as caught:
        samples("multichallenge", path)
    assert "Row 1" in str(caught.value)
    assert said in str(caught.value)
