"""A leaderboard as a page. For the viewer, also the parts of that page: the table, and plots by task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from markupsafe import Markup

from benchwright import __version__
from benchwright.analysis.comparison.side_naming import side_letter
from benchwright.analysis.leaderboard.records import BoardColumn, Leaderboard
from benchwright.analysis.report.records import ChartMean, ChartRow
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.html.charts.means import means_chart
from benchwright.reports.html.page import report_environment
from benchwright.reports.html.page_style import GENERATOR_TAG, report_style
from benchwright.reports.html.plots import Plot, PlotSection, distribution_plot, front_plots, load_plots
from benchwright.reports.leaderboard import cell_texts
from benchwright.reports.leaderboard.cell_texts import leaderboard_notes
from benchwright.reports.leaderboard.tables import has_letter_labels
from benchwright.reports.leaderboard.usage import request_and_cost_columns


def render_leaderboard(board: Leaderboard, title: str) -> str:
    """Render the whole page, without scripts or external resources."""
    return (
        report_environment()
        .get_template("leaderboard.html.j2")
        .render(
            title=title,
            version=__version__,
            table=board_table(board),
            lines=list(leaderboard_notes(board)),
            sections=list(board_sections(board)),
            sheet=report_style(),
            generator=GENERATOR_TAG,
        )
    )


def board_table(
    board: Leaderboard,
    order: str = "",
    href: Callable[[str], str] | None = None,
    sorting: Callable[[str], str] | None = None,
) -> Markup:
    """Render the table of a leaderboard.

    `href`: returns the address of a run. `sorting`: returns the address of this page, sorted by a column.
    """
    return Markup(
        report_environment()
        .get_template("leaderboard_table.html.j2")
        .render(
            board=board,
            order=order,
            href=href,
            sorting=sorting,
            lettered=has_letter_labels(board),
            words=cell_texts,
            more=request_and_cost_columns(board.rows),
        )
    )


def block_table(table: TableBlock) -> Markup:
    """Render the table of a plot's figures, for pages that have templates of their own."""
    return Markup(report_environment().get_template("block_table.html.j2").render(table=table, several=True))


def board_sections(board: Leaderboard) -> Iterator[PlotSection]:
    """Yield the groups of plots of a leaderboard that are not empty."""
    places = {side_letter(place): place for place in range(len(board.rows))}
    names = {row.letter: row.name for row in board.rows}
    for place, column in enumerate(board.columns):
        plots = [plot for plot in [_means(board, place, column, places)] if plot.drawing]
        plots += front_plots(board.fronts[column.name], places, names)
        for found in board.distributions[column.name]:
            note = "The first rows only." if len(found.curves) < _rows_of(board, place) else ""
            plots.append(distribution_plot(found, places, names, note))
        if plots:
            yield PlotSection(column.name, plots)
    if board.load_curves:
        yield PlotSection("Under load", load_plots(board.load_curves))


def _rows_of(board: Leaderboard, place: int) -> int:
    return sum(row.cells[place] is not None for row in board.rows)


def _means(board: Leaderboard, place: int, column: BoardColumn, places: Mapping[str, int]) -> Plot:
    rows = []
    for row in board.rows:
        cell = row.cells[place]
        if cell is not None:
            label = f"{row.letter}  {row.title}" if row.name == row.letter else row.name
            mark = ChartMean(row.letter, cell.n_scored, cell.n, cell.mean, cell.low, cell.high)
            rows.append(ChartRow(label, [mark]))
    return Plot(
        f"Mean {column.score}, and its interval", means_chart(column.name, column.score, rows, places)
    )
