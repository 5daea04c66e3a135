"""Table of the container images that Benchwright built or pulled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.sandbox.docker.own_images import OwnImage
from benchwright.text import make_safe

GiB = 2**30
MiB = 2**20


def render_images(images: Sequence[OwnImage]) -> RenderableType:
    """Render a table with one row per image. A note below the table explains the sizes."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("Image", "Size", "Made", "For", "Last used (UTC)"):
        table.add_column(column, justify="right" if column == "Size" else "left", overflow="fold")
    for image in images:
        made = "built" if image.built else "pulled"
        table.add_row(
            make_safe(image.name),
            _size(image.bytes),
            made,
            make_safe(image.purpose) or "–",
            _day(image.used_at),
        )
    note = "Each size counts layers that images share; `docker system df -v` shows what each alone takes."
    return Group(table, Text(note, style="dim"))


def _size(size: int) -> str:
    return f"{size / GiB:.1f} GiB" if size >= GiB else f"{size / MiB:.1f} MiB"


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1e9, UTC).strftime("%Y-%m-%d %H:%M") if moment else "–"
