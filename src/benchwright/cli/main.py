"""The one command tree behind `benchwright`, `osmosis` and `llm-bench`."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from benchwright import __version__
from benchwright.cli.grammar import PROGRAM, LazyGroup, Option, option
from benchwright.suggest import did_you_mean

OBJECTS_OF_IMPORTS = 10_000
"""Objects after which the garbage collector looks for cycles: what is imported holds many, and none is garbage."""

COMMANDS = {
    "eval": ("benchwright.cli.eval:command", "Evaluate a model or an agent over a dataset."),
    "bench": ("benchwright.cli.eval:bench", "Like eval, but runs a finished benchmark again."),
    "check": ("benchwright.cli.check:command", "Find out what an endpoint can do."),
    "doctor": ("benchwright.cli.doctor:command", "Check this machine: what works, what is missing."),
    "list": ("benchwright.cli.list:command", "List the benchmarks and the installed bench packs."),
    "run": ("benchwright.cli.run:command", "Run benchmarks of the catalog against a model."),
    "load": ("benchwright.cli.load:command", "Measure speed, goodput and accuracy at rising levels of load."),
    "compare": ("benchwright.cli.compare:command", "Compare runs and result files: is B better than A?"),
    "table": ("benchwright.cli.table:command", "Show runs as a leaderboard: models by benchmarks."),
    "fetch": ("benchwright.cli.fetch:command", "Fetch the datasets of benchmarks."),
    "judge": ("benchwright.cli.judge:command", "Check a judge: agreement with people, corrected scores."),
    "validate": (
        "benchwright.cli.validate:command",
        "Check graders: gold answers must score 1, wrong ones must not.",
    ),
    "pack": ("benchwright.cli.pack:command", "Install, inspect, write and run bench packs."),
    "test": ("benchwright.cli.test:command", "Try an agent on a few rows, in a batch or step by step."),
    "simulate": (
        "benchwright.cli.simulate:command",
        "Serve a simulated model for testing.",
    ),
    "init": ("benchwright.cli.init:command", "Create starter files: an agent with a tool and rewards."),
    "schema": ("benchwright.cli.schema:command", "Print a JSON Schema of configuration files, for editors."),
    "runs": ("benchwright.cli.runs:command", "List, show, tag and delete the runs on this machine."),
    "cache": ("benchwright.cli.cache:command", "List, show and delete cached evaluations."),
    "agents": ("benchwright.cli.agents:command", "List and install command-line agents."),
    "images": ("benchwright.cli.images:command", "List and delete our images of containers."),
    "resume": ("benchwright.cli.resume:resume", "Resume an unfinished run."),
    "retry": ("benchwright.cli.resume:retry", "Retry failed trials of a run."),
    "show": ("benchwright.cli.show:command", "Show the summary of a run."),
    "replay": ("benchwright.cli.replay:command", "Show a run of a pack once more, event by event."),
    "audit": (
        "benchwright.cli.audit:command",
        "Look for passes without a solution: tests read, tools changed.",
    ),
    "noise": ("benchwright.cli.noise:command", "Show how much a model differs from itself."),
    "report": ("benchwright.cli.report:command", "Write runs as a single HTML file."),
    "export": ("benchwright.cli.export:command", "Write a run's rows as Parquet, CSV or JSONL."),
    "import": ("benchwright.cli.import_results:command", "Take results of other programs into the store."),
    "completion": ("benchwright.cli.completion:command", "Print what lets your shell complete our commands."),
    "view": ("benchwright.cli.view:command", "Watch, read and compare runs in the browser."),
}

HEADINGS = {
    "Evaluate and measure": ("eval", "bench", "run", "load", "pack", "resume", "retry"),
    "Read results": (
        "runs",
        "show",
        "replay",
        "compare",
        "table",
        "audit",
        "noise",
        "judge",
        "report",
        "export",
        "import",
        "view",
        "cache",
    ),
    "Prepare": (
        "check",
        "doctor",
        "list",
        "fetch",
        "validate",
        "agents",
        "images",
        "test",
        "simulate",
        "init",
        "schema",
        "completion",
    ),
}

MOMENT = 0.01
"""Seconds after which a Ctrl-C that hit a callback is heard."""

HOSTED = ("eval-rubric", "preview")
"""Commands of `osmosis` that ask a hosted service."""

NEED_NO_ENDPOINT = ("list", "compare")
"""Documented commands that take the options before them and make no use of them."""

EXAMPLES = """\b
Examples:
  benchwright simulate --port 8000
  benchwright eval -d questions.jsonl --scorer mcq --model simulated \\
      --base-url http://localhost:8000/v1
"""

EXIT_CODES = """\b
Exit codes:
  0    done
  1    an error, or a run that stopped early
  2    usage error
  3    a rule of compare failed, or audit --fail-on-flags found signs
  4    finished, but a figure is missing, or more trials failed than
       --max-failures allows
  130  interrupted
"""


class Root(LazyGroup):
    """All commands; takes options before the command as well."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds a command; suggests the nearest name where there is none."""
        if args and args[0] in HOSTED:
            _refuse_hosted(args[0])
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"Unknown command {args[0]!r}.{did_you_mean(args[0], COMMANDS)} See --help.")
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, [*_moved(ctx, command, rest), *rest]


def _refuse_hosted(name: str) -> NoReturn:
    from benchwright.agents.rubrics import NO_HOSTED_JUDGE
    from benchwright.errors import UserError

    raise UserError(NO_HOSTED_JUDGE.format(f"`{name}`"))


def _moved(ctx: click.Context, command: click.Command | None, rest: Sequence[str]) -> list[str]:
    """The options given before a command, as arguments of it: those after it, in `rest`, win. `list` needs none."""
    spellings = {
        spelling
        for parameter in (command.params if command is not None else ())
        for spelling in (parameter.spellings if isinstance(parameter, Option) else parameter.opts)
    }
    moved = []
    for name, value in ctx.params.items():
        if value is None:
            continue
        typed = f"--{name.replace('_', '-')}"
        if typed in spellings:
            moved += [] if any(each.partition("=")[0] == typed for each in rest) else [typed, value]
        elif command is not None and command.name not in NEED_NO_ENDPOINT and not ctx.resilient_parsing:
            ctx.fail(f"{command.name} has no option {typed}.")
    return moved


def _before(name: str, metavar: str, text: str) -> Callable[[Any], Any]:
    """An option that is accepted before the command as well, for which it is meant."""
    return option(name, metavar=metavar, rare=True, help=f"{text}; usually after the command.")


@click.group(
    cls=Root,
    addresses=COMMANDS,
    headings=HEADINGS,
    epilog=EXAMPLES,
    more=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@_before("--base-url", "URL", "Base URL of the endpoint")
@_before("--model", "MODEL", "Name of the model")
@_before("--api-key", "KEY", "API key")
@_before("--output-dir", "DIR", "Directory of result files")
@_before("--data-dir", "DIR", "Directory of datasets")
@_before("--env-file", "FILE", "File with keys and settings (default: .env here)")
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM)
def cli(**_: str | None) -> None:
    """Find out what models and agents can do, how fast, and which is better."""


def _open_streams() -> None:
    """Puts /dev/null where stdin, stdout or stderr was closed.

    Else the next file that is opened would take its number, be printed into, and abort the event loop.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest that is free: the one that was closed
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode))  # noqa: SIM115


def _close_streams() -> None:
    """Puts /dev/null behind stdout and stderr, so that what could not be written is not tried again at the exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())


def _print_whole() -> None:
    """Sees to it that nothing printed is lost where whoever reads it is slow.

    Python without buffers (PYTHONUNBUFFERED, as in many containers) drops what a write to a full pipe has left over,
    and whoever shares our stdout may have made it not wait at all.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors, line_buffering=True
        )
    with suppress(OSError, ValueError, AttributeError):
        os.set_blocking(sys.stdout.fileno(), True)


def _check_given() -> None:
    """Refuses what is not text in UTF-8: keys, files and requests could not hold it.

    Raises:
        UserError: an argument, a variable of ours, or the working directory is none, or there is no such directory.
    """
    from benchwright.errors import UserError

    try:
        directory = os.getcwd()
    except OSError:
        raise UserError("The working directory is gone or cannot be read; change to another one.") from None
    variables = (value for name, value in os.environ.items() if name.startswith("BENCHWRIGHT_"))
    for text in (*sys.argv[1:], *variables, directory):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UserError(f"{text!r} is not valid UTF-8; use another name.") from None


def _complain(text: str) -> None:
    """Writes to stderr; nothing more can be done where that fails."""
    from benchwright.cli.output import echo

    with suppress(OSError):
        echo(text, err=True)
    try:
        sys.stdout.flush()
    except OSError:
        _close_streams()


def _hear_interruptions() -> None:
    """Has Ctrl-C raise KeyboardInterrupt, unless whoever started us has it ignored.

    Python raises nothing out of a callback of its own, such as the end of a weak reference: a Ctrl-C that hits one is
    heard a moment later, and not told.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = _not_raised


def _not_raised(lost: Any) -> None:
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    moment = MOMENT
    while True:
        later = threading.Timer(moment, os.kill, [os.getpid(), signal.SIGINT])
        later.daemon = True
        try:
            later.start()
            return
        except KeyboardInterrupt:
            moment *= 4  # on a busy machine it was over before the thread had quite started


def main() -> None:
    """Runs a command, and ends even where threads of the user's code do not."""
    code: object = 1
    try:
        _run()
        code = 0
    except SystemExit as ended:
        code = ended.code
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has ended: nothing is left to interrupt
        if threading.active_count() > 1:
            from benchwright.app.loop import leave_threads

            leave_threads(code)


def _interrupted(error: BaseException) -> bool:
    """Whether an error came of a Ctrl-C: Python 3.11 turns one that hits `__set_name__` into a RuntimeError."""
    cause = error.__cause__
    return cause is not None and (isinstance(cause, KeyboardInterrupt) or _interrupted(cause))


def _run() -> None:
    """Runs a command and turns errors into one line and an exit code: those of docs/formats.md."""
    from benchwright.errors import BenchwrightError

    gc.set_threshold(OBJECTS_OF_IMPORTS)
    gc.freeze()  # at the exit nothing of click is searched for cycles, which would take a tenth of what `list` does
    _open_streams()
    _print_whole()
    program = os.path.basename(sys.argv[0])
    program = PROGRAM if program == "__main__.py" else program
    try:
        _hear_interruptions()
        _check_given()
        if any(name.startswith("_") and name.endswith("_COMPLETE") for name in os.environ):
            from benchwright.cli.shells import register

            register()
        cli.main(prog_name=program, standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show(shown := io.StringIO())
        _complain(shown.getvalue().rstrip())
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _close_streams()
        sys.exit(1)
    except Exception as error:
        if _interrupted(error):
            sys.exit(130)
        if isinstance(error, BenchwrightError) and "--debug" not in sys.argv:
            _complain(f"Error: {error}")
        else:
            import traceback

            _complain(traceback.format_exc().rstrip())
        sys.exit(1)
