"""Requests of another program that went through our relay.

The relay's records of these requests replace the records in the program's own log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from benchwright.endpoint.relay import RelayedRequest
from benchwright.interop.foreign_results import ForeignRun, ForeignTarget, ForeignTrial
from benchwright.interop.untrusted_files import text_or_empty
from benchwright.records import DECODE_ERRORS, RequestRecord, Target


class RelayedRequests:
    """Collects the requests that went through the relay. Their times count from `began` (wall-clock ns).

    A relayed request is matched with a request in the log by its label, if the program sends one. Otherwise it
    is matched by its messages and its answer.
    """

    def __init__(self, began: int) -> None:
        self.began = began
        self.count = 0
        self.joined = 0
        self._by_label: dict[str, RequestRecord] = {}
        self._by_content: defaultdict[tuple[str, str], list[RequestRecord]] = defaultdict(list)

    def add(self, request: RelayedRequest) -> None:
        """Register a request that has ended."""
        self.count += 1
        if request.label:
            self._by_label[request.label] = request.record
        elif request.reply is not None:
            self._by_content[_asked(request.body), request.reply.text].append(request.record)

    def replace_requests_of_run(self, run: ForeignRun, target: Target) -> ForeignRun:
        """Return the run with the relay's records of requests and times in place of the run's own.

        `target`: the model behind the relay.
        """
        (asked,) = run.targets
        real = ForeignTarget(asked.slot, target.model, target.base_url, asked.settings)
        return run._replace(
            targets=[real],
            trials=self._joined(run.trials),
            missing_data=[],
            notes=["Its requests went through the relay of Benchwright: their times are ours.", *run.notes],
        )

    def _joined(self, trials: Any) -> Iterator[ForeignTrial]:
        for trial in trials:
            yield msgspec.structs.replace(trial, requests=self._requests(trial))

    def _requests(self, trial: ForeignTrial) -> list[RequestRecord]:
        if not trial.requests:
            return [self._moved(one, trial, 0, "model") for one in self._by_answer(trial)]
        found = []
        for theirs in trial.requests:
            ours = self._by_label.get(theirs.id)
            found.append(theirs if ours is None else self._moved(ours, trial, theirs.turn, theirs.role))
        return found

    def _by_answer(self, trial: ForeignTrial) -> Sequence[RequestRecord]:
        asked = _contents(trial.messages)
        same = self._by_content.get((asked, trial.answer))
        return [same.pop(0)] if same else []

    def _moved(self, ours: RequestRecord, trial: ForeignTrial, turn: int, role: str) -> RequestRecord:
        self.joined += 1
        since = self.began - trial.started_at if trial.started_at else 0
        return msgspec.structs.replace(ours, started=ours.started + since, turn=turn, role=role)


def _asked(body: bytes) -> str:
    """Return the content by which a request is matched: the texts of its messages except the model's, or its
    prompt.
    """
    try:
        fields = msgspec.json.decode(body)
    except DECODE_ERRORS:
        return ""
    if not isinstance(fields, dict):
        return ""
    return _contents(fields["messages"]) if "messages" in fields else text_or_empty(fields.get("prompt"))


def _contents(messages: object) -> str:
    found: list[Mapping[str, Any]] = (
        [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    )
    return "\n".join(text_or_empty(one.get("content")) for one in found if one.get("role") != "assistant")
