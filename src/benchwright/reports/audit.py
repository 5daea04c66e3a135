"""The findings of an audit, for a terminal: counts of trials as sentences, then a table with one line per finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from benchwright.analysis.audit import AuditedFinding, RunAudit
from benchwright.analysis.suspicious_passes import kind_in_words
from benchwright.formats import count_with_noun
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.terminal import render_blocks
from benchwright.text import truncate

MAX_EVIDENCE_LENGTH = 160
"""Maximum number of characters of a line of evidence."""
MAX_FINDINGS = 200
"""Maximum number of findings in a table; `--json` contains all."""


def render_audit(found: RunAudit, *, notes: bool) -> RenderableType:
    """Render the counts as sentences, then the findings as a table of signs.

    If `notes` is True, add a table of notes. A sign suggests that a trial passed without solving its task. A note is
    weaker, but worth knowing.
    """
    signs = [one for one in found.findings if one.weight == "sign"]
    others = [one for one in found.findings if one.weight == "note"]
    tables = [_table("Sign", signs)] if signs else []
    tables += [_table("Note", others)] if notes and others else []
    return render_blocks(list(_lines(found, shown=notes)), tables)


def _lines(found: RunAudit, *, shown: bool) -> Iterator[Line]:
    trials = count_with_noun(found.trials, "trial")
    if found.signs:
        passes = f"{found.suspicious:,} of {found.passes:,} {'pass' if found.passes == 1 else 'passes'}"
        yield Line(
            "warning",
            [
                f"{found.signs:,} of {trials} {'has' if found.signs == 1 else 'have'} signs; {passes} with signs."
            ],
        )
        kinds = ", ".join(f"{count:,} {kind_in_words(kind)}" for kind, count in found.kinds.items())
        yield Line("note", ["Trials by sign: ", ExternalText(kinds), "."])
    else:
        yield Line("verdict", [f"No signs in {trials}."])
    if left := found.trials - found.audited:
        yield Line(
            "note", [f"{count_with_noun(left, 'trial')} without commands or a patch: nothing to audit there."]
        )
    if found.notes and not shown:
        yield Line(
            "note", [f"{count_with_noun(found.notes, 'trial')} with notes only: --notes shows what they are."]
        )


def _table(title: str, findings: Sequence[AuditedFinding]) -> TableBlock:
    ordered = sorted(findings, key=lambda one: not one.passed)
    rows: list[list[CellText]] = [
        [
            ExternalText(f"{one.sample} ({one.repeat + 1})" if one.repeat else one.sample),
            ExternalText(kind_in_words(one.kind)),
            ExternalText(truncate(one.line, MAX_EVIDENCE_LENGTH)),
            "–" if one.turn is None else f"{one.turn:,}",
            "yes" if one.passed else "no",
        ]
        for one in ordered[:MAX_FINDINGS]
    ]
    left_out = f"{len(ordered) - MAX_FINDINGS:,} more: see --json" if len(ordered) > MAX_FINDINGS else ""
    return TableBlock(
        title, ["Sample", title, "Evidence", "turn", "passed"], rows, left_columns=3, note=left_out
    )
