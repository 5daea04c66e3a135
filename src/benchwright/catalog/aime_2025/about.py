"""Metadata of AIME 2025."""

from __future__ import annotations

from benchwright.catalog.matharena.protocol import build_about

VARIANTS = (build_about("aime_2025", "AIME 2025", 30, "MathArena/aime_2025"),)
