"""A comparison as JUnit XML, with one test case for each rule and one for each compared score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from benchwright.analysis.comparison.records import Comparison, GateResult, PairComparison
from benchwright.analysis.comparison.side_naming import with_side_names
from benchwright.reports.comparison.sentences import (
    ExternalText,
    Line,
    all_tasks_verdict_lines,
    comparison_warnings,
    verdict_lines,
)
from benchwright.text import make_safe

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Regular expression that matches a character which XML 1.0 cannot contain."""


def render_junit(comparison: Comparison) -> bytes:
    """Render a comparison as one test suite.

    A broken rule is a failure. A pair that could not be compared is a skipped case. The case of a verdict never fails.
    """
    comparison = with_side_names(comparison)
    tasks = len({pair.task for pair in comparison.pairs}) > 1

    def of_task(pair: PairComparison) -> str:
        return f": {pair.task}" if tasks else ""

    refused = {
        f"{pair.b} against {pair.a}{of_task(pair)}": "; ".join(pair.refusals)
        for pair in comparison.pairs
        if pair.is_refused
    }
    scores = [(pair, score) for pair in comparison.pairs for score in pair.scores]
    compared = {
        f"{pair.b} against {pair.a}: {pair.task}, {score.title}": line
        for (pair, score), line in zip(scores, verdict_lines(comparison), strict=True)
    }
    compared |= {
        f"{one.b} against {one.a}: all together{'' if one.model is None else f', {one.model}'}": line
        for one, line in zip(comparison.together, all_tasks_verdict_lines(comparison), strict=True)
    }
    return render_test_suite(comparison.rulings, refused, compared, list(comparison_warnings(comparison)))


def render_test_suite(
    rulings: Sequence[GateResult],
    refused: Mapping[str, str],
    compared: Mapping[str, Line],
    warned: Sequence[Line],
) -> bytes:
    """Build a test suite as UTF-8 XML. It has one case for each rule, each refused pair and each compared pair.

    `refused`: mapping from the name of a case to the reason why the pair was not compared. `compared`: mapping from the
    name of a case to the verdict. `warned`: texts that become the suite's `system-err`.
    """
    suite = ElementTree.Element("testsuite", name="benchwright compare")
    failures = 0
    for ruling in rulings:
        case = _case(suite, "rules", ruling.rule)
        if ruling.passed:
            _add(case, "system-out", ruling.explanation)
        else:
            failures += 1
            _add(case, "failure", ruling.explanation).set("message", _safe(ruling.explanation))
    for name, reason in refused.items():
        _add(_case(suite, "comparisons", name), "skipped", "").set("message", _safe(reason))
    for name, line in compared.items():
        _add(_case(suite, "comparisons", name), "system-out", _text(line))
    if warned:
        _add(suite, "system-err", "\n".join(map(_text, warned)))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(failures))
    suite.set("skipped", str(len(refused)))
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
    return "".join(make_safe(cell.text) if isinstance(cell, ExternalText) else cell for cell in line.cells)


def _safe(text: str) -> str:
    return _NOT_XML.sub(" ", text)
