"""How GraphWalks' answers are graded."""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.formats import counted

_OPENING = re.compile(r"final answer:\s*\[", re.IGNORECASE)

KEPT = 2000
"""How many characters of a list of nodes are kept with the score; lists of thousands of nodes are in the body."""


def read_nodes(answer: str) -> list[str] | None:
    """The nodes on the answer's last line, without repetitions; None where it holds no list.

    As openbench reads it (scorers/graphwalks.py): "Final Answer: [a, b]" in any case, with nothing behind it.
    Blank lines at the end of the answer are not the last line, as in lm-evaluation-harness. The dataset card's own
    code cannot be used: it leaves "Final Answer: [" in the first node. Linear in the answer's length.
    """
    line = answer.rstrip().rpartition("\n")[2]
    opening = _OPENING.search(line)
    if opening is None or not line.endswith("]"):
        return None
    items = (item.strip() for item in line[opening.end() : -1].split(","))
    return list(dict.fromkeys(item for item in items if item))


def f1(predicted: set[str], gold: set[str]) -> float:
    """2PR / (P + R); 1 where both sets are empty, 0 where nothing is shared (the card's formula says 1 there)."""
    if not predicted and not gold:
        return 1.0
    shared = len(predicted & gold)
    return 2 * shared / (len(predicted) + len(gold)) if shared else 0.0


def grade_nodes(content: dict[str, Any], answer: str) -> Verdict:
    """F1 of the nodes read from the last line; correct where the sets are equal.

    An answer without a list is read as an empty one, as openbench does: where no node is right, it scores 1
    (`parsed` in the details tells); elsewhere it is reported as unparsed.
    """
    nodes, gold = read_nodes(answer), set(content["answer_nodes"])
    predicted = set(nodes or ())
    score = None if nodes is None and gold else f1(predicted, gold)
    return Verdict(
        score,
        None if nodes is None else ", ".join(nodes)[:KEPT],
        content["answer_nodes"],
        correct=score is not None and predicted == gold,
        details={"jaccard": _jaccard(predicted, gold), "parsed": nodes is not None},
        explanation=_told(nodes, gold),
    )


def _told(nodes: list[str] | None, gold: set[str]) -> str | None:
    """How many nodes are right, missing and too many."""
    if nodes is None:
        return "The last line is not a list of nodes."
    right = len(gold.intersection(nodes))
    return f"{right} of {counted(len(gold), 'node')} found, {len(nodes) - right} wrong."


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Jaccard similarity of all items in the response with the gold nodes; correct where the sets are equal."""
    from benchwright.catalog.documented.evaluators.matching import (
        extract_set,
        jaccard_similarity,
        set_exact_match,
    )

    gold, items = content["answer_nodes"], extract_set(answer)
    jaccard = jaccard_similarity(items, gold)
    return Verdict(
        jaccard,
        ", ".join(sorted(items))[:KEPT],
        gold,
        correct=set_exact_match(items, gold),
        details={"jaccard": jaccard},
    )


def _jaccard(predicted: set[str], gold: set[str]) -> float:
    union = predicted | gold
    return len(predicted & gold) / len(union) if union else 1.0
