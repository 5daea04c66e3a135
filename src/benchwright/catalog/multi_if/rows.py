"""The row format of Multi-IF, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from benchwright.catalog.asking import join_turns
from benchwright.catalog.ifeval.rows import RULES_FOR_ARGUMENT_CHECKS, build_instructions, instructions_text
from benchwright.data.datasets import Source
from benchwright.records import DECODE_ERRORS, Record, Sample

ValueT = TypeVar("ValueT")

MISSING_TURN_VALUES = (None, "", "None")
"""Values of a turn's column that mean that the conversation has no such turn."""


class MultiIfRow(Record, frozen=True):
    """One conversation in the Hugging Face layout. Its columns contain JSON, with arguments as JSON strings within.

    The instructions of a turn include those of the previous turns.
    """

    key: str
    language: str
    turn_1_prompt: str
    turn_1_instruction_id_list: str
    turn_1_kwargs: str
    turn_2_prompt: str | None = None
    turn_2_instruction_id_list: str | None = None
    turn_2_kwargs: str | None = None
    turn_3_prompt: str | None = None
    turn_3_instruction_id_list: str | None = None
    turn_3_kwargs: str | None = None

    def __post_init__(self) -> None:
        """Check that the turns can be parsed and their instructions are known.

        Raises:
            ValueError: If a turn is invalid.
        """
        read_turns(self)


class _Prompt(Record, frozen=True):
    content: str


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per conversation. Conversations made from one IFEval prompt form one cluster.

    Such conversations are translations and variations of the prompt.
    """
    for row in source.read(MultiIfRow, "train"):
        asked = read_turns(row)
        labels = {
            "language": row.language,
            "origin": row.key.partition(":")[0],
            "instructions": "/".join(str(len(turn["instructions"])) for turn in asked),
        }
        yield Sample(
            row.key,
            {"language": row.language, "turns": asked},
            labels=labels,
            input=join_turns([turn["prompt"] for turn in asked]),
            target=join_turns([instructions_text(turn["instructions"]) for turn in asked]),
        )


def read_turns(row: MultiIfRow) -> list[dict[str, Any]]:
    """Return the turns of a row, each with `prompt` and `build_instructions`. The first missing turn ends the list.

    Raises:
        ValueError: If a turn is not JSON as described, an instruction is unknown, or its arguments are wrong.
    """
    found: list[dict[str, Any]] = []
    for number in (1, 2, 3):
        prompt = getattr(row, f"turn_{number}_prompt")
        ids = getattr(row, f"turn_{number}_instruction_id_list")
        if prompt in MISSING_TURN_VALUES or ids in MISSING_TURN_VALUES:
            break
        arguments = getattr(row, f"turn_{number}_kwargs") or ""
        try:
            found.append(
                {
                    "prompt": _decoded(prompt, _Prompt).content,
                    "instructions": build_instructions(
                        RULES_FOR_ARGUMENT_CHECKS,
                        _decoded(ids, list[str]),
                        [_decoded(one, dict[str, Any]) for one in _decoded(arguments, list[str])],
                    ),
                }
            )
        except ValueError as error:
            raise ValueError(f"turn {number}: {error}") from error
    if not found:
        raise ValueError("there is no first turn")
    return found


def _decoded(text: str, kind: type[ValueT]) -> ValueT:
    try:
        return msgspec.json.decode(text, type=kind)
    except DECODE_ERRORS as error:
        raise ValueError(f"not the JSON that is needed ({error}): {text[:60]!r}") from error
