"""Scripts for the simulated endpoint: a model that knows some of a benchmark's answers, and a user if it needs one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.catalog.catalog_kit import benchmark, source

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import Benchmark, Check
from benchwright.endpoint.reply import Reply
from benchwright.engine.offload import offload_processes
from benchwright.records import Message, Sample, Target, Trial

TARGET = Target("primary", "m", "http://127.0.0.1:9/v1")


NONSENSE = Check("nonsense", [assistant("Something else entirely.")], passes=False)
"""What a model says wrongly where a benchmark has no decoy in words."""


class _Enough(Exception):
    """The conversation has been heard."""


class _Listener:
    """A session that plays a check and notes with which words conversations open; a simulated user says `hello`.

    `openings` maps the opening of each conversation with the model to the number of its first reply.
    """

    target = TARGET

    def __init__(self, check: Check, hello: str) -> None:
        self.openings: dict[str, int] = {}
        self.user_opening = ""
        self.judge_opening = ""
        self._judgement = "".join(check.judge_replies[:1])
        self._replies = check.replies
        self._hello = hello
        self._turn = 0

    async def chat(self, messages: Sequence[Message], *, role: str = "model", **params: Any) -> Reply:
        texts = [_text_of(message.get("content")) for message in messages]
        if role == "user":
            self.user_opening = texts[0]
            return Reply({"role": "assistant", "content": self._hello}, text=self._hello)
        if role == "judge":
            self.judge_opening = texts[-1]
            return Reply(assistant(self._judgement), text=self._judgement)
        return self._reply(
            next(text for text, one in zip(texts, messages, strict=True) if one["role"] == "user")
        )

    async def complete(self, prompt: str, **params: Any) -> Reply:
        return self._reply(prompt)

    def _reply(self, opening: str) -> Reply:
        self.openings.setdefault(opening, self._turn)
        if self._turn == len(self._replies):
            raise _Enough
        message = self._replies[self._turn]
        self._turn += 1
        return Reply(message, text=message.get("content") or "", tool_calls=message.get("tool_calls") or [])

    async def count_tokens(self, text: str) -> int | None:
        return None

    def progress(self, text: str) -> None:
        """Shows nothing."""


def _text_of(content: Any) -> str:
    """What a script is found by: the texts of a message, without its pictures."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    return str(content or "")


async def scripts(name: str, path: Path, wrong: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Scripts of a model that answers all samples rightly but those with these numbers."""
    task = benchmark(name)
    found: list[dict[str, Any]] = []
    for number, sample in enumerate(task.samples(source(name, path))):
        gold, *others = task.checks(sample)
        check = next(filter(_says_something_wrong, others), NONSENSE) if number in wrong else gold
        found += await _scripts_of(task, sample, check)
    return found


def _says_something_wrong(check: Check) -> bool:
    return not check.passes and all(
        reply.get("content") or reply.get("tool_calls") for reply in check.replies
    )


async def _scripts_of(task: Benchmark, sample: Sample, check: Check) -> list[dict[str, Any]]:
    hello = f"Hello, this is about {sample.id}."
    listener = _Listener(check, hello)
    async with offload_processes(), task.open() as solver:
        try:
            outcome = await solver.solve(Trial("t", sample, TARGET), listener)  # type: ignore[arg-type]
            if check.judge_replies:
                await task.scorers[0].score(sample, outcome, listener)  # type: ignore[arg-type]
        except _Enough:
            pass
    replies = check.replies
    if task.about.variant == "5shot":
        right = sample.content["answer"]
        replies = [assistant(f" {right if check.passes else 'BCDA'['ABCD'.index(right)]}")]
    last = len(replies) - 1
    found = [
        {"prompt": text, "replies": replies[min(turn, last) :]} for text, turn in listener.openings.items()
    ]
    if listener.user_opening:
        lines = [
            assistant(line) if isinstance(line, str) else line for line in (hello, *check.user_replies[1:])
        ]
        found.append({"prompt": listener.user_opening, "replies": lines})
    if listener.judge_opening:
        found.append({"prompt": listener.judge_opening, "replies": [assistant(check.judge_replies[0])]})
    return found
