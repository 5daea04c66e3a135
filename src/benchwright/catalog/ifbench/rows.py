"""The row format of IFBench, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.catalog.ifbench.language_tools import RULES_FOR_ARGUMENT_CHECKS
from benchwright.catalog.ifbench.token_rules import START_VERB_INSTRUCTION
from benchwright.catalog.ifeval.rows import build_instructions, instructions_text
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class IfbenchRow(Record, frozen=True):
    """One prompt. `kwargs` are the arguments of each instruction; the hub pads them with nulls."""

    key: str
    prompt: str
    instruction_id_list: list[str]
    kwargs: list[dict[str, Any]]

    def __post_init__(self) -> None:
        """Check that the instructions are known and their arguments valid.

        Raises:
            ValueError: If an instruction is unknown or has wrong arguments.
        """
        build_instructions(RULES_FOR_ARGUMENT_CHECKS, self.instruction_id_list, self.kwargs)


def samples(source: Source, *, tagged: bool) -> Iterator[Sample]:
    """Yield one sample per prompt.

    `tagged`: True if a part-of-speech tagger is available. If it is False, prompts that need a tagger are
    left out.
    """
    for row in source.read(IfbenchRow, "train"):
        if not tagged and START_VERB_INSTRUCTION in row.instruction_id_list:
            continue
        listed = build_instructions(RULES_FOR_ARGUMENT_CHECKS, row.instruction_id_list, row.kwargs)
        content = {"prompt": row.prompt, "instructions": listed}
        labels = {"instructions": str(len(listed)), "instruction": ", ".join(one["id"] for one in listed)}
        yield Sample(
            f"ifbench_{row.key}", content, labels=labels, input=row.prompt, target=instructions_text(listed)
        )
