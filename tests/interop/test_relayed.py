"""Requests that went through the relay find the trials that a log tells of."""

from __future__ import annotations

from pathlib import Path

from benchwright.endpoint.relay import RelayedRequest
from benchwright.endpoint.reply import Reply
from benchwright.interop.foreign_results import ForeignRun, ForeignScale, ForeignTarget, ForeignTrial
from benchwright.interop.relayed_requests import RelayedRequests
from benchwright.records import RequestRecord, Target
from benchwright.runs.journal import encode_json

BEGAN = 1_000_000
TARGET = Target("primary", "org/m", "http://127.0.0.1:9/v1")


def request(number: int, asked: str, answer: str = "", label: str = "") -> RelayedRequest:
    body = encode_json({"messages": [{"role": "user", "content": asked}]})
    record = RequestRecord(f"ours-{number}", started=10 * number, total=7, ttft=3)
    reply = Reply({"role": "assistant", "content": answer}, text=answer)
    return RelayedRequest("/chat/completions", body, record, reply, label=label)


def requests_of(relayed: RelayedRequests, *trials: ForeignTrial) -> list[list[RequestRecord]]:
    run = ForeignRun(
        "f", "p", Path("x"), "t", [ForeignTarget("primary", "relay/m")], {"s": ForeignScale()}, trials
    )
    return [trial.requests for trial in relayed.replace_requests_of_run(run, TARGET).trials]


def test_by_the_label_that_the_program_sent() -> None:
    relayed = RelayedRequests(BEGAN)
    relayed.add(request(1, "?", label="a"))
    theirs = [RequestRecord("a", "judge", turn=4, total=99), RequestRecord("b", total=99)]
    ((ours, left),) = requests_of(relayed, ForeignTrial("s", requests=theirs, started_at=BEGAN - 500))
    assert (ours.id, ours.role, ours.turn, ours.total, ours.ttft) == ("ours-1", "judge", 4, 7, 3)
    assert ours.started == 510, "counted from the start of its trial"
    assert left.total == 99, "which did not go through the relay"


def test_by_what_was_asked_and_answered_each_request_once() -> None:
    relayed = RelayedRequests(BEGAN)
    for number, answer in enumerate(["yes", "no", "yes"]):
        relayed.add(request(number, "Is it?", answer))
    said = [{"role": "user", "content": "Is it?"}]
    trials = [
        ForeignTrial(str(n), messages=said, answer=a) for n, a in enumerate(["yes", "yes", "yes", "no"])
    ]
    found = [[one.id for one in some] for some in requests_of(relayed, *trials)]
    assert found == [["ours-0"], ["ours-2"], [], ["ours-1"]]
    assert (relayed.joined, relayed.count) == (3, 3)


def test_the_run_is_of_the_model_behind_the_relay() -> None:
    run = ForeignRun(
        "f",
        "p",
        Path("x"),
        "t",
        [ForeignTarget("primary", "relay/m", "http://relay")],
        {},
        [],
        missing_data=["times"],
    )
    found = RelayedRequests(BEGAN).replace_requests_of_run(run, TARGET)
    assert (found.targets[0].model, found.targets[0].base_url) == ("org/m", "http://127.0.0.1:9/v1")
    assert found.missing_data == []
