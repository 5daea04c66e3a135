"""What the tests of judges share: a server with a model that errs and a judge that errs, and people who do not."""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.app.app_kit import Program
from tests.http_server import QuietHandler, served_by

LONG = 400
"""Characters of an answer that the judge takes for a sign of quality."""


OF_BENCHMARKS = {
    "Predicted answer: ": ("A", "B"),
    "CANDIDATE ANSWER TO ASSESS: ": ("CORRECT", "INCORRECT"),
    "<MODEL_RESPONSE>\n": ("So it is.\n\nYES", "So it is not.\n\nNO"),
}
"""What stands before the answer in the prompts of benchmarks, and what their judges say of a right and a wrong one."""


def answer_to(number: int) -> str:
    """What the model answers to question `number`: seven of ten rightly."""
    return f"right {number}" if number % 10 < 7 else f"wrong {number}"


def is_right(answer: str) -> bool:
    """What people say of an answer."""
    return answer.startswith("right")


def verdict_on(answer: str, *, strict: bool) -> bool:
    """What the judge says: it lets one in three wrong answers pass, and all long ones, unless it is `strict`."""
    lenient = not strict and (answer.endswith("7") or len(answer) > LONG)
    return is_right(answer.split("\n")[-1]) or lenient


def _reply(body: dict[str, Any]) -> str:
    text = body["messages"][-1]["content"]
    if "judge" not in body["model"]:
        return answer_to(int(re.findall(r"\d+", text)[-1]))
    for before, (right, wrong) in OF_BENCHMARKS.items():
        if before in text:
            predicted = text.rsplit(before, 1)[1].split("\n")[0]
            return right if verdict_on(predicted, strict=False) else wrong
    found = re.search(r"<<ANSWER \w+>>\n(.*?)\n<<END ANSWER", text, re.DOTALL)
    assert found is not None
    return f"So it is.\nSCORE: {int(verdict_on(found[1], strict=body['model'] == 'strict-judge'))}"


class JudgeServer:
    """Its address, the bodies that judges were sent, and the seconds that a verdict takes."""

    def __init__(self) -> None:
        self.base_url = ""
        self.judged: list[dict[str, Any]] = []
        self.seconds = 0.0


@contextmanager
def judge_server() -> Iterator[JudgeServer]:
    """A server with the models `m`, `judge` and `strict-judge`."""
    server = JudgeServer()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if "judge" in body["model"]:
                server.judged.append(body)
                time.sleep(server.seconds)
            message = {"role": "assistant", "content": _reply(body)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
            whole = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
            self.answer(200, json.dumps({**whole, "choices": [choice], "usage": usage}).encode())

        def do_GET(self) -> None:
            self.answer(
                200, json.dumps({"data": [{"id": name} for name in ("m", "judge", "strict-judge")]}).encode()
            )

    with served_by(Handler) as address:
        server.base_url = f"{address}/v1"
        yield server


def judging(base_url: str, *more: str) -> list[str]:
    """The arguments of an evaluation that the judge scores."""
    return ["eval", "-d", "rows.jsonl", "--scorer", "judge", "--judge-model", "judge", "--model", "m",
            "--base-url", base_url, "--no-stream", "--concurrency", "16", "-q", *more]  # fmt: skip


def write_questions(program: Program, count: int) -> None:
    """Rows whose right answer to question n is `right n`."""
    rows = ({"prompt": f"Question {n}", "answer": f"right {n}", "id": f"q{n}"} for n in range(count))
    program.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def read_form(path: Path) -> list[dict[str, str]]:
    """The rows of a form."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def label_form(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Labels these rows as people do, and writes them back."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": int(is_right(row["answer"]))} for row in rows)
