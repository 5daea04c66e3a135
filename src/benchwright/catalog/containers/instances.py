"""The columns that all SWE-bench datasets share. Their lists of tests are not among them: formats differ."""

from __future__ import annotations

import re

from benchwright.records import Record

IDENTITY_PATTERN = re.compile(r"[A-Za-z0-9][\w.-]*")
"""Pattern of an instance's id, which becomes part of the names of images and folders."""

COMMIT_PATTERN = re.compile(r"[0-9a-f]{7,64}")


class Instance(Record, frozen=True):
    """The columns that all SWE-bench datasets have."""

    repo: str
    instance_id: str
    base_commit: str
    patch: str
    test_patch: str
    problem_statement: str
