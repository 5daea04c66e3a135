"""Grading of GraphWalks' answers by their list of nodes."""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.formats import count_with_noun

_OPENING = re.compile(r"final answer:\s*\[", re.IGNORECASE)

STORED_CHARACTERS = 2000
"""Maximum number of characters of the node list that the score stores.

The full list is in the response body.
"""


def read_nodes(answer: str) -> list[str] | None:
    """Return the distinct nodes on the answer's last line. Return None if that line contains no list.

    As in openbench (scorers/graphwalks.py), the line must contain "Final Answer: [a, b]", ignoring case, and
    nothing may follow it. Blank lines at the end are ignored, as in lm-evaluation-harness. The dataset card's
    own code cannot be used: it leaves "Final Answer: [" in the first node. The time is linear in the answer's
    length.
    """
    line = answer.rstrip().rpartition("\n")[2]
    opening = _OPENING.search(line)
    if opening is None or not line.endswith("]"):
        return None
    items = (item.strip() for item in line[opening.end() : -1].split(","))
    return list(dict.fromkeys(item for item in items if item))


def f1_score(predicted: set[str], gold: set[str]) -> float:
    """Return 2PR / (P + R), with precision P and recall R.

    The result is 1 if both sets are empty (by the dataset card's formula), and 0 if the sets have no common
    element.
    """
    if not predicted and not gold:
        return 1.0
    shared = len(predicted & gold)
    return 2 * shared / (len(predicted) + len(gold)) if shared else 0.0


def grade_nodes(content: dict[str, Any], answer: str) -> Verdict:
    """Return the F1 of the nodes on the answer's last line against the gold nodes.

    The answer is correct if the two sets are equal. An answer without a list is read as an empty list, as in
    openbench: if the gold list is empty, the answer scores 1, and `parsed` in the details is False. If the
    gold list is not empty, such an answer is reported as unparsed.
    """
    nodes, gold = read_nodes(answer), set(content["answer_nodes"])
    predicted = set(nodes or ())
    score = None if nodes is None and gold else f1_score(predicted, gold)
    return Verdict(
        score,
        None if nodes is None else ", ".join(nodes)[:STORED_CHARACTERS],
        content["answer_nodes"],
        correct=score is not None and predicted == gold,
        details={"jaccard": _jaccard(predicted, gold), "parsed": nodes is not None},
        explanation=_told(nodes, gold),
    )


def _told(nodes: list[str] | None, gold: set[str]) -> str | None:
    """Describe in a sentence how many nodes are right and wrong. Say so if the last line contains no list."""
    if nodes is None:
        return "The last line is not a list of nodes."
    right = len(gold.intersection(nodes))
    return f"{right} of {count_with_noun(len(gold), 'node')} found, {len(nodes) - right} wrong."


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Return the Jaccard similarity of the response's nodes and the gold nodes, as llm-benchmarker documents it.

    The whole response is split at commas and line ends, and each item counts as a node. The answer is correct
    if the two sets are equal.
    """
    from benchwright.catalog.llm_benchmarker_api.evaluators.matching import (
        extract_set,
        jaccard_similarity,
        set_exact_match,
    )

    gold, items = content["answer_nodes"], extract_set(answer)
    jaccard = jaccard_similarity(items, gold)
    return Verdict(
        jaccard,
        ", ".join(sorted(items))[:STORED_CHARACTERS],
        gold,
        correct=set_exact_match(items, gold),
        details={"jaccard": jaccard},
    )


def _jaccard(predicted: set[str], gold: set[str]) -> float:
    union = predicted | gold
    return len(predicted & gold) / len(union) if union else 1.0
