"""Settings of a simulated endpoint: its answers, its speed, and its faults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchwright.endpoint.simulate.quirks import QUIRKS
from benchwright.endpoint.simulate.scripts import Script
from benchwright.endpoint.simulate.timing import NO_DELAY, Delay
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS, Record
from benchwright.suggestions import did_you_mean


class ScriptedCall(Record, frozen=True):
    """A tool call for the model to make: the tool's name and the arguments."""

    name: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)


ToolTurn = ScriptedCall | list[ScriptedCall]
"""The tool calls of one turn: one call, or a list of several at once."""


class KeyedAnswer(Record, frozen=True):
    """The right answer to a prompt.

    `tool_calls`: the calls that are made first, turn by turn, if tools are offered. `answer`: the answer;
    None if the last tool result is the answer.
    """

    prompt: str
    answer: str | None = None
    tool_calls: tuple[ToolTurn, ...] = ()


class Faults(Record, frozen=True):
    """Rates of bad answers: one rate (0 to 1) per kind of fault. A request gets at most one fault.

    `retry_after`: the seconds sent in Retry-After; sent as an HTTP date if `retry_after_date` is True.
    `max_faults`: the maximum number of faults. `quirks`: a mapping from a quirk's name to its rate. Quirks
    apply to chat completions only.

    A stalled or slow answer is complete in the end, and so is an answer with a quirk. With any other fault
    the client gets no answer.
    """

    rate_limit: float = 0.0
    server_error: float = 0.0
    reset: float = 0.0
    stall: float = 0.0
    truncate: float = 0.0
    malformed: float = 0.0
    slow_headers: float = 0.0
    retry_after: float = 1.0
    retry_after_date: bool = False
    stall_seconds: float = 30.0
    slow_header_seconds: float = 2.0
    max_faults: int | None = None
    quirks: dict[str, float] = {}

    @property
    def rates(self) -> dict[str, float]:
        """Rates of all kinds of fault, in the order of `ALL_FAULTS`, in which quirks come last."""
        rates = {kind: getattr(self, kind) for kind in FAULT_KINDS}
        return rates | {name: self.quirks.get(name, 0.0) for name in QUIRKS}

    def __post_init__(self) -> None:
        rates = self.rates
        for kind, rate in (*rates.items(), *self.quirks.items()):
            if kind not in rates:
                raise UserError(f"There is no fault {kind!r}.{did_you_mean(kind, rates)}")
            if not 0 <= rate <= 1:
                raise UserError(f"The rate of the fault {kind} must be between 0 and 1, not {rate:g}.")
        if sum(rates.values()) > 1 + 1e-9:
            raise UserError(f"The fault rates add up to {sum(rates.values()):g}; together they may reach 1.")


BLOCK_SIZE = 16
"""Number of tokens per cache block, as in vLLM."""

FAULT_KINDS = ("rate_limit", "server_error", "reset", "stall", "truncate", "malformed", "slow_headers")
ALL_FAULTS = (*FAULT_KINDS, *QUIRKS)
NO_FAULTS = Faults()


class Settings(Record, frozen=True):
    """All settings of a simulated endpoint except its address.

    A conversation is answered from one of `scripts` if it contains that script's prompt. A prompt found in
    `answers` gets the answer given there, put into `answer_template`. `accuracy` is the share of these
    prompts that are answered correctly; the other prompts in `answers` get a wrong answer. A prompt that is
    neither in `scripts` nor in `answers` is answered according to `policy`: with the last user message
    itself, `words` synthetic words, gibberish, or a refusal. `reasoning` precedes every answer.
    `reasoning_style` names the field for the reasoning, or puts it into the text. With `call_tools`, the
    model makes one call of the first tool offered. `tool_calls` are the calls to make, turn by turn.

    `models` are the names of the models served. If it is empty, every name is served. With `chat_only` there
    are no other dialects. `split` cuts every piece of an answer in two at a seeded place. The two pieces are
    sent a millisecond apart as separate HTTP chunks. `truth_file` gets one JSON line per request. The last
    `truth_kept` of these records stay in memory.

    Each process answers at most `slots` requests at once. Further requests wait, and the delay to their first
    token begins when they get a slot. With `cache_blocks`, each process has a prefix cache of that many
    blocks of `block_size` tokens. A prompt that starts with the same tokens as an earlier prompt reuses the
    cached blocks, and usage reports the number of cached tokens. If no block is left for a running request,
    another request is preempted and waits again. `prefill` is the number of uncached prompt tokens computed
    per second; None if all are computed at once.

    Raises:
        UserError: If a value is out of its range.
    """

    models: tuple[str, ...] = ()
    chat_only: bool = False
    api_key: str | None = None
    seed: int = 0
    policy: Literal["echo", "words", "gibberish", "refusal"] = "echo"
    words: int = 32
    answers: tuple[KeyedAnswer, ...] = ()
    scripts: tuple[Script, ...] = ()
    accuracy: float = 1.0
    answer_template: str = "{answer}"
    reasoning: str = ""
    reasoning_style: Literal["reasoning_content", "reasoning", "think"] = "reasoning_content"
    call_tools: bool = False
    tool_calls: tuple[ToolTurn, ...] = ()
    first_token: Delay = NO_DELAY
    between_tokens: Delay = NO_DELAY
    split: bool = False
    faults: Faults = NO_FAULTS
    slots: int | None = None
    cache_blocks: int | None = None
    block_size: int = BLOCK_SIZE
    prefill: float | None = None
    truth_file: str | None = None
    truth_kept: int = 100_000

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy <= 1:
            raise UserError(f"The accuracy must be between 0 and 1, not {self.accuracy:g}.")
        if "{answer}" not in self.answer_template:
            raise UserError("The answer template must contain {answer}.")
        if self.slots is not None and self.slots < 1:
            raise UserError(f"A server needs at least one slot, not {self.slots}.")
        if self.cache_blocks is not None and self.cache_blocks < 1:
            raise UserError(f"A prefix cache needs at least one block, not {self.cache_blocks}.")
        if self.block_size < 1:
            raise UserError(f"A block of the prefix cache needs at least one token, not {self.block_size}.")
        if self.block_size != BLOCK_SIZE and self.cache_blocks is None:
            raise UserError("A block size needs a prefix cache: say of how many blocks (--cache-blocks).")
        if self.prefill is not None and not 0 < self.prefill < math.inf:
            raise UserError(f"Prefill needs a rate above 0 tokens per second, not {self.prefill:g}.")
        if self.words < 0:
            raise UserError(f"The number of words must not be negative, but is {self.words}.")
        if self.accuracy < 1 and not self.answers and not self.scripts:
            raise UserError("An accuracy needs an answer key to be right or wrong about.")
        _check_key(self.answers)

    @property
    def max_context_tokens(self) -> int | None:
        """Maximum number of tokens of a prompt together with its answer; None if there is no limit."""
        return None if self.cache_blocks is None else self.cache_blocks * self.block_size


def _check_key(answers: tuple[KeyedAnswer, ...]) -> None:
    """Raise UserError if a prompt is blank, or if a prompt has two different answers."""
    seen: dict[str, KeyedAnswer] = {}
    for entry in answers:
        if not entry.prompt.strip():
            raise UserError("The answer key has a blank prompt.")
        if seen.setdefault(entry.prompt, entry) != entry:
            raise UserError(f"The answer key has two different answers for the prompt {entry.prompt[:60]!r}.")


DEFAULT_MODEL = "simulated"
"""Name of the model if neither the settings nor the request name a model."""


def keyed_answers(answers: Mapping[str, str]) -> tuple[KeyedAnswer, ...]:
    """Return the answer key for a mapping from prompts to answers."""
    return tuple(KeyedAnswer(prompt, answer) for prompt, answer in answers.items())


def read_keyed_answers(path: Path) -> tuple[KeyedAnswer, ...]:
    """Return the answer key in a file: JSON Lines of {"prompt", "answer"} and optionally "tool_calls".

    Raises:
        UserError: If the file cannot be read, or a line does not have that shape.
    """
    decode = msgspec.json.Decoder(KeyedAnswer).decode
    answers = []
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    answers.append(decode(line))
                except DECODE_ERRORS as error:
                    raise UserError(f"{path}, line {number}: no keyed answer ({error}).") from None
    except OSError as error:
        raise UserError(f"Cannot read the answer key {path}: {error.strerror}.") from None
    return tuple(answers)
