"""How often an `eval` opens what it reads: the journal once, the dataset no oftener than its checks need."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from app_kit import GrowingJournal
from eval_kit import CACHED, Project, Server

from benchwright.runs.journal import TRIALS

NOTES_WHAT_IS_OPENED = """
import os
import sys


def note(event, arguments):
    if event != "open" or not isinstance(arguments[0], (str, bytes)):
        return
    path, _, flags = arguments
    name = os.path.basename(os.fsdecode(path))
    if name in ("data.jsonl", "trials.jsonl") and flags & os.O_ACCMODE == os.O_RDONLY:
        descriptor = os.open("opened.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, name.encode() + b"\\\\n")
        os.close(descriptor)


sys.addaudithook(note)
"""
"""Imported by the interpreter as it starts."""


def opened(project: Project, *command: str, code: int = 0) -> Counter[str]:
    """How often a command opens the dataset and the journal to read them."""
    return _opened(project)


def _opened(project: Project) -> Counter[str]:
    noted = project.program.directory / "opened.txt"
    names = noted.read_text().split() if noted.exists() else []
    noted.unlink(missing_ok=True)
    return Counter(names)
