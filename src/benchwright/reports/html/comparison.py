"""A comparison as part of a viewer page, with the charts and tables that the report has, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchwright.analysis.comparison.records import Comparison
from benchwright.analysis.comparison.side_naming import with_side_names
from benchwright.analysis.report.records import DistributionChart, Flip
from benchwright.reports.comparison.sentences import note_lines
from benchwright.reports.comparison.tables import TableBlock, comparison_blocks
from benchwright.reports.html.page import report_environment
from benchwright.reports.html.plots import difference_plots, distribution_plot


def render_comparison_part(found: Comparison, times: Sequence[DistributionChart]) -> Markup:
    """Render the runs of a comparison, their differences with charts, and the distributions of their times."""
    comparison, places, names = with_side_names(found), _places(found), _names(found)
    runs, *others = comparison_blocks(comparison)
    return _rendered(
        "compared.html.j2",
        found,
        runs=runs,
        blocks=list(omit_change_table(others)),
        difference_plots=difference_plots(comparison),
        speed_plots=[distribution_plot(one, places, names) for one in times],
        notes=list(note_lines(comparison)),
    )


def render_flip_part(found: Comparison, a: str, b: str, flip: Flip, href: str) -> Markup:
    """Render a changed sample (a flip), with both answers.

    `a`, `b`: the letters that identify the runs. `href`: the address of the sample's page.
    """
    return _rendered("flip.html.j2", found, flip=flip, a=a, b=b, href=href)


def omit_change_table(shown: Sequence[TableBlock]) -> Iterator[TableBlock]:
    """Yield all tables but the table of changed samples.

    Pages show the changed samples with both answers instead.
    """
    return (block for block in shown if not block.title.startswith("Changed"))


def _rendered(template: str, found: Comparison, **values: object) -> Markup:
    context = {"places": _places(found), "names": _names(found), "several": len(found.runs) > 1}
    return Markup(report_environment().get_template(template).render(**context, **values))


def _places(found: Comparison) -> Mapping[str, int]:
    return {run.letter: place for place, run in enumerate(found.runs)}


def _names(found: Comparison) -> Mapping[str, str]:
    return {run.letter: run.name for run in found.runs}
