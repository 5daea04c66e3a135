"""Results, conversations and tools as text for a console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from benchwright.agents.runners.results import BenchResult, EvalEvalSummary, EvalResult
from benchwright.engine.answers import content_text
from benchwright.records import Message
from benchwright.text import plain

if TYPE_CHECKING:
    from rich.console import Console

Summaries = Mapping[str, EvalEvalSummary]


def format_duration(ms: float) -> str:
    """Milliseconds as "26ms", from one second on as "6.2s", from one minute on as "3m12.4s"."""
    if round(ms) < 1000:
        return f"{ms:.0f}ms"
    seconds = round(ms / 1000, 1)
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes:.0f}m{seconds:.1f}s"


def format_tokens(tokens: int) -> str:
    """A number of tokens, with commas between thousands."""
    return f"{tokens:,}"


def format_eval_report(result: EvalResult, console: Console, model: str = "") -> None:
    """Prints totals, and a table of every eval function's scores for every model.

    `model` is the name of the only model, where there is no baseline.
    """
    models = [
        (f"{summary.model} ({summary.model_tag})", summary.eval_summaries)
        for summary in result.model_summaries or []
    ]
    _print(console, "Evaluation Results:", result, models or [(model, result.eval_summaries)])


def format_bench_report(result: BenchResult, console: Console) -> None:
    """Prints totals, and a table of every eval function's scores."""
    _print(console, "Benchmark Results:", result, [("", result.eval_summaries)])


def _print(console: Console, title: str, result: EvalResult, models: Sequence[tuple[str, Summaries]]) -> None:
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
    for line in lines:
        console.print(Text(plain(line)))
    console.print(_table(result, models) if result.eval_summaries else Text("  No eval results."))


def _table(result: EvalResult, models: Sequence[tuple[str, Summaries]]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    named = any(model for model, _ in models)
    ks = sorted({k for _, summaries in models for summary in summaries.values() for k in summary.pass_at_k})
    table = Table(box=box.SIMPLE)
    for heading in ("Eval Function", "Model") if named else ("Eval Function",):
        table.add_column(heading, overflow="fold")
    for heading in ("Mean", "Std", "Min", "Max", *(f"pass@{k}" for k in ks)):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in result.eval_summaries:
        for model, summaries in models:
            score = summaries[name]
            figures = [f"{value:.3f}" for value in (score.mean, score.std, score.min, score.max)]
            passes = [f"{score.pass_at_k[k] * 100:.1f}%" for k in ks]
            names = [Text(plain(name)), Text(plain(model))] if named else [Text(plain(name))]
            table.add_row(*names, *figures, *passes)
    return table


def message_text(number: int, message: Message) -> str:
    """A message with its number and role, its tool calls below, everything after the first line indented."""
    text = content_text(message.get("content")) or message.get("refusal") or ""
    said = f"[{number}] {message.get('role')}: {text}".rstrip()
    lines = [said, *map(_call, message.get("tool_calls") or [])]
    return "\n    ".join("\n".join(lines).splitlines())


def tool_text(tool: Mapping[str, Any]) -> str:
    """A tool in the OpenAI format: its name with its parameters (`?`: may be left out), and what it does."""
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
