"""What an instance of any of the SWE-bench datasets holds, however its lists of tests are written."""

from __future__ import annotations

import re

from benchwright.records import Record

IDENTITY = re.compile(r"[A-Za-z0-9][\w.-]*")
"""An instance's id: it becomes part of names of images and folders."""

COMMIT = re.compile(r"[0-9a-f]{7,64}")


class Instance(Record, frozen=True):
    """The columns that all of them have."""

    repo: str
    instance_id: str
    base_commit: str
    patch: str
    test_patch: str
    problem_statement: str
