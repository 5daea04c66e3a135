"""The row format of IFEval, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.catalog.ifeval.grading import Instruction, build_rules
from benchwright.catalog.ifeval.rules import Rules
from benchwright.catalog.ifeval.splitters import OWN_SPLITTER_NAME
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample

RULES_FOR_ARGUMENT_CHECKS = build_rules(OWN_SPLITTER_NAME)
"""Registry of all rules by which the arguments of instructions in rows are validated.

The arguments do not depend on the sentence splitter.
"""


class IfevalRow(Record, frozen=True):
    """One prompt. `kwargs` are the arguments of each instruction; the hub pads them with nulls."""

    key: int
    prompt: str
    instruction_id_list: list[str]
    kwargs: list[dict[str, Any]]

    def __post_init__(self) -> None:
        """Check that the instructions are known and their arguments valid.

        Raises:
            ValueError: If an instruction is unknown or has wrong arguments.
        """
        build_instructions(RULES_FOR_ARGUMENT_CHECKS, self.instruction_id_list, self.kwargs)


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per prompt."""
    for row in source.read(IfevalRow, "train"):
        listed = build_instructions(RULES_FOR_ARGUMENT_CHECKS, row.instruction_id_list, row.kwargs)
        content = {"prompt": row.prompt, "instructions": listed}
        yield Sample(
            f"ifeval_{row.key}",
            content,
            labels={"instructions": str(len(listed))},
            input=row.prompt,
            target=instructions_text(listed),
        )


def instructions_text(instructions: list[Instruction]) -> str:
    """Return the instructions as text, one per line: `length_constraints:number_words (num_words: 300)`."""
    return "\n".join(map(_in_words, instructions))


def _in_words(instruction: Instruction) -> str:
    arguments = ", ".join(f"{name}: {value}" for name, value in instruction["arguments"].items())
    return f"{instruction['id']} ({arguments})" if arguments else instruction["id"]


def build_instructions(rules: Rules, ids: list[str], arguments: list[dict[str, Any]]) -> list[Instruction]:
    """Return the instructions of a row, each with the arguments that its rule takes.

    Raises:
        ValueError: If there are no instructions, or one is unknown or has wrong arguments.
    """
    if not ids or len(ids) != len(arguments):
        raise ValueError(f"{len(ids)} instructions with {len(arguments)} sets of arguments")
    return [
        {"id": one, "arguments": rules.valid_arguments(one, given)}
        for one, given in zip(ids, arguments, strict=True)
    ]
