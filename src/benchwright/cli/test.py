"""`benchwright test`: an agent on a few rows, in a batch or step by step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.options import output_options, set_up_logging
from benchwright.cli.output import echo, say

if TYPE_CHECKING:
    from benchwright.agents.runners.test_mode import LocalTestBatchResult, LocalTestRunResult
    from benchwright.app.test_mode import AgentTest

EXAMPLES = """\b
Examples:
  The first three rows, and how each went:
    benchwright test -m my_agent:MyAgent -d data.jsonl --limit 3 \\
        --model my-model --base-url http://localhost:8000/v1
  Step by step from row 5: see what the model says and what the tools return:
    benchwright test -m my_agent:MyAgent -d data.jsonl --interactive --row 5 \\
        --model my-model --base-url http://localhost:8000/v1
  A directory of MCP tools, without any agent code:
    benchwright test --mcp ./mcp -d data.jsonl --model my-model --base-url http://localhost:8000/v1
"""


@click.command(
    "test", epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False}
)
@click.option(
    "-d", "--dataset", type=click.Path(path_type=Path), metavar="FILE",
    help="Dataset file: .jsonl, .json, .csv or .parquet.",
)  # fmt: skip
@click.option(
    "-m", "--module", "--agent", "module", metavar="MODULE:ATTR", help="Your agent: a RolloutAgentLoop."
)  # fmt: skip
@click.option(
    "--mcp", type=click.Path(path_type=Path), metavar="DIR",
    help="Directory of MCP tools, with a main.py that creates a FastMCP instance.",
)  # fmt: skip
@click.option("--limit", type=int, help="Maximum number of rows (default: all).")
@click.option("--offset", type=int, default=0, show_default=True, help="Number of rows to skip first.")
@click.option(
    "--max-turns", type=int, default=10, show_default=True, help="Maximum turns of the agent per row."
)
@click.option(
    "--model", metavar="MODEL", default="gpt-5-mini", show_default=True,
    help="Name of the model, as the endpoint lists it.",
)  # fmt: skip
@click.option(
    "--base-url",
    metavar="URL",
    help="Base URL of the endpoint, such as http://localhost:8000/v1 (default: $OPENAI_BASE_URL or OpenAI).",
)
@click.option(
    "--api-key",
    metavar="KEY",
    help="API key; EMPTY sends none (default: $BENCHWRIGHT_API_KEY, then $OPENAI_API_KEY).",
)
@click.option("--temperature", type=float, help="Sampling temperature (default: not sent).")
@click.option("--max-tokens", type=int, help="Maximum tokens per answer (default: not sent).")
@click.option("-i", "--interactive", is_flag=True, help="Pause before every model call.")
@click.option(
    "--row",
    type=int,
    metavar="N",
    help="First row, counted from 0 (requires --interactive; default: the first one).",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write results to FILE as JSON."
)  # fmt: skip
@output_options
def command(as_json: bool, quiet: bool, debug: bool, output: Path | None, **options: Any) -> None:
    """Try an agent on a few rows, in a batch or step by step.

    A row passes if the agent completes it. Nothing is scored or saved. With --debug, events that the agent logs
    with ctx.log_event are written to ./test_debug, one file per row.
    """
    from benchwright.app.test_mode import AgentTestSettings, prepare_test
    from benchwright.cli.console import PlainConsole
    from benchwright.cli.output import results_on_stdout
    from benchwright.errors import UserError

    if options["interactive"] and (as_json or output is not None):
        raise UserError("--json and --output cannot be combined with --interactive.")
    set_up_logging(debug=debug)
    console = PlainConsole(err=as_json, soft_wrap=True)
    settings = AgentTestSettings(**options, debug=debug)
    with results_on_stdout(as_json=as_json):
        test = prepare_test(settings, console, quiet=quiet)
    if settings.interactive:
        sys.exit(_step_through(test))
    sys.exit(_run(test, output, as_json=as_json, quiet=quiet))


def _step_through(test: AgentTest) -> int:
    from benchwright.app.loop import run_async
    from benchwright.cli.terminal import Terminal

    terminal = Terminal()
    stepper = test.stepper(terminal)
    try:
        run_async(test.step_through(stepper))
    except KeyboardInterrupt:
        terminal.show("")
    terminal.show("Interactive session ended.")
    return 1 if stepper.failed else 0


def _run(test: AgentTest, output: Path | None, *, as_json: bool, quiet: bool) -> int:
    from benchwright.app.loop import run_async
    from benchwright.app.test_results import results_document, write_results
    from benchwright.cli.lines import one_line, run_line, spent_text
    from benchwright.cli.output import print_json, results_on_stdout

    def show(current: int, total: int, row: LocalTestRunResult) -> None:
        if quiet:
            return
        spent = spent_text(row.duration_ms, row.token_usage.get("total_tokens", 0))
        place, label = (current, total), f"Row {row.row_index}: "
        line = run_line(place, label, success=row.success, spent=spent, note=row.error)
        echo(line, err=as_json)

    interrupted = False
    try:
        with results_on_stdout(as_json=as_json):
            result = run_async(test.run(show))
    except KeyboardInterrupt:
        interrupted, result = True, test.so_far()
        say("Test interrupted.")
    if not quiet:
        echo(_summary(result), err=as_json)
    elif result.stopped_early and not interrupted:
        say(f"Error: {one_line(result.stop_reason)}")
    if as_json:
        print_json(results_document(result))
    if output is not None:
        write_results(output, result)
        if not quiet:
            say(f"Written: {output}")
    return 130 if interrupted else 1 if result.failed else 0


def _summary(result: LocalTestBatchResult) -> str:
    from benchwright.agents.runners.reports import format_duration, format_tokens
    from benchwright.cli.lines import one_line

    lines = [
        "",
        "Summary:",
        f"  Total: {result.total}",
        f"  Passed: {result.passed}",
        f"  Failed: {result.failed}",
        f"  Duration: {format_duration(result.total_duration_ms)}",
        f"  Total tokens: {format_tokens(result.total_tokens)}",
    ]
    if result.stopped_early:
        lines.append(f"  Stopped early: {one_line(result.stop_reason)}")
    elif result.failed:
        first = next(row for row in result.results if not row.success)
        lines.append(f"  First error: row {first.row_index}: {one_line(first.error)}")
    return "\n".join(lines)
