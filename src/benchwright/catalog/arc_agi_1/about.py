"""Metadata of ARC-AGI-1."""

from __future__ import annotations

from benchwright.catalog.arc_agi.protocol import build_about
from benchwright.data.dataset_spec import GitRepository

REPOSITORY = GitRepository("https://github.com/fchollet/ARC-AGI", "399030444e0ab0cc8b4e199870fb20b863846f34")

VARIANTS = (build_about("arc_agi_1", "ARC-AGI-1", 400, REPOSITORY, "1911.01547"),)
