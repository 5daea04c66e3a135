"""Synthetic requests as a task of the engine: a trial is a prompt, or a conversation of several turns."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, cast

from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.lengths import LengthDistribution
from benchwright.app.load.synthetic.message_parts import make_image_part, tool_definition
from benchwright.app.load.synthetic.model_mix import ModelMix
from benchwright.app.load.synthetic.words import VERSION, make_words
from benchwright.engine.answers import answer_status
from benchwright.engine.precise_waits import wait_until
from benchwright.engine.protocols import ScheduledTurn, Scorer, Session, TimedSession
from benchwright.records import Message, Outcome, Record, Sample, TaskSpec, Trial
from benchwright.runs.keys import fingerprint

CONTINUE_INSTRUCTION = "Go on with this text, and do not stop:"


class ConversationShape(Record, frozen=True):
    """Shape of synthetic conversations.

    `input`: length of each user message. `output`: maximum tokens of a response. `turns`: number of turns,
    each sent `think` seconds after the previous response. `prefix`: length of a system prompt that all share.
    `images`: number of images in each message, of `image_size` pixels. `tools`: number of tool definitions.
    `mix`: weights of the models, one of which is drawn for each conversation.
    """

    input: LengthDistribution
    output: LengthDistribution | None = None
    turns: int = 1
    think: float = 0.0
    prefix: int = 0
    images: int = 0
    image_size: tuple[int, int] = (512, 512)
    tools: int = 0
    mix: Mapping[str, float] = {}

    @property
    def has_random_parts(self) -> bool:
        """True if anything besides the words and the model is drawn at random, such as lengths or images."""
        return bool(self.images) or any(
            lengths is not None and lengths.kind != "constant" for lengths in (self.input, self.output)
        )


UNUSED_GENERATOR = random.Random(0)
"""Random generator that is passed on where no random number is drawn.

Seeding a new generator costs more than a prompt.
"""


class SyntheticTask:
    """Task of endless synthetic conversations of one shape, determined by `seed`."""

    def __init__(self, shape: ConversationShape, calibration: Calibration, seed: str) -> None:
        self._shape = shape
        self._calibration = calibration
        self._seed = seed
        self.spec = TaskSpec(
            name="synthetic",
            version=VERSION,
            fingerprint=fingerprint("synthetic", VERSION, shape, calibration),
        )
        self.scorers: Sequence[Scorer] = ()

    def samples(self) -> Iterator[Sample]:
        """Yield one sample for each conversation (its seed), without end."""
        for number in count():
            yield Sample(str(number), f"{self._seed}:{number}")

    def size(self) -> int:
        """Return 1, because the number of conversations is not limited."""
        return 1

    @asynccontextmanager
    async def open(self) -> AsyncIterator[SyntheticSolver]:
        """Yield the solver that holds the conversations."""
        yield SyntheticSolver(self._shape, self._calibration, self._seed)


class SyntheticSolver:
    """Solver that holds conversations of a shape with the model."""

    def __init__(self, shape: ConversationShape, calibration: Calibration, seed: str) -> None:
        self._shape = shape
        self._is_drawn = shape.has_random_parts
        self._calibration = calibration
        self._models = ModelMix(shape.mix, seed)
        tools = {"tools": [tool_definition(number) for number in range(shape.tools)], "tool_choice": "none"}
        self._more: dict[str, Any] = tools if shape.tools else {}
        words = round(shape.prefix / calibration.per_word)
        prefix = make_words(f"prefix:{seed}", words).decode().strip()
        self._opening: list[Message] = [{"role": "system", "content": prefix}] if words else []

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send the turns of a conversation one after another. Return its outcome."""
        shape, timed = self._shape, cast(TimedSession, session)
        rng = random.Random(trial.sample.content) if self._is_drawn else UNUSED_GENERATOR
        fields = {**self._more, **self._models.request_fields(trial.sample.content)}
        messages, due = list(self._opening), timed.intended_start
        for number in range(shape.turns):
            if number and timed.last_start is not None and due >= timed.last_start:
                await wait_until(timed.last_start)  # a new conversation in its place would be cut off at once
                break
            messages.append(self._message(rng, f"{trial.sample.content}:{number}"))
            if shape.output is not None:
                fields["max_tokens"] = shape.output.draw(rng)
            turn = ScheduledTurn(number, due) if shape.turns > 1 else None
            reply = await session.chat(messages, turn=turn, **fields)
            messages.append(reply.message)
            due = timed.actual_start + reply.record.started + reply.record.total + round(shape.think * 1e9)
        status, reason = answer_status(reply)
        return Outcome(status, messages, reply.text, reason)

    def _message(self, rng: random.Random, seed: str) -> Message:
        text = synthetic_prompt(self._calibration.words_for_tokens(self._shape.input.draw(rng)), seed)
        if not self._shape.images:
            return {"role": "user", "content": text}
        pictures = [make_image_part(*self._shape.image_size, rng) for _ in range(self._shape.images)]
        return {"role": "user", "content": [*pictures, {"type": "text", "text": text}]}


def synthetic_prompt(words: int, seed: str) -> str:
    """Return a prompt: an instruction, followed by this many words."""
    return CONTINUE_INSTRUCTION + make_words(seed, words).decode("ascii")
