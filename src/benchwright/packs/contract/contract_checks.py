"""Checks of a pack's contract. Each check tries one thing that hosts rely on, and reports one line per finding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchwright.errors import ExecutionError, LimitReached, ProviderError
from benchwright.packs.bridge import PackProcess
from benchwright.packs.contract.answers import CannedAnswer
from benchwright.packs.contract.canned_trial import AttemptOutcome, CannedTrial
from benchwright.packs.solver import failed_result
from benchwright.packs.types import RegisteredModel
from benchwright.records import Record, Status

SILENT_MODEL_SECONDS = 2.0
"""Seconds for which a scenario waits for a model that never answers. Then the scenario is aborted."""
RESULT_STATUSES = ("pass", "partial", "fail")
VARYING_RESULT_KEYS = frozenset({"timings", "rawLog"})
"""Keys of a result whose values may differ between attempts, because they contain times and ids."""
NONSENSE_ANSWER = "Lorem ipsum dolor sit amet."


class ContractFinding(Record, frozen=True):
    """A finding of a check. `problem`: True if the pack breaks the contract, False if it is only an observation."""

    check: str
    text: str
    problem: bool = False


async def check_contract(trial: CannedTrial, answers: Sequence[CannedAnswer]) -> list[ContractFinding]:
    """Run all checks of a prepared pack with a canned model, and return the checks' findings.

    Raises:
        ExecutionError: If the pack's process cannot be restarted.
    """
    pack = trial.pack
    by_id = {scenario.id: scenario for scenario in pack.scenarios}
    findings: list[ContractFinding] = []
    results: list[dict[str, Any]] = []
    for canned in answers or [CannedAnswer(scenario, NONSENSE_ANSWER) for scenario in by_id]:
        first, second = [await trial.run(by_id[canned.scenario], canned.messages) for _ in range(2)]
        findings += [
            *_expected(canned, first),
            *_repeated(canned, first, second),
            *_events(canned, first, trial.model),
        ]
        results += [first.result] if first.result is not None else []
    if not findings:
        findings.append(
            ContractFinding("answers", "the same results each time; progress events are of their scenario")
        )
    findings += _reached(results, bool(answers), list(by_id))
    findings += await _scoring(pack, results, list(by_id))
    some = pack.scenarios[0]
    findings.append(_failing(await trial.run(some, (), conduct="fails")))
    silent = await trial.run(some, (), conduct="is silent", seconds=SILENT_MODEL_SECONDS)
    findings.append(_silent(silent, await trial.run(some, [{"content": NONSENSE_ANSWER}])))
    return findings


def _expected(canned: CannedAnswer, cell: AttemptOutcome) -> Iterator[ContractFinding]:
    """Yield a problem if a canned answer got no result, or another status or score than its author expects."""
    name = f"answer to {canned.scenario}"
    if cell.result is None:
        yield ContractFinding(name, f"{cell.error}", problem=True)
        return
    status, score = cell.result["status"], cell.result.get("score")
    for what, wanted, found in (("status", canned.status, status), ("score", canned.score, score)):
        if wanted is not None and wanted != found:
            said = f"{_short(canned.answer)} has the {what} {found}, and the file says {wanted}"
            yield ContractFinding(name, said, problem=True)


def _repeated(
    canned: CannedAnswer, first: AttemptOutcome, second: AttemptOutcome
) -> Iterator[ContractFinding]:
    one, other = (None if cell.result is None else _lasting(cell.result) for cell in (first, second))
    if one != other:
        keys = sorted(
            key for key in {*(one or {}), *(other or {})} if (one or {}).get(key) != (other or {}).get(key)
        )
        said = f"the same answer to {canned.scenario} had two results: they differ in {', '.join(keys)}"
        yield ContractFinding("determinism", said, problem=True)


def _lasting(result: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in VARYING_RESULT_KEYS}


def _events(canned: CannedAnswer, cell: AttemptOutcome, model: RegisteredModel) -> Iterator[ContractFinding]:
    """Yield a problem for each event that is not a progress event of this cell, or that has no message."""
    for event in cell.events:
        if event.get("type") != "model_progress":
            said = f"{canned.scenario} sent {event.get('type')!r}; a pack sends model_progress alone"
        elif (event.get("scenarioId"), event.get("modelId")) != (canned.scenario, model.id):
            said = f"a progress event of {canned.scenario} has another scenarioId or modelId"
        elif not isinstance(event.get("message"), str):
            said = f"a progress event of {canned.scenario} has no message"
        else:
            continue
        yield ContractFinding("events", said, problem=True)


def _reached(
    results: Iterable[Mapping[str, Any]], canned: bool, scenarios: Sequence[str]
) -> Iterator[ContractFinding]:
    """Yield an observation with the statuses reached.

    Yield a problem for each scenario that never passed or never failed.
    """
    reached: dict[str, set[str]] = {name: set() for name in scenarios}
    for result in results:
        reached[str(result["scenarioId"])].add(str(result["status"]))
    seen = [status for status in RESULT_STATUSES if any(status in found for found in reached.values())]
    yield ContractFinding("statuses", f"reached: {', '.join(seen) or 'none'}")
    if not canned:
        yield ContractFinding("statuses", "no canned answers: whether scenarios can be passed is not known")
        return
    for name, found in reached.items():
        lacking = [status for status in ("pass", "fail") if status not in found]
        if lacking:
            yield ContractFinding(
                "statuses", f"{name}: no answer has the status {' or '.join(lacking)}", problem=True
            )


async def _scoring(
    pack: PackProcess, results: Sequence[dict[str, Any]], scenarios: Sequence[str]
) -> list[ContractFinding]:
    """Check the scores that the pack computes from several lists of results.

    A score must be a number, must be the same when computed again, and must not depend on the order of
    results.
    """
    one_each = list({result["scenarioId"]: result for result in results}.values())
    failures = [failed_result(name, Status.EXECUTION_ERROR, "not run") for name in scenarios]
    findings: list[ContractFinding] = []
    totals: dict[str, float] = {}
    cases = {
        "nothing": [],
        "one result": one_each[:1],
        "all results": one_each,
        "all results once more": one_each,
        "all results in reverse": one_each[::-1],
        "results without scores": [{**result, "score": None} for result in one_each],
        "failures of the host's": failures,
    }
    for name, given in cases.items():
        try:
            score = await pack.score(given)
        except ExecutionError as error:
            findings.append(ContractFinding("scoring", f"of {name}: {error}", problem=True))
            continue
        totals[name] = score.total_score
        odd = [one.label for one in score.categories if one.score is None or not math.isfinite(one.score)]
        if odd:
            findings.append(
                ContractFinding(
                    "scoring", f"of {name}: no number for the categories {', '.join(odd)}", problem=True
                )
            )
    same = [totals.get(name) for name in cases if name.startswith("all results")]
    if any(value != same[0] for value in same[1:2]):
        findings.append(
            ContractFinding("determinism", f"the same results scored {same[0]} and {same[1]}", problem=True)
        )
    if same[2] is not None and same[0] is not None and not math.isclose(same[2], same[0]):
        said = f"results in another order score {same[2]}, not {same[0]}"
        findings.append(ContractFinding("scoring", said, problem=True))
    return findings or [ContractFinding("scoring", f"{len(cases)} lists of results have a score")]


def _failing(cell: AttemptOutcome) -> ContractFinding:
    """Check that a cell whose model fails (HTTP 500) ends as a provider error.

    A result with the status "fail" is accepted, too, if it is marked as a provider error.
    """
    if cell.result is None:
        told = isinstance(cell.error, ProviderError)
        return ContractFinding("provider errors", f"{cell.error}", problem=not told)
    status = cell.result["status"]
    if status == "fail" and cell.result.get("errorType") == "provider_error":
        return ContractFinding("provider errors", "a failed request comes back as a provider's error")
    return ContractFinding("provider errors", f"a failed request comes back as {status!r}", problem=True)


def _silent(cell: AttemptOutcome, after: AttemptOutcome) -> ContractFinding:
    """Check that an aborted scenario (`cell`) does not block the scenario that follows (`after`)."""
    if isinstance(cell.error, ExecutionError):
        return ContractFinding("timeouts", f"{cell.error}", problem=True)
    if after.result is None:
        said = f"after a scenario was told to stop, the next one failed: {after.error}"
        return ContractFinding("timeouts", said, problem=True)
    ended = "reached its limit" if isinstance(cell.error, LimitReached) else "ended by itself"
    return ContractFinding("timeouts", f"a scenario whose model never answered {ended}, and the next one ran")


def _short(answer: object) -> str:
    text = repr(answer)
    return text if len(text) <= 60 else f"{text[:60]}…"
