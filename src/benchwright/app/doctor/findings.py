"""Findings, and checks that run in parallel and cannot hang."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from benchwright.errors import BenchwrightError
from benchwright.records import Record
from benchwright.secrets import SECRETS

FindingState = Literal["ok", "missing", "problem"]

DEFAULT_TIMEOUT = 10.0
"""Default maximum seconds for a check."""

_CREDENTIALS = re.compile(r"(?<=://)[^/\s]*@")


class Finding(Record, frozen=True, omit_defaults=False):
    """One finding about this machine.

    `subject`: the part that was examined. `said`: the result, in words. `needed_for`: the features that need the
    subject. `state`: `ok`, `missing` or `problem`; `missing` is a fault only for users of these features.
    `what_to_do`: advice, None if there is none.
    """

    subject: str
    said: str
    state: FindingState = "ok"
    needed_for: str | None = None
    what_to_do: str | None = None


class MachineCheck(Record, frozen=True):
    """A check, which may block. If it raises a Benchwright error, the error becomes a finding on its `subject`."""

    subject: str
    examine: Callable[[], Iterable[Finding]]
    timeout_seconds: float = DEFAULT_TIMEOUT


def run_checks(checks: Sequence[MachineCheck]) -> list[Finding]:
    """Return the findings of all checks in the given order, with credentials removed.

    A check that exceeds its time limit gives a finding with the state `problem`.
    """
    looks = [_Look(check) for check in checks]
    return [_without_credentials(finding) for look in looks for finding in look.findings()]


class _Look:
    """A check that runs in a daemon thread, so that a check that hangs does not keep the process alive."""

    def __init__(self, check: MachineCheck) -> None:
        self._check = check
        self._found: list[Finding] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._end = time.monotonic() + check.timeout_seconds
        self._thread.start()

    def findings(self) -> list[Finding]:
        self._thread.join(max(0.0, self._end - time.monotonic()))
        if self._thread.is_alive():
            said = f"this check did not finish within {self._check.timeout_seconds:g} s"
            return [Finding(self._check.subject, said, "problem")]
        return self._found

    def _run(self) -> None:
        try:
            self._found = list(self._check.examine())
        except BenchwrightError as error:
            self._found = [Finding(self._check.subject, str(error), "problem")]
        except Exception as error:  # one failed check must not hide the results of the others
            said = f"this check failed: {type(error).__name__}: {error}"
            self._found = [Finding(self._check.subject, said, "problem")]


def _without_credentials(finding: Finding) -> Finding:
    def harmless(text: str | None) -> str | None:
        return None if text is None else SECRETS.redact(_CREDENTIALS.sub("***@", text))

    return msgspec.structs.replace(
        finding, said=harmless(finding.said), what_to_do=harmless(finding.what_to_do)
    )
