"""A run as plain typed rows: one for every trial, one for every request."""

from __future__ import annotations

from benchwright.app.exporting.loaded import LoadedRun, load_run
from benchwright.app.exporting.requests import RequestRow
from benchwright.app.exporting.trials import TrialRow

__all__ = ["LoadedRun", "RequestRow", "TrialRow", "load_run"]
