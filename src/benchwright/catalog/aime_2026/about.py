"""Metadata of AIME 2026."""

from __future__ import annotations

from benchwright.catalog.matharena.protocol import build_about, without_problem_types

VARIANTS = (without_problem_types(build_about("aime_2026", "AIME 2026", 30, "MathArena/aime_2026")),)
