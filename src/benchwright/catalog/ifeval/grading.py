"""IFEval's strict and loose verdicts, and its published accuracies (evaluation_lib.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.catalog.grading import Verdict
from benchwright.catalog.ifeval.counting_rules import counting_rules
from benchwright.catalog.ifeval.layout_rules import LAYOUT_RULES
from benchwright.catalog.ifeval.rules import FollowsInstruction, Rules
from benchwright.catalog.ifeval.splitters import Splitter, split_function
from benchwright.catalog.ifeval.wording_rules import WORDING_RULES
from benchwright.formats import count_with_noun
from benchwright.records import Record

Instruction = dict[str, Any]
"""One instruction of a row: a mapping with its `id` and `arguments`."""


@cache
def build_rules(splitter: Splitter) -> Rules:
    """Return all 25 rules of IFEval, for use with this sentence splitter."""
    return Rules(
        {**WORDING_RULES.by_id, **LAYOUT_RULES.by_id, **counting_rules(split_function(splitter)).by_id}
    )


class InstructionVerdicts(Record, frozen=True):
    """Verdicts on a row's instructions, in order.

    `strict_verdicts`: for each instruction, True if the response itself follows it. `loose_verdicts`: for
    each instruction, True if at least one variant of the response (`response_variants`) follows it.
    """

    strict_verdicts: list[bool]
    loose_verdicts: list[bool]


def grade(splitter: Splitter, content: dict[str, Any], answer: str) -> Verdict:
    """Return the verdict: score 1 if the unchanged answer follows all instructions (strict), else 0.

    `score_details` has the strict and loose result of each instruction. An empty answer follows no
    instruction.
    """
    instructions = content["instructions"]
    followed = judge_instructions(
        build_rules(splitter).follows, instructions, answer, blank=not answer.strip()
    )
    return Verdict(
        float(all(followed.strict_verdicts)),
        details=score_details(instructions, followed),
        explanation=describe_verdicts(instructions, followed.strict_verdicts),
    )


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the answer follows all instructions by the simpler rules that llm-benchmarker documents, else 0.

    An empty answer has no score.
    """
    instructions = content["instructions"]
    followed = [
        bool(answer.strip()) and follows_documented(answer, one["id"], one["arguments"])
        for one in instructions
    ]
    score = float(all(followed)) if answer.strip() else None
    return Verdict(
        score,
        details=score_details(instructions, InstructionVerdicts(followed, followed)),
        explanation=describe_verdicts(instructions, followed),
    )


def follows_documented(response: str, instruction: str, arguments: Mapping[str, Any]) -> bool:
    """Return True if a response follows an instruction by the rules that llm-benchmarker documents."""
    from benchwright.catalog.llm_benchmarker_api.evaluators.ifeval_rules import verify_instruction

    return verify_instruction(response, instruction, arguments)


def judge_instructions(
    follows: FollowsInstruction, instructions: Sequence[Instruction], response: str, *, blank: bool
) -> InstructionVerdicts:
    """Return the strict and loose verdicts on each instruction.

    `blank`: True if the response counts as empty. It then follows no instruction strictly.

    The strict verdict is on the response itself. The loose verdict is positive if at least one variant of the
    response follows the instruction. Four variants are the response itself, without its first line, without
    its last line, and without both lines; four more are the same texts without any `*`. The shortened
    variants are stripped. Blank variants follow no instruction, whatever the strict verdict is.
    """
    strict = [not blank and follows(response, one["id"], one["arguments"]) for one in instructions]
    others = [variant for variant in response_variants(response) if variant.strip()]
    loose = [
        bool(others)
        and (followed or any(follows(variant, one["id"], one["arguments"]) for variant in others))
        for one, followed in zip(instructions, strict, strict=True)
    ]
    return InstructionVerdicts(strict, loose)


def response_variants(response: str) -> list[str]:
    """Return the distinct variants of a response that the loose verdict examines.

    The first variant is the response itself.
    """
    lines = response.split("\n")
    shortened = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    kept = [response, *shortened]
    return list(dict.fromkeys(kept + [text.replace("*", "") for text in kept]))


def score_details(instructions: Sequence[Instruction], followed: InstructionVerdicts) -> dict[str, Any]:
    """Return the score's details: the strict verdicts `per_instruction`, the loose verdicts, and the counts."""
    return {
        "per_instruction": [
            {"instruction_id": one["id"], "passed": strict, "passed_loose": loose}
            for one, strict, loose in zip(
                instructions, followed.strict_verdicts, followed.loose_verdicts, strict=True
            )
        ],
        "instructions": len(instructions),
        "passed": sum(followed.strict_verdicts),
        "passed_loose": sum(followed.loose_verdicts),
    }


def describe_verdicts(instructions: Sequence[Instruction], followed: Sequence[bool]) -> str:
    """Describe in a sentence how many instructions were followed, and which instructions were not."""
    missed = [one["id"] for one, kept in zip(instructions, followed, strict=True) if not kept]
    share = f"{sum(followed)} of {count_with_noun(len(followed), 'instruction')} followed"
    return f"{share}; not followed: {', '.join(missed)}" if missed else share


ACCURACY_NAMES = ("prompt_strict", "instruction_strict", "prompt_loose", "instruction_loose")


class AccuracyCounter:
    """Counters of followed instructions, and of prompts whose instructions were all followed."""

    def __init__(self) -> None:
        self._prompts = 0
        self._instructions = 0
        self._followed = dict.fromkeys(ACCURACY_NAMES, 0)

    def add_response(self, counts: Mapping[str, Any], instructions: int) -> None:
        """Add one response by the counts `passed` and `passed_loose` in its score's details.

        If the details lack these counts, no instruction counts as followed. `instructions`: number of the
        row's instructions.
        """
        self._prompts += 1
        self._instructions += instructions
        for name, key in (("strict", "passed"), ("loose", "passed_loose")):
            passed = counts.get(key, 0)
            self._followed[f"prompt_{name}"] += passed == instructions
            self._followed[f"instruction_{name}"] += passed

    def compute_accuracies(self) -> list[float | None]:
        """Return the four accuracies in the order of `ACCURACY_NAMES`. An accuracy is None if nothing was counted."""
        totals = (self._prompts, self._instructions, self._prompts, self._instructions)
        return [
            followed / total if total else None
            for followed, total in zip(self._followed.values(), totals, strict=True)
        ]


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the four published accuracies.

    If a trial has no response, none of its instructions counts as followed.
    """
    accuracies = AccuracyCounter()
    for one in graded:
        accuracies.add_response(one.detail, int(one.labels["instructions"]))
    return [
        Figure(name, value)
        for name, value in zip(ACCURACY_NAMES, accuracies.compute_accuracies(), strict=True)
    ]
