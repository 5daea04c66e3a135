"""Exports a run as plain typed rows, one for every trial or request, or in the formats of other programs."""

from __future__ import annotations

from benchwright.analysis.export.loaded_run import LoadedRun, load_run
from benchwright.analysis.export.requests import RequestRow
from benchwright.analysis.export.trials import TrialRow

__all__ = ["LoadedRun", "RequestRow", "TrialRow", "load_run"]
