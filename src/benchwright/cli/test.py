"""`benchwright test`: tries an agent on a few rows, in a batch or step by step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.access_options import access_options
from benchwright.cli.agent_options import agent_options
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import (
    DEFAULT_ENDPOINT_HELP,
    base_url_option,
    dataset_option,
    limit_option,
    max_tokens_option,
    offset_option,
    one_model_option,
    output_options,
    results_option,
    temperature_option,
)
from benchwright.cli.output import echo, say

if TYPE_CHECKING:
    from benchwright.agents.runners.test_mode import LocalTestBatchResult, LocalTestRunResult
    from benchwright.app.test_mode import AgentTest

EXAMPLES = """\b
Examples:
  The first three rows, and how each went:
    benchwright test -m my_agent:MyAgent -d data.jsonl --limit 3 --model m
  Step by step from row 5: what the model says and what the tools return:
    benchwright test -m my_agent:MyAgent -d data.jsonl -i --row 5 --model m
"""

MORE_EXAMPLES = """\b
  A directory of MCP tools, without any agent code:
    benchwright test --mcp ./mcp -d data.jsonl --model my-model \\
        --base-url http://localhost:8000/v1
"""


@click.command(
    "test",
    cls=Command,
    epilog=EXAMPLES,
    more=MORE_EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT"},
)
@dataset_option
@limit_option()
@offset_option
@one_model_option(default="gpt-5-mini")
@base_url_option(DEFAULT_ENDPOINT_HELP)
@access_options
@temperature_option
@max_tokens_option
@agent_options("--agent")
@option("-i", "--interactive", is_flag=True, heading="Running", help="Pause before every model call.")
@option(
    "--row",
    type=int,
    metavar="N",
    heading="Running",
    help="With --interactive, the first row, counted from 0 (default: the first one).",
)
@results_option
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
    console = PlainConsole(err=as_json, soft_wrap=True)
    settings = AgentTestSettings(**options, debug=debug)
    with results_on_stdout(as_json=as_json):
        test = prepare_test(settings, console, quiet=quiet)
    if settings.interactive:
        sys.exit(_step_through(test))
    sys.exit(_run(test, output, as_json=as_json, quiet=quiet))


def _step_through(test: AgentTest) -> int:
    from benchwright.app.event_loop import run_async
    from benchwright.cli.terminal import Terminal

    terminal = Terminal()
    stepper = test.make_stepper(terminal)
    try:
        run_async(test.step_through(stepper))
    except KeyboardInterrupt:
        terminal.show("")
    terminal.show("Interactive session ended.")
    return 1 if stepper.failed else 0


def _run(test: AgentTest, output: Path | None, *, as_json: bool, quiet: bool) -> int:
    from benchwright.app.event_loop import run_async
    from benchwright.app.test_results import results_document, write_results
    from benchwright.cli.output import print_json, results_on_stdout
    from benchwright.cli.output_lines import run_line, time_and_tokens_text, to_safe_line

    def show(current: int, total: int, row: LocalTestRunResult) -> None:
        if quiet:
            return
        spent = time_and_tokens_text(row.duration_ms, row.token_usage.get("total_tokens", 0))
        place, label = (current, total), f"Row {row.row_index}: "
        line = run_line(place, label, success=row.success, spent=spent, note=row.error)
        echo(line, err=as_json)

    interrupted = False
    try:
        with results_on_stdout(as_json=as_json):
            result = run_async(test.run(show))
    except KeyboardInterrupt:
        interrupted, result = True, test.partial_results()
        say("Test interrupted.")
    if not quiet or (result.results and not as_json):
        echo(_summary(result) if quiet else f"\n{_summary(result)}", err=as_json)
    elif result.stopped_early and not interrupted:
        say(f"Error: {to_safe_line(result.stop_reason)}")
    if as_json:
        print_json(results_document(result))
    if output is not None:
        write_results(output, result)
        if not quiet:
            say(f"Written: {output}")
    return 130 if interrupted else 1 if result.failed else 0


def _summary(result: LocalTestBatchResult) -> str:
    from benchwright.agents.runners.reports import format_duration, format_tokens
    from benchwright.cli.output_lines import to_safe_line

    lines = [
        "Summary:",
        f"  Total: {result.total}",
        f"  Passed: {result.passed}",
        f"  Failed: {result.failed}",
        f"  Duration: {format_duration(result.total_duration_ms)}",
        f"  Total tokens: {format_tokens(result.total_tokens)}",
    ]
    if result.stopped_early:
        lines.append(f"  Stopped early: {to_safe_line(result.stop_reason)}")
    elif result.failed:
        first = next(row for row in result.results if not row.success)
        lines.append(f"  First error: row {first.row_index}: {to_safe_line(first.error)}")
    return "\n".join(lines)
