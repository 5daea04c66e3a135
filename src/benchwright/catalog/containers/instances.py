"""The columns that all SWE-bench datasets share. The lists of tests are not included: their formats differ."""

from __future__ import annotations

import re

from benchwright.records import Record

INSTANCE_ID_PATTERN = re.compile(r"[A-Za-z0-9][\w.-]*")
"""Regular expression for an instance's id, which becomes part of the names of images and folders."""

COMMIT_PATTERN = re.compile(r"[0-9a-f]{7,64}")


class Instance(Record, frozen=True):
    """One instance, with the columns that all SWE-bench datasets have."""

    repo: str
    instance_id: str
    base_commit: str
    patch: str
    test_patch: str
    problem_statement: str
