"""Scores of the leaderboard by category, by group, and overall (bfcl_eval, eval_runner_helper.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.catalog.bfcl.categories import CATEGORIES
from benchwright.catalog.breakdowns import mean

GROUP_WEIGHTS = {"non_live": 10, "live": 10, "irrelevance": 10, "multi_turn": 30, "memory": 20}
"""The weights of the leaderboard's groups in version 4, in percent.

Memory has half of the agentic weight of 40. The other half is web search, which is not supported here.
"""

OVERALL_FIGURE_NAME = "overall of the available parts, not comparable"

CategoryMeans = Mapping[str, tuple[float, int]]
"""Mapping from a category to its mean score and its number of tasks."""


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the accuracy of each category, the scores of the leaderboard's groups, and their weighted mean.

    Only categories and groups with at least one task are included.
    """
    means = _means(graded)
    groups = group_scores(means)
    shown = [Figure(f"category {name}", mean) for name, (mean, _) in means.items()]
    shown += [Figure(f"group {name}", value, _parts_missing(name, means)) for name, value in groups.items()]
    return [*shown, Figure(OVERALL_FIGURE_NAME, overall_score(groups), _overall_note(groups))]


def _means(graded: Iterable[GradedTrial]) -> dict[str, tuple[float, int]]:
    scores: dict[str, list[float]] = {}
    for one in graded:
        scores.setdefault(one.labels["category"], []).append(one.value or 0.0)
    return {
        name: (sum(scores[name]) / len(scores[name]), len(scores[name]))
        for name in CATEGORIES
        if name in scores
    }


def group_scores(means: CategoryMeans) -> dict[str, float]:
    """Return the score of each leaderboard group that has tasks.

    - Non-live: unweighted mean of simple, multiple, parallel and parallel_multiple. Simple is itself the
      unweighted mean of its languages.
    - Live: mean weighted by the number of tasks.
    - Irrelevance, multi-turn and memory: unweighted mean.
    """
    simple = _unweighted(means, ("simple_python", "simple_java", "simple_javascript"))
    others = _present(means, ("multiple", "parallel", "parallel_multiple"))
    live = [means[name] for name in _live() if name in means]
    groups = {
        "non_live": mean([value for value in (simple, *others) if value is not None]),
        "live": _mean_weighted(live),
        "irrelevance": _unweighted(means, ("irrelevance", "live_irrelevance")),
        "multi_turn": _unweighted(means, _of_kind("multi_turn")),
        "memory": _unweighted(means, _of_kind("memory")),
    }
    return {name: value for name, value in groups.items() if value is not None}


def overall_score(groups: Mapping[str, float]) -> float | None:
    """Return the weighted mean of the groups that have a score. Return None if no group has a score."""
    weight = sum(GROUP_WEIGHTS[name] for name in groups)
    return sum(GROUP_WEIGHTS[name] * value for name, value in groups.items()) / weight if weight else None


def _live() -> list[str]:
    return [
        one.name for one in CATEGORIES.values() if one.group == "live" and "relevance" not in one.check_kind
    ]


def _of_kind(kind: str) -> list[str]:
    return [one.name for one in CATEGORIES.values() if one.check_kind == kind]


def _present(means: CategoryMeans, names: Iterable[str]) -> list[float]:
    return [means[name][0] for name in names if name in means]


def _unweighted(means: CategoryMeans, names: Iterable[str]) -> float | None:
    return mean(_present(means, names))


def _mean_weighted(parts: Sequence[tuple[float, int]]) -> float | None:
    count = sum(number for _, number in parts)
    return sum(mean * number for mean, number in parts) / count if count else None


def _parts_missing(group: str, means: CategoryMeans) -> str | None:
    wanted = {
        "non_live": [
            one.name
            for one in CATEGORIES.values()
            if one.group == "non_live" and "relevance" not in one.check_kind
        ],
        "live": _live(),
        "irrelevance": _of_kind("irrelevance"),
        "multi_turn": _of_kind("multi_turn"),
        "memory": _of_kind("memory"),
    }[group]
    missing = [name for name in wanted if name not in means]
    return f"without {', '.join(missing)}" if missing else None


def _overall_note(groups: Mapping[str, float]) -> str:
    missing = [name for name in GROUP_WEIGHTS if name not in groups]
    return f"without {', '.join([*missing, 'web search (half of the agentic part, which is not run here)'])}"
