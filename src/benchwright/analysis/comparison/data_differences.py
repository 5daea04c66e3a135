"""Differences between the data of two sides, sample by sample: gold answers, prompts, and samples that only
one side has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from benchwright.analysis.comparison.pairing import Alignment, IntegerCodes
from benchwright.analysis.comparison.records import DataDifferences, SampleDifference
from benchwright.analysis.comparison.sides import PromptAndTarget, Side, SideFacts
from benchwright.runs.manifest_facts import IMPORT_KIND
from benchwright.text import truncate

MAX_TEXT_LENGTH = 300
"""Maximum number of characters of a prompt or gold answer in a list of differences."""


def data_differences(aligned: Alignment, a: Side, b: Side) -> DataDifferences | None:
    """Return the differences between the data of two sides.

    Return None if the data are known to be the same. Return None also if the results are from two programs,
    because programs word their prompts differently and write gold answers in different forms.
    """
    if not _may_differ(a.facts, b.facts):
        return None
    if a.prompts_and_targets is None or b.prompts_and_targets is None:
        told = " and ".join(side.facts.name for side in (a, b) if side.prompts_and_targets is None)
        return DataDifferences(unknown=f"what was asked, and what was expected, is not known of {told}")
    first_a, first_b = _first_trials(aligned.a), _first_trials(aligned.b)
    both = {place: first_b[code] for code, place in first_a.items() if code in first_b}
    alone_a = _by_name(a, (place for code, place in first_a.items() if code not in first_b))
    alone_b = _by_name(b, (place for code, place in first_b.items() if code not in first_a))
    renewed = {place: alone_b[name] for name, place in alone_a.items() if name in alone_b}
    paired = {**both, **renewed}
    asked_a, asked_b = a.prompts_and_targets(set(paired)), b.prompts_and_targets(set(paired.values()))
    known = [(asked_a.get(place), asked_b.get(other)) for place, other in both.items()]
    return DataDifferences(
        both=len(both),
        checked=sum(
            one is not None and other is not None and None not in (*one, *other) for one, other in known
        ),
        samples=[
            difference
            for place, other in sorted(paired.items())
            for difference in _differences(a.trials.samples[place], asked_a.get(place), asked_b.get(other))
        ],
        only_a=[name for name in alone_a if name not in alone_b],
        only_b=[name for name in alone_b if name not in alone_a],
    )


def _may_differ(a: SideFacts, b: SideFacts) -> bool:
    if a.data_digests is not None and b.data_digests is not None:
        return a.data_digests != b.data_digests
    return a.kind == b.kind == IMPORT_KIND and a.source_program == b.source_program


def _first_trials(codes: IntegerCodes) -> Mapping[int, int]:
    """Return a mapping from each sample's code to the position of its first trial."""
    distinct, places = np.unique(codes, return_index=True)
    return {code: place for code, place in zip(distinct.tolist(), places.tolist(), strict=True) if code >= 0}


def _by_name(side: Side, places: Iterator[int]) -> dict[str, int]:
    return {side.trials.samples[place]: place for place in sorted(places)}


def _differences(
    sample: str, a: PromptAndTarget | None, b: PromptAndTarget | None
) -> Iterator[SampleDifference]:
    if a is None or b is None:
        return
    if not _same(a.target, b.target):
        yield SampleDifference(sample, "gold answer", _short(a.target), _short(b.target))
    if not _same(a.prompt, b.prompt):
        yield SampleDifference(sample, "prompt", _short(a.prompt), _short(b.prompt))


def _same(a: str | None, b: str | None) -> bool:
    """Return True if two texts are equal apart from white space.

    Return True also if one of the texts is unknown.
    """
    return a is None or b is None or a.split() == b.split()


def _short(text: str | None) -> str | None:
    return None if text is None else truncate(text, MAX_TEXT_LENGTH)
