"""Metadata of HMMT's rounds. The benchmark of the newest round has no variant in its name."""

from __future__ import annotations

from benchwright.catalog.matharena.protocol import build_about

VARIANTS = (
    build_about("hmmt", "HMMT February 2026", 33, "MathArena/hmmt_feb_2026"),
    build_about("hmmt", "HMMT November 2025", 30, "MathArena/hmmt_nov_2025", variant="nov_2025"),
    build_about("hmmt", "HMMT February 2025", 30, "MathArena/hmmt_feb_2025", variant="feb_2025"),
)
