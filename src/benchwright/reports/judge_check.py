"""The results of a judge check, for a terminal.

A judge check is a set of experiments on how reliable a judge's verdicts are.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from benchwright.analysis.judged.judge_experiments import JudgeCheck
from benchwright.formats import count_with_noun, number_text
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.terminal import render_blocks

SIGNIFICANCE_LEVEL = 0.01
"""A change affects the judge's verdicts if its p-value is below this level."""

CHANGE_TEXTS = {
    "answer first": "The order of reference and answer moves verdicts",
    "longer answer": "The length of an answer moves verdicts",
    "second judge": "The second judge is more lenient or stricter",
}


def render_judge_check(found: JudgeCheck) -> RenderableType:
    """Render sentences on the changes that affect the judge's verdicts. Then render a table of all experiments."""
    rows: list[list[CellText]] = [
        [
            one.name,
            f"{one.n:,}",
            "–" if one.agreement is None else f"{one.agreement.value:.1%}",
            "–" if one.agreement is None else f"[{one.agreement.low:.1%}, {one.agreement.high:.1%}]",
            f"{one.to_right:,}",
            f"{one.to_wrong:,}",
            number_text(one.p_value, ".3g"),
            f"{one.no_verdict:,}",
        ]
        for one in found.experiments
    ]
    columns = ["Change", "answers", "same", "95% interval", "to right", "to wrong", "McNemar p", "no verdict"]
    return render_blocks(list(_lines(found)), [TableBlock("", columns, rows)])


def _lines(found: JudgeCheck) -> Iterator[Line]:
    judge = found.judge
    who = "" if judge is None else judge.model
    yield Line(
        "verdict",
        ["Judge ", ExternalText(who), f", asked again about {count_with_noun(found.answers, 'answer')}."],
    )
    for one in found.experiments:
        if one.p_value is not None and one.p_value < SIGNIFICANCE_LEVEL and one.name in CHANGE_TEXTS:
            yield Line(
                "warning",
                [f"{CHANGE_TEXTS[one.name]}: {one.to_right:,} to right, {one.to_wrong:,} to wrong."],
            )
    for name, reason in found.left_out.items():
        yield Line("note", [f"Not tested: {name}: {reason}."])
