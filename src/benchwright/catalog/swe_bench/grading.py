"""Grades an instance: compares its test log with the two lists of tests in its row.

Source: swebench, harness/grading.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.catalog.containers.flags import Flag, flags_of, with_flags
from benchwright.catalog.containers.sealing.runner_report import printed_elsewhere_flag
from benchwright.catalog.containers.test_summaries import summarize_test_lists
from benchwright.catalog.containers.traffic import connection_figures, with_connections
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.swe_bench.edition import VERIFIED_EDITION, Edition, InstanceContent
from benchwright.catalog.swe_bench.instance_script import (
    APPLY_FAILED_MARK,
    END_MARK,
    ERRORED_MARK,
    EXIT_CODE_MARK,
    RESET_FAILED_MARK,
    START_MARK,
    TIMED_OUT_MARK,
)
from benchwright.catalog.swe_bench.log_parsers import Statuses
from benchwright.engine.offload import offload
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

PATCH, TESTS = "patch", "tests"
"""`PATCH`: key of the outcome's artifact with the patch. `TESTS`: key of the artifact with the log of its tests.

The artifact `TESTS` is missing if there was no patch to test.
"""

_PASSES = ("PASSED", "XFAIL")
_FAILURES = ("FAILED", "ERROR")

_PROBLEMS = {
    APPLY_FAILED_MARK: "the patch cannot be applied",
    RESET_FAILED_MARK: "the repository could not be put back",
    ERRORED_MARK: "the tests could not be run to their end",
    TIMED_OUT_MARK: "the tests took too long",
}

PARSE_SECONDS = 120.0
"""Time limit in seconds for parsing one log. The log of a whole suite takes a second or two."""

_EXIT_CODE = re.compile(rf"{EXIT_CODE_MARK}:\s*(-?\d+)")


class NoResultsError(Exception):
    """The error of a log without usable test results. The message states why they are unusable."""


def grade(content: InstanceContent, log: str, edition: Edition = VERIFIED_EDITION) -> Verdict:
    """Grade a log: 1 if every test of both lists has the required result, else 0.

    A test of FAIL_TO_PASS must be PASSED or XFAIL in the log. A test of PASS_TO_PASS may also be skipped. The
    details name each test and any problem.
    """
    try:
        return _verdict(content, read_statuses(content, log, edition))
    except NoResultsError as problem:
        return _verdict(content, {}, str(problem))


async def grade_with_flags(
    content: InstanceContent, log: str, edition: Edition
) -> tuple[Verdict, list[Flag]]:
    """Grade a log. Return the verdict, with flags if the log is suspicious.

    A log that takes too long to parse counts as a log without results, because tested code can print such
    text on purpose.
    """
    needed = {name: content[name] for name in edition.grading_fields}
    try:
        return await offload(_judged, needed, log, edition, seconds=PARSE_SECONDS)
    except TimeoutError:
        return _verdict(content, {}, f"the log was not read in {PARSE_SECONDS:.0f} s"), []


def _verdict(content: InstanceContent, statuses: Statuses, error: str | None = None) -> Verdict:
    now = {name: _status(name, statuses) in _PASSES for name in content["FAIL_TO_PASS"]}
    still = {name: _status(name, statuses) in (*_PASSES, "SKIPPED") for name in content["PASS_TO_PASS"]}
    resolved = error is None and all(now.values()) and all(still.values())
    part = error is None and any(now.values()) and all(still.values())
    details = {"fail_to_pass_results": now, "pass_to_pass_results": still}
    return Verdict(
        float(resolved),
        "RESOLVED_FULL" if resolved else "RESOLVED_PARTIAL" if part else "RESOLVED_NO",
        "RESOLVED_FULL",
        details=details | ({"error": error} if error else {}),
        explanation=error or summarize_test_lists(now, still),
    )


def read_statuses(content: InstanceContent, log: str, edition: Edition = VERIFIED_EDITION) -> Statuses:
    """Return the status of each test in the log, keyed by name.

    A lone carriage return ends a line, as when Python reads a text file.

    Raises:
        NoResultsError: If the tests did not finish, the log cannot be parsed, or it contradicts the test command's
            exit code.
    """
    log = log.replace("\r\n", "\n").replace("\r", "\n")
    for mark, problem in _PROBLEMS.items():
        if mark in log:
            raise NoResultsError(problem)
    if START_MARK not in log or END_MARK not in log:
        raise NoResultsError("the tests were not run to their end")
    try:
        within = edition.read_statuses(content, log.split(START_MARK)[1].split(END_MARK)[0])
        statuses = within or edition.read_statuses(content, log)
    except ValueError as error:
        raise NoResultsError(str(error)) from None
    if not statuses:
        raise NoResultsError("the log names no test")
    code = _EXIT_CODE.search(log)
    if code and int(code[1]) and not any(status in _FAILURES for status in statuses.values()):
        raise NoResultsError(
            f"the test command ended with exit code {code[1]}, and no test has failed in the log"
        )
    return statuses


def flag_repeated_marks(log: str) -> list[Flag]:
    """Return a flag if the log contains a marker line more than once. Return nothing otherwise.

    The test script prints a marker line before the results and another one after them, each once. As in the
    official harness, the text between the first two marker lines counts.
    """
    found = {mark: log.count(mark) for mark in (START_MARK, END_MARK)}
    told = ", ".join(f"{mark!r} {count} times" for mark, count in found.items() if count > 1)
    return [Flag("forged_marks", f"the log of the tests has {told}")] if told else []


def flag_printed_elsewhere(
    content: InstanceContent, log: str, verdict: Verdict, edition: Edition = VERIFIED_EDITION
) -> list[Flag]:
    """Return a flag if a pass depends on lines that the test runner did not write. Return nothing otherwise.

    Such lines are outside of the runner's summary, or the runner ended before it wrote a summary.
    """
    if verdict.score != 1.0:
        return []
    text, end, rest = log.partition(START_MARK)[2].partition(END_MARK)
    own = grade(content, f"{START_MARK}\n{edition.runner_report(content, text)}\n{end}{rest}", edition)
    if own.score == 1.0:
        return []
    missing = [
        name
        for tests in ("fail_to_pass_results", "pass_to_pass_results")
        for name, passed in own.details[tests].items()
        if not passed
    ]
    return [printed_elsewhere_flag(missing or ["all"])]


def _status(name: str, statuses: Statuses) -> str | None:
    """Return the status of a test. Return None if the status is not known.

    Some names in the rows are cut off inside their brackets. Such a name stands for all tests that begin with
    it, if these all passed or all did not.
    """
    if name in statuses or name.count("[") <= name.count("]"):
        return statuses.get(name)
    found = [status for full, status in statuses.items() if full.startswith(name)]
    return found[0] if len({status in _PASSES for status in found}) == 1 else None


NO_PATCH_REASON = "there is no patch"


class ResolvedScorer:
    """A scorer: 1 if the instance is resolved, else 0. There is no score if there was no patch to test."""

    def __init__(self, name: str, edition: Edition = VERIFIED_EDITION) -> None:
        self.name = name
        self.fingerprint = fingerprint(f"{edition.name} resolved", name, "2")
        self._edition = edition

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Grade the log of an outcome's tests."""
        tests = outcome.artifacts.get(TESTS)
        log = tests["log"] if tests else ""
        verdict, found = await grade_with_flags(sample.content, log, self._edition)
        details = {**verdict.details, "model_patch": outcome.artifacts.get(PATCH, "")}
        if tests is None:
            details["error"] = outcome.artifacts.get("problem") or NO_PATCH_REASON
            verdict = msgspec.structs.replace(
                verdict, score=None, predicted=None, explanation=details["error"]
            )
        details = with_flags(details, [*flags_of(outcome), *found])
        details = with_connections(details, outcome.artifacts)
        return verdict_score(msgspec.structs.replace(verdict, details=details))


def _judged(content: InstanceContent, log: str, edition: Edition) -> tuple[Verdict, list[Flag]]:
    """Return the verdict on a log, with flags if the log is suspicious."""
    verdict = grade(content, log, edition)
    return verdict, [*flag_repeated_marks(log), *flag_printed_elsewhere(content, log, verdict, edition)]


def missing_result_figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return three figures: instances without a patch, instances without test results, and refused connections.

    Instances without a patch or without test results count as not resolved.
    """
    graded = list(graded)
    no_patch = no_results = 0
    for one in graded:
        if "model_patch" not in one.detail:
            continue  # the trial failed
        if not one.detail["model_patch"].strip():
            no_patch += 1
        elif "error" in one.detail:
            no_results += 1
    return [
        Figure("without_patch", float(no_patch)),
        Figure("without_test_results", float(no_results)),
        *connection_figures(graded),
    ]
