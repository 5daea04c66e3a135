"""Output lines about a run and its trials, in the documented format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchwright import __version__
from benchwright.agents.runners.reports import format_duration, format_tokens
from benchwright.cli.output import CleanText, clean_text, colour_text
from benchwright.config import EvalSettings
from benchwright.engine.worker import ScoredWork, SolvedWork
from benchwright.records import FAILED_STATUSES, ScoreRecord, Status
from benchwright.runs.counting_rules import ScoreState, state_of_score
from benchwright.secrets import SECRETS
from benchwright.text import make_safe, truncate

MAX_ERROR_LENGTH = 50
"""Maximum number of characters of an error in a line. The "..." of a truncated error counts, too."""


def header_lines(program: str, settings: EvalSettings) -> list[str]:
    """Return the lines printed before an evaluation: program and version, models, agent, dataset, scores."""
    facts = (
        ("Endpoint", settings.endpoint.base_url),
        (
            "Model" if len(settings.endpoint.models_under_test) < 2 else "Models",
            ", ".join(entry.title for entry in settings.endpoint.models_under_test) or None,
        ),
        ("Baseline endpoint", settings.baseline.baseline_base_url),
        ("Baseline model", settings.baseline.baseline_model),
        ("Agent", settings.solver.module),
        ("MCP tools", settings.solver.mcp),
        ("Agent command", settings.solver.agent_command),
        ("Command-line agent", settings.solver.agent),
        ("Dataset", settings.rows.dataset),
        ("Scorers", ", ".join(settings.scoring.scorer) or None),
        ("Eval functions", ", ".join(settings.scoring.eval_fn) or None),
    )
    lines = [f"{name}: {to_safe_line(str(value))}" for name, value in facts if value is not None]
    return [f"{program} v{__version__}", *lines]


def run_size_text(rows: int, repeats: int, models: int, batch_size: int | str) -> str:
    """Return the size of a run: "(20 rows x8 runs x2 models, batch_size=4)"."""
    runs = f" x{repeats} runs" if repeats > 1 else ""
    each = f" x{models} models" if models > 1 else ""
    batch = f", batch_size={batch_size}" if batch_size != 1 else ""
    return f"({rows} {'row' if rows == 1 else 'rows'}{runs}{each}{batch})"


def run_line(
    place: tuple[int, int],
    label: str,
    *,
    success: bool,
    spent: str,
    scores: str = "",
    note: str | None = None,
) -> CleanText:
    """Return the line of one trial: "[7/9] FAILED (36ms, 0 tokens) - why".

    `note`: the reason (why) at the line's end.
    """
    status = colour_text("OK", "green") if success else colour_text("FAILED", "red")
    why = f" - {to_truncated_line(note)}" if note else ""
    return clean_text(f"[{place[0]}/{place[1]}] {label}", status, f" ({spent}){scores}{why}")


def time_and_tokens_text(duration_ms: float, tokens: int) -> str:
    """Return the time and tokens of a trial: "26ms, 12 tokens"."""
    return f"{format_duration(duration_ms)}, {format_tokens(tokens)} tokens"


def trial_line(
    place: tuple[int, int], scored: ScoredWork, solved: SolvedWork | None, names: Mapping[str, str]
) -> CleanText:
    """Return the line of a trial.

    `solved`: the solved trial; None if the answer is from an earlier session or run. `names`: names of the targets by
    slot, if there are several targets.
    """
    name = names.get(scored.trial.target.slot)
    success = scored.status not in FAILED_STATUSES
    spent, note = "earlier", None
    if solved is not None:
        record = solved.record
        spent = time_and_tokens_text(record.duration / 1e6, record.tokens)
        note = record.reason
    if success:
        note = None if scored.status is Status.ANSWERED else scored.status.replace("_", " ")
    return run_line(
        place,
        "" if name is None else f"[{to_safe_line(name)}] ",
        success=success,
        spent=spent,
        scores=_scores(scored.scores),
        note=note,
    )


def _scores(scores: Sequence[ScoreRecord]) -> str:
    """Return the scores of a trial as text.

    As documented, the score of a missing answer is shown as 0, with the reason. The score of a failed scorer is left
    out.
    """
    parts = []
    for score in scores:
        failed = state_of_score(score.status, score.value) is ScoreState.FAILED
        shown = "no score" if failed else f"{score.value or 0.0:.3f}"
        part = f"{make_safe(score.scorer)}={shown}"
        if score.value is None:
            error = (score.detail or {}).get("error")
            told = score.status.replace("_", " ")
            part += f" ({told}: {to_truncated_line(str(error))})" if error else f" ({told})"
        parts.append(part)
    return f" [{', '.join(parts)}]" if parts else ""


def to_safe_line(text: str | None) -> str:
    """Return text from outside (a model, a file) in one line, without secrets and terminal control characters."""
    return make_safe(SECRETS.redact(text or ""))


def to_truncated_line(text: str | None) -> str:
    """Return the beginning of a text from outside, in one line."""
    return truncate(to_safe_line(text), MAX_ERROR_LENGTH, "...")
