"""A comparison as JUnit XML: one test case for every rule, and one for every comparison that was made."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from benchwright.analysis.comparison.names import named
from benchwright.analysis.comparison.records import Comparison
from benchwright.reports.comparison.words import Foreign, Line, verdicts, warnings
from benchwright.text import plain

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""


def render_junit(comparison: Comparison) -> bytes:
    """One suite. A rule that did not hold is a failure, a pair that was refused is skipped; verdicts fail nothing."""
    comparison = named(comparison)
    suite = ElementTree.Element("testsuite", name="benchwright compare")
    counts = {"failures": 0, "skipped": 0}
    for ruling in comparison.rulings:
        case = _case(suite, "rules", ruling.rule)
        if ruling.passed:
            _add(case, "system-out", ruling.told)
        else:
            counts["failures"] += 1
            _add(case, "failure", ruling.told).set("message", _safe(ruling.told))
    for pair in comparison.pairs:
        if pair.refused:
            counts["skipped"] += 1
            case = _case(suite, "comparisons", f"{pair.b} against {pair.a}")
            _add(case, "skipped", "").set("message", _safe("; ".join(pair.refusals)))
    scores = [(pair, score) for pair in comparison.pairs for score in pair.scores]
    for (pair, score), line in zip(scores, verdicts(comparison), strict=True):
        case = _case(suite, "comparisons", f"{pair.b} against {pair.a}: {pair.task}, {score.score}")
        _add(case, "system-out", _text(line))
    told = "\n".join(_text(line) for line in warnings(comparison))
    if told:
        _add(suite, "system-err", told)
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, count in counts.items():
        suite.set(name, str(count))
    suite.set("errors", "0")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    encoded: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return encoded + b"\n"


def _case(suite: ElementTree.Element, group: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=f"compare.{group}", name=_safe(name))


def _add(parent: ElementTree.Element, tag: str, text: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag)
    element.text = _safe(text)
    return element


def _text(line: Line) -> str:
    return "".join(plain(cell.text) if isinstance(cell, Foreign) else cell for cell in line.cells)


def _safe(text: str) -> str:
    return _NOT_XML.sub(" ", text)
