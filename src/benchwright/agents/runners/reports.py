"""Formats results, conversations and tools as text for a console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from benchwright.agents.runners.results import BenchResult, EvalEvalSummary, EvalResult
from benchwright.engine.answers import content_text
from benchwright.records import Message
from benchwright.statistic import NoScore
from benchwright.text import make_safe

if TYPE_CHECKING:
    from rich.console import Console


class _Model(NamedTuple):
    """A model in a table: the name to show, and the model's figures. `tag`: see `EvalRunResult.model_tag`."""

    name: str
    tag: str | None
    summaries: Mapping[str, EvalEvalSummary]

    def no_score(self, result: EvalResult) -> NoScore | None:
        """Return why none of the model's runs has a score. Return None if a run has a score."""
        runs = [run for row in result.rows for run in row.runs if self.tag in (None, run.model_tag)]
        if not runs or any(run.success for run in runs):
            return None
        return NoScore(len(runs), dict(Counter(run.error or "it failed" for run in runs).most_common()))


def format_duration(ms: float) -> str:
    """Format a duration: as "26ms" below one second, as "6.2s" below one minute, and as "3m12.4s" from there on."""
    if round(ms) < 1000:
        return f"{ms:.0f}ms"
    seconds = round(ms / 1000, 1)
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes:.0f}m{seconds:.1f}s"


def format_tokens(tokens: int) -> str:
    """Format a number of tokens with commas between thousands."""
    return f"{tokens:,}"


def format_eval_report(result: EvalResult, console: Console, model: str = "") -> None:
    """Print totals, and a table with the scores of every model by every eval function.

    `model`: the name of the model, if there is no baseline.
    """
    models = [
        _Model(f"{summary.model} ({summary.model_tag})", summary.model_tag, summary.eval_summaries)
        for summary in result.model_summaries or []
    ]
    _print(console, "Evaluation Results:", result, models or [_Model(model, None, result.eval_summaries)])


def format_bench_report(result: BenchResult, console: Console) -> None:
    """Print totals, and a table with the scores by every eval function."""
    _print(console, "Benchmark Results:", result, [_Model("", None, result.eval_summaries)])


def _print(console: Console, title: str, result: EvalResult, models: Sequence[_Model]) -> None:
    from rich.text import Text

    lines = [
        title,
        f"  Rows: {result.total_rows}",
        f"  Runs per row: {result.n_runs}",
        f"  Total runs: {result.total_runs}",
        f"  Duration: {format_duration(result.total_duration_ms)}",
        f"  Total tokens: {format_tokens(result.total_tokens)}",
    ]
    if result.stopped_early:
        lines.append(f"  Stopped early: {result.stop_reason}")
    none = [(model.name, model.no_score(result)) for model in models]
    lines += [f"  {name}{': ' if name else ''}{why}" for name, why in none if why is not None]
    for line in lines:
        console.print(Text(make_safe(line)))
    console.print(_table(result, models) if result.eval_summaries else Text("  No eval results."))


def _table(result: EvalResult, models: Sequence[_Model]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    named = any(model.name for model in models)
    scored = [model for model in models if model.no_score(result) is None]
    ks = sorted({k for model in scored for summary in model.summaries.values() for k in summary.pass_at_k})
    table = Table(box=box.SIMPLE)
    for heading in ("Eval Function", "Model") if named else ("Eval Function",):
        table.add_column(heading, overflow="fold")
    for heading in ("Mean", "Std", "Min", "Max", *(f"pass@{k}" for k in ks)):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in result.eval_summaries:
        for model in models:
            names = [Text(make_safe(name)), Text(make_safe(model.name))] if named else [Text(make_safe(name))]
            known = (
                _cells(model.summaries[name], ks) if model in scored else ["no score", *["–"] * (3 + len(ks))]
            )
            table.add_row(*names, *known)
    return table


def _cells(score: EvalEvalSummary, ks: Sequence[int]) -> list[str]:
    figures = [f"{value:.3f}" for value in (score.mean, score.std, score.min, score.max)]
    return figures + [f"{score.pass_at_k[k] * 100:.1f}%" if k in score.pass_at_k else "–" for k in ks]


def message_text(number: int, message: Message) -> str:
    """Format a message with its number and role, followed by its tool calls.

    All lines except the first are indented.
    """
    text = content_text(message.get("content")) or message.get("refusal") or ""
    said = f"[{number}] {message.get('role')}: {text}".rstrip()
    lines = [said, *map(_call, message.get("tool_calls") or [])]
    return "\n    ".join("\n".join(lines).splitlines())


def tool_text(tool: Mapping[str, Any]) -> str:
    """Format a tool given in the OpenAI format: name, parameters (`?`: optional) and description."""
    function = tool["function"]
    schema = function.get("parameters") or {}
    required = schema.get("required") or []
    parameters = ", ".join(
        f"{name}{'' if name in required else '?'}: {rule.get('type', 'any')}"
        for name, rule in (schema.get("properties") or {}).items()
    )
    lines = [f"{function['name']}({parameters})", *str(function.get("description") or "").splitlines()]
    return "\n    ".join(lines)


def _call(call: Any) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return f"calls {call}"
    arguments = function.get("arguments")
    told = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return f"calls {function.get('name')}({told})"
