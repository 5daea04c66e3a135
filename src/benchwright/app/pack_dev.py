"""`pack dev`: tries one scenario of a pack with its canned answers each time a file is saved."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from benchwright.app.pack_contract import canned_answers, canned_trial
from benchwright.config import PackProcessSettings
from benchwright.errors import BenchwrightError, UserError
from benchwright.packs.contract import AttemptOutcome, CannedAnswer
from benchwright.packs.contract.contract_checks import NONSENSE_ANSWER
from benchwright.packs.install.digest import VERSION_CONTROL_FOLDERS
from benchwright.packs.packing import EXCLUDED_NAMES
from benchwright.packs.types import ScenarioMeta
from benchwright.packs.verifiers import VerifierProgress
from benchwright.records import Record
from benchwright.suggestions import did_you_mean

POLL_SECONDS = 0.3
"""Seconds between two checks of the files."""
UNWATCHED_FOLDERS = VERSION_CONTROL_FOLDERS | EXCLUDED_NAMES | {"node_modules"}


class PackTryResult(Record, frozen=True):
    """Result of trying a pack once: the `tried` answers, or the `error` that prevented the try.

    `stacks`: stack traces of errors in the pack's code.
    """

    scenario: str = ""
    outcomes: Sequence[tuple[CannedAnswer, AttemptOutcome]] = ()
    error: str | None = None
    stacks: Sequence[str] = ()


async def try_pack_on_changes(
    directory: Path,
    process: PackProcessSettings,
    scenario: str | None,
    answers: Path | None,
    report: Callable[[VerifierProgress], None],
) -> AsyncIterator[PackTryResult]:
    """Try a scenario at once, and again whenever a file of the pack has changed. Yield each result, without end."""
    seen: dict[str, int] | None = None
    while True:
        now = _stamps(directory)
        if now != seen:
            seen = now
            yield await _round(directory, process, scenario, answers, report)
        await asyncio.sleep(POLL_SECONDS)


async def _round(
    directory: Path,
    process: PackProcessSettings,
    name: str | None,
    answers: Path | None,
    report: Callable[[VerifierProgress], None],
) -> PackTryResult:
    stacks: list[str] = []

    def log(level: str, message: str, meta: object) -> None:
        if level == "error" and isinstance(meta, str):
            stacks.append(meta)

    try:
        async with canned_trial(directory, process, report, log) as trial:
            canned = canned_answers(directory, answers, trial)
            scenario = _chosen(trial.pack.scenarios, name, canned)
            own = [one for one in canned if one.scenario == scenario.id]
            tried = [
                (one, await trial.run(scenario, one.messages))
                for one in own or [CannedAnswer(scenario.id, NONSENSE_ANSWER)]
            ]
    except BenchwrightError as error:
        return PackTryResult(error=str(error), stacks=stacks)
    return PackTryResult(scenario.id, tried, None, stacks)


def _chosen(
    scenarios: Sequence[ScenarioMeta], name: str | None, canned: Sequence[CannedAnswer]
) -> ScenarioMeta:
    """Return the scenario of this name.

    If `name` is None, return the scenario of the first canned answer. If there are no canned answers, return the
    first scenario.

    Raises:
        UserError: If there is no such scenario.
    """
    known = {scenario.id: scenario for scenario in scenarios}
    if not known:
        raise UserError("The pack lists no scenarios.")
    wanted = name or (canned[0].scenario if canned else scenarios[0].id)
    if wanted not in known:
        raise UserError(f"The pack has no scenario {wanted!r}.{did_you_mean(wanted, known)}")
    return known[wanted]


def _stamps(directory: Path) -> dict[str, int]:
    """Return {path: modification time in ns} for all files in a directory."""
    found: dict[str, int] = {}
    for folder, folders, files in os.walk(directory):
        folders[:] = [name for name in folders if name not in UNWATCHED_FOLDERS]
        for name in files:
            path = os.path.join(folder, name)
            try:
                found[path] = os.stat(path).st_mtime_ns
            except OSError:
                continue  # it was just removed
    return found
