"""An endpoint whose models answer as a matrix says: right or wrong, sample by sample."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.http_server import QuietHandler, served_by

QUESTION = "Question {number}?"
"""What a row asks; its number is the right answer."""

Delay = Callable[[str, int], float]
"""(model, question) -> seconds that an answer takes."""


class MatrixServer:
    """What it was asked: how often, by model and question. `failing` questions are answered by errors, by model.

    `right` is the share of the times at which a model answers a question rightly.
    """

    def __init__(self, right: Mapping[str, Sequence[float]]) -> None:
        self.base_url = ""
        self.right = right
        self.asked: Counter[tuple[str, int]] = Counter()
        self.failing: dict[str, set[int]] = {}
        self.delay: Delay = lambda model, number: 0.0
        self._lock = threading.Lock()

    def answer(self, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the body of an answer."""
        model, text = str(body["model"]), str(body["messages"][-1]["content"])
        number = int(re.findall(r"\d+", text)[-1])
        with self._lock:
            self.asked[model, number] += 1
            times, share = self.asked[model, number], self.right[model][number]
        time.sleep(self.delay(model, number))
        if number in self.failing.get(model, ()):
            return 400, {"error": {"message": "this one I refuse to hear"}}
        content = str(number) if int(times * share) > int((times - 1) * share) else "I do not know"
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        return 200, {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}


@contextmanager
def matrix_server(right: Mapping[str, Sequence[float]]) -> Iterator[MatrixServer]:
    """Serves models by name; `right` has a share for each question, see `MatrixServer`. It does not stream."""
    server = MatrixServer(right)

    class Handler(QuietHandler):
        wbufsize = (
            1 << 16
        )  # head and body in one piece, or the second waits 40 ms for the first to be acknowledged

        def do_GET(self) -> None:
            models = [{"id": model, "object": "model"} for model in right]
            self.answer(200, json.dumps({"object": "list", "data": models}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, answer = server.answer(body)
            self.answer(status, json.dumps(answer).encode())

    with served_by(Handler) as address:
        server.base_url = f"{address}/v1"
        yield server


def rows(count: int) -> str:
    """The dataset, as JSON lines."""
    return "".join(
        json.dumps({"prompt": QUESTION.format(number=number), "target": str(number)}) + "\n"
        for number in range(count)
    )
