"""The columns of a leaderboard. Scores that are comparable share a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from benchwright.analysis.comparison.comparability import refusal_reasons
from benchwright.analysis.comparison.sides import SideFacts
from benchwright.analysis.leaderboard.entrants import Entrant
from benchwright.errors import UserError


class TaskScore(NamedTuple):
    """A score of a task, as a column.

    `entrant_indices`: indices of the entrants (targets of runs) that have the score. `separation_reason`: the reason
    why this column is separate from an earlier column of the same task and score; empty if there is no such
    column. `lower_is_better`: True for some scores of imported runs, such as a perplexity.
    """

    name: str
    task: str
    score: str
    entrant_indices: list[int]
    separation_reason: str = ""
    lower_is_better: bool = False


def task_scores(entrants: Sequence[Entrant], wanted: Sequence[str]) -> list[TaskScore]:
    """Return the columns of the scores that `wanted` names.

    If `wanted` is empty and there is a single task, return all its scores. If there are several tasks, return
    the first score of each.

    Raises:
        UserError: If no entrant has a named score.
    """
    known = dict.fromkeys(score for one in entrants for score in one.scores)
    for name in wanted:
        if name not in known:
            raise UserError(f"No run has the score {name!r}: they have {', '.join(known) or 'none'}.")
    several = len({one.task for one in entrants if one.scores}) > 1
    found: list[TaskScore] = []
    for place, entrant in enumerate(entrants):
        scores = list(entrant.scores)
        if wanted:
            scores = [name for name in scores if name in wanted]
        elif several:
            scores = scores[:1]
        for score in scores:
            _put(found, entrants, place, score)
    return _named(found)


def _put(found: list[TaskScore], entrants: Sequence[Entrant], place: int, score: str) -> None:
    task, facts = entrants[place].task, entrants[place].side.facts
    apart = ""
    for one in found:
        if (one.task, one.score) != (task, score):
            continue
        first = entrants[one.entrant_indices[0]]
        reasons = [
            *refusal_reasons(_by(first.side.facts, score), _by(facts, score)),
            *_other_scenarios(first, entrants[place]),
        ]
        if not reasons:
            one.entrant_indices.append(place)
            return
        apart = reasons[0]
    lower_is_better = score in entrants[place].side.lower_is_better
    found.append(TaskScore("", task, score, [place], apart, lower_is_better))


def _other_scenarios(one: Entrant, other: Entrant) -> list[str]:
    """Return the reason why two runs of a pack cannot share a column: their selected scenarios differ.

    Empty if they can share a column.
    """
    ours, theirs = (set(entrant.manifest.about.get("scenarios", ())) for entrant in (one, other))
    return [] if ours == theirs else [f"{other.manifest.id} has other scenarios than {one.manifest.id}"]


def _by(facts: SideFacts, score: str) -> SideFacts:
    """Return the facts with the grader of this score only, because the graders of other scores do not matter."""
    if facts.grader_fingerprints is None or facts.kind == "benchmark":
        return facts
    return replace(
        facts,
        grader_fingerprints={name: rule for name, rule in facts.grader_fingerprints.items() if name == score},
    )


def _named(found: Sequence[TaskScore]) -> list[TaskScore]:
    """Return the columns with names: the task, and also the score if a task has several.

    Separate columns of the same task and score are numbered.
    """
    scores = {
        task: len({one.score for one in found if one.task == task})
        for task in dict.fromkeys(one.task for one in found)
    }
    several = len(scores) > 1
    seen: Counter[str] = Counter()
    named = []
    for one in found:
        both = f"{one.task} {one.score}" if several else one.score
        name = both if scores[one.task] > 1 else one.task
        seen[name] += 1
        named.append(one._replace(name=name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return named
