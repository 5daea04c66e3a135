"""Rules and gates by which scripts decide on load measurements: `--fail-if` and `--max-regression`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchwright.analysis.comparison.records import GateResult
from benchwright.analysis.comparison.rules import apply_rule, parse_rule
from benchwright.analysis.load.comparison.figures import COMPARED_FIGURES
from benchwright.analysis.load.comparison.records import LoadChange, LoadPair
from benchwright.errors import UserError
from benchwright.records import Record

GATED_FIGURES = ("achieved", "goodput", "ttft_p99", "latency_p99")
"""Names of the figures that `--max-regression` checks at each level."""


class LoadRules(Record, frozen=True):
    """Rules for load measurements; see `ComparisonOptions`.

    `max_regression`: the loss that may pass, as a share (0.1: a tenth), at a confidence of 95 %.
    """

    fail_if: tuple[str, ...] = ()
    max_regression: float | None = None
    require_non_inferiority: bool = False


def metrics_of(pairs: Sequence[LoadPair]) -> dict[str, float | None]:
    """Return the figures by the names that `--fail-if` uses. If there are several pairs, the last one counts.

    `16.achieved` is the figure of B at 16 requests in flight. `16.achieved.change` is its change from A to B.
    `best` is the highest rate of B, and `best.change` is its change from the highest rate of A.
    """
    found: dict[str, float | None] = {}
    for pair in pairs:
        if pair.best is not None:
            found |= {"best": pair.best.b.value, "best.change": pair.best.change}
        for change in pair.changes:
            name = f"{change.level_b.name}.{change.measure}"
            found |= {name: change.b.value, f"{name}.change": change.change}
    return found


def gate_results(
    pairs: Sequence[LoadPair], metrics: Mapping[str, float | None], rules: LoadRules
) -> Iterator[GateResult]:
    """Yield the gate result of each rule.

    Raises:
        UserError: If a rule is invalid or names an unknown figure, or nothing can be compared.
    """
    for text in rules.fail_if:
        yield apply_rule(parse_rule(text), metrics)
    if rules.max_regression is None:
        return
    if not 0 <= rules.max_regression < 1:
        raise UserError(
            "--max-regression of a load is a share: give a number from 0 to below 1, such as 0.1 for a tenth."
        )
    for pair in pairs:
        for name in pair.silent:
            yield GateResult(f"answers/s at {name}: answered at all", False, f"{pair.b} answered no request")
    gated = [change for pair in pairs for change in pair.changes if change.measure in GATED_FIGURES]
    if not gated and not any(pair.silent for pair in pairs):
        reasons = dict.fromkeys(note for pair in pairs for note in pair.notes)
        raise UserError(f"--max-regression: no figure can be compared. {'. '.join(reasons)}")
    for change in gated:
        yield (
            _on_proof(change, rules.max_regression)
            if rules.require_non_inferiority
            else _on_loss(change, rules.max_regression)
        )


def _name(change: LoadChange) -> str:
    return f"{COMPARED_FIGURES[change.measure].readable_name} at {change.level_b.name}"


def _loss(change: LoadChange) -> tuple[float, float | None, float | None]:
    """Return (loss of B, its lower bound, its upper bound), as shares of A. The loss is negative if B is better."""
    if COMPARED_FIGURES[change.measure].higher_is_better:
        return -change.change, _negative(change.high), _negative(change.low)
    return change.change, change.low, change.high


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def _on_loss(change: LoadChange, margin: float) -> GateResult:
    loss, least, _ = _loss(change)
    rule = f"{_name(change)}: not surely worse by more than {margin * 100:g} %"
    surely = "its interval is not known" if least is None else f"surely at least {least * 100:+.1f} %"
    return GateResult(rule, least is None or least <= margin, f"the loss is {loss * 100:+.1f} %, {surely}")


def _on_proof(change: LoadChange, margin: float) -> GateResult:
    loss, _, most = _loss(change)
    rule = f"{_name(change)}: shown to be not worse by more than {margin * 100:g} %"
    bound = "unknown: too few requests" if most is None else f"{most * 100:+.1f} %"
    return GateResult(
        rule, most is not None and most <= margin, f"the loss is {loss * 100:+.1f} %, at most {bound}"
    )
