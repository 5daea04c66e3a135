"""`report` for load measurements: one self-contained HTML file, and its plots as SVG files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchwright.analysis.load.comparison.compare import compare_loads
from benchwright.analysis.load.comparison.records import LoadComparisonResult
from benchwright.analysis.load.comparison.rules import LoadRules
from benchwright.analysis.load.plot_data import DetailedLoad
from benchwright.app.report import ReportSettings, require_free_path
from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.reports.html.load import render_loads_page
from benchwright.reports.html.load_plots import load_sections
from benchwright.reports.html.svg_files import svg_files
from benchwright.secrets import SECRETS


def write_load_report(loads: Sequence[DetailedLoad], output: Path, settings: ReportSettings) -> int:
    """Write the HTML report of load measurements. Return its size in bytes.

    The first measurement is compared with each of the other measurements.

    Raises:
        UserError: If the file exists and is not a report, or cannot be written.
    """
    require_free_path(output)
    made_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    compared = compare_detailed_loads(loads, anyway=settings.anyway)
    page = render_loads_page(loads, compared, settings.title or _title(loads), made_at)
    content = SECRETS.redact(page).encode("utf-8", "replace")
    write_atomically(output, content)
    return len(content)


def write_load_plots(loads: Sequence[DetailedLoad], directory: Path) -> list[Path]:
    """Write each plot of the report to a file in the directory, which is created if needed. Return the paths.

    Raises:
        UserError: If a file exists and is not a plot of Benchwright, or cannot be written.
    """
    files = {directory / name: content for name, content in svg_files(load_sections(loads)).items()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Cannot make {directory}: {error.strerror or error}.") from None
    for path in files:
        require_free_path(path)
    for path, content in files.items():
        write_atomically(path, SECRETS.redact(content.decode()).encode())
    return list(files)


def compare_detailed_loads(
    loads: Sequence[DetailedLoad], *, anyway: bool = False
) -> LoadComparisonResult | None:
    """Compare the first measurement with each of the other measurements. Return None if there is only one measurement.

    `anyway`: True to compare measurements even if they are not comparable.
    """
    if len(loads) < 2:
        return None
    return compare_loads([load.report for load in loads], LoadRules(), anyway=anyway)


def _title(loads: Sequence[DetailedLoad]) -> str:
    models = list(dict.fromkeys(load.report.model for load in loads))
    return f"{' and '.join(models) if len(models) < 3 else f'{len(models)} models'} under load"
