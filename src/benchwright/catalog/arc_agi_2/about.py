"""Metadata of ARC-AGI-2."""

from __future__ import annotations

from benchwright.catalog.arc_agi.protocol import build_about
from benchwright.data.dataset_spec import GitRepository

REPOSITORY = GitRepository(
    "https://github.com/arcprize/ARC-AGI-2", "f3283f727488ad98fe575ea6a5ac981e4a188e49"
)

VARIANTS = (build_about("arc_agi_2", "ARC-AGI-2", 120, REPOSITORY, "2505.11831"),)
