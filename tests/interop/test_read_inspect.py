"""Logs of Inspect: what each part of a sample becomes, and what a damaged log is told as."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.interop.foreign_kit import run_of
from tests.interop.inspect_kit import MODEL, header, sample, write_log

from benchwright.interop import inspect_log
from benchwright.interop.foreign_results import ForeignTrial, UnreadableResults
from benchwright.interop.inspect_sample import trial_of
from benchwright.records import Status, Usage


def trial(**more: Any) -> ForeignTrial:
    return trial_of(sample(1, **more), MODEL, "a log")


@pytest.mark.parametrize(
    ("value", "worth"),
    [
        ("C", 1.0),
        ("P", 0.5),
        ("I", 0.0),
        ("N", 0.0),
        (True, 1.0),
        (0.25, 0.25),
        ("yes", 1.0),
        ("False", 0.0),
        ("2.5", 2.5),
    ],
)
def test_marks_words_and_numbers_are_scores(value: Any, worth: float) -> None:
    assert trial(value=value).scores["match"].value == worth


def test_another_word_is_a_label_and_no_score() -> None:
    found = trial(value="even")
    assert found.scores == {}
    assert found.labels["match"] == "even"


def test_each_part_of_a_mapping_is_a_score() -> None:
    assert {name: one.value for name, one in trial(value={"near": 0.5, "short": True}).scores.items()} == {
        "match.near": 0.5,
        "match.short": 1.0,
    }


def test_each_part_of_a_list_is_a_score_by_its_place() -> None:
    found = trial(value=["C", 0.5, "even"])
    assert {name: one.value for name, one in found.scores.items()} == {"match.0": 1.0, "match.1": 0.5}
    assert found.labels["match.2"] == "even"


def test_a_list_too_long_for_scores_is_told() -> None:
    found = trial(value=[1.0] * 1000)
    assert found.scores == {}
    assert "a list of more than 64 values" in found.remarks[0]


def test_what_was_marked_as_invalid_has_no_score() -> None:
    found = trial(invalidation={"timestamp": "2026-11-22T10:00:00Z", "author": "me", "reason": "wrong image"})
    assert (found.status, found.reason, found.scores) == (Status.EXECUTION_ERROR, "wrong image", {})
    assert found.remarks


@pytest.mark.parametrize("value", [float("nan"), None, []])
def test_what_is_no_number_is_no_score(value: Any) -> None:
    assert trial(value=value).scores == {}


def test_the_answer_and_the_reason_of_a_score_are_kept() -> None:
    score = trial().scores["match"]
    assert (score.span, score.explanation) == ("an answer", "because")


def test_epochs_are_repeats_from_0() -> None:
    assert [trial(epoch=epoch).repeat for epoch in (1, 3)] == [0, 2]


def test_an_error_is_a_failure_without_a_score() -> None:
    found = trial(error={"message": "RuntimeError('gone')", "traceback": ""}, scores={})
    assert (found.status, found.reason, found.scores) == (Status.EXECUTION_ERROR, "RuntimeError('gone')", {})


def test_an_error_that_was_scored_all_the_same_counts_by_its_score() -> None:
    found = trial(error={"message": "RuntimeError('late')"})
    assert (found.status, found.labels["error"]) == (Status.ANSWERED, "RuntimeError('late')")


def test_what_was_cut_off_with_the_log_says_nothing_of_the_model() -> None:
    assert trial(error={"message": "CancelledError('scope')"}, scores={}).status is Status.CANCELLED


def test_a_limit_keeps_its_score() -> None:
    found = trial(limit={"type": "message", "limit": 8.0})
    assert (found.status, found.reason, found.scores["match"].value) == (Status.LIMIT, "message limit", 1.0)


def test_an_answer_that_was_cut_is_truncated() -> None:
    assert trial(output={"choices": [{"stop_reason": "max_tokens"}]}).status is Status.TRUNCATED


def test_tokens_from_a_cache_are_part_of_the_prompt() -> None:
    usage = {
        MODEL: {"input_tokens": 10, "output_tokens": 5, "input_tokens_cache_read": 90, "reasoning_tokens": 3}
    }
    (request,) = trial(model_usage=usage).requests
    assert request.usage == Usage(100, 5, 90, 3)


def test_without_events_no_time_of_a_request_is_known() -> None:
    (request,) = trial().requests
    assert (request.role, request.total) == ("model", 0)


def test_the_judges_requests_are_not_the_models() -> None:
    events = [
        {"event": "model", "model": MODEL, "working_time": 0.5, "output": {"usage": {"output_tokens": 7}}},
        {"event": "model", "model": MODEL, "role": "grader", "output": {}},
        {"event": "model", "model": "openai/other", "output": {}},
    ]
    found = trial(events=events).requests
    assert [(one.role, one.total) for one in found] == [
        ("model", 500_000_000),
        ("grader", 0),
        ("openai/other", 0),
    ]


def test_a_tool_call_has_its_arguments_as_text() -> None:
    call = {"id": "1", "function": "look", "arguments": {"word": "x"}, "type": "function"}
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "found", "tool_call_id": "1"},
    ]
    asked, answered = trial(messages=messages).messages
    assert asked["tool_calls"] == [
        {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"word": "x"}'}}
    ]
    assert answered["tool_call_id"] == "1"


def test_reasoning_is_no_part_of_what_was_said() -> None:
    content = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "four"}]
    (message,) = trial(messages=[{"role": "assistant", "content": content}]).messages
    assert (message["content"], message["reasoning_content"]) == ("four", "hm")


def test_attachments_are_put_in_their_places() -> None:
    picture = [{"type": "image", "image": "attachment://k1"}]
    messages = [{"role": "user", "content": "attachment://k2"}, {"role": "user", "content": picture}]
    found = trial(
        messages=messages, attachments={"k1": "data:image/png;base64,AA", "k2": "long text"}
    ).messages
    assert found[0]["content"] == "long text"
    assert found[1]["content"][0]["image_url"]["url"] == "data:image/png;base64,AA"


def test_choices_are_part_of_the_question() -> None:
    assert trial(choices=["red", "blue"]).input == "What is 1 + 1?\nA) red\nB) blue"


def test_the_members_of_an_archive_are_the_trials(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", [sample(1, "C"), sample("two/three", "I")])
    run, trials = run_of(log)
    assert [(one.sample, one.scores["match"].value) for one in trials] == [("1", 1.0), ("two/three", 0.0)]
    assert (run.task, run.program, run.state, run.planned_trials) == (
        "sums",
        "Inspect 0.3.285",
        "finished",
        2,
    )


def test_a_log_that_was_never_ended_is_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": header(5)["eval"]}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample(1)))
    run, trials = run_of(path)
    assert (run.state, len(trials)) == ("unfinished", 1)


def test_a_json_log_is_read_like_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**header(1), "samples": [sample(1)]}))
    assert inspect_log.recognises(path)
    assert [one.sample for one in run_of(path)[1]] == ["1"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(field=st.sampled_from(sorted(sample(1))), value=JSON)
@settings(max_examples=150)
def test_any_field_of_a_sample_may_be_anything(field: str, value: Any) -> None:
    with suppress(UnreadableResults):
        trial_of({**sample(1), field: value}, MODEL, "a log")


@given(field=st.sampled_from(sorted(header(1)["eval"])), value=JSON)
@settings(max_examples=100)
def test_any_field_of_a_header_may_be_anything(
    field: str, value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = write_log(tmp_path_factory.mktemp("log") / "a.eval", [sample(1)], **{field: value})
    with suppress(UnreadableResults):
        assert len(run_of(log)[1]) == 1


def test_an_archive_that_is_cut_short_is_told(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", [sample(1)])
    log.write_bytes(log.read_bytes()[:-30])
    with pytest.raises(UnreadableResults, match=r"a\.eval is not a zip archive, or is cut short"):
        inspect_log.read(log)


def test_a_damaged_member_is_a_trial_that_failed(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", [sample(1), sample(2)])
    content = bytearray(log.read_bytes())
    content[60:90] = bytes(30)
    log.write_bytes(bytes(content))
    damaged, whole = run_of(log)[1]
    assert (damaged.sample, damaged.status, damaged.is_damaged) == ("1", Status.EXECUTION_ERROR, True)
    assert "samples/1_epoch_1.json" in (damaged.reason or "")
    assert whole.scores["match"].value == 1.0


MEANS = {
    "pair_a.eval": {"match": (27, 0.5926)},
    "errors.eval": {"match": (10, 0.6)},
    "cancelled.eval": {"match": (5, 0.8)},
    "agent.eval": {"includes": (4, 0.5), "model_graded_qa": (4, 0.5)},
    "scorers.eval": {"letters": (8, 0.6875), "parts.closeness": (8, 0.8), "sometimes": (7, 0.2857)},
    "reducers.json": {"match": (10, 0.6)},
}
"""How many values Inspect had of each score, and its mean."""


@pytest.mark.parametrize("name", MEANS)
def test_real_logs_have_the_means_that_inspect_gave(name: str, real_rows: Path) -> None:
    _, trials = run_of(real_rows / "interop" / "inspect" / name)
    values: dict[str, list[float]] = {}
    for one in trials:
        for score, found in one.scores.items():
            assert found.value is not None
            values.setdefault(score, []).append(found.value)
    for score, (count, mean) in MEANS[name].items():
        assert len(values[score]) == count
        assert sum(values[score]) / count == pytest.approx(mean, abs=5e-5)


def test_statuses_of_a_real_log_with_errors(real_rows: Path) -> None:
    _, trials = run_of(real_rows / "interop" / "inspect" / "errors.eval")
    assert Counter(one.status for one in trials) == {
        Status.ANSWERED: 6,
        Status.LIMIT: 4,
        Status.EXECUTION_ERROR: 2,
    }
