"""The command tree of `benchwright`, `osmosis` and `llm-bench`."""

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
from benchwright.cli.command_help import PROGRAM_NAME, LazyGroup, Option, option
from benchwright.suggestions import did_you_mean

IMPORT_GC_THRESHOLD = 10_000
"""Threshold of the garbage collector during imports. Imports create many objects and no garbage."""

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

INTERRUPT_REPEAT_SECONDS = 0.01
"""Seconds after which a Ctrl-C that was lost inside one of Python's callbacks is sent again."""

UNSUPPORTED_COMMANDS = ("eval-rubric", "preview")
"""Commands of `osmosis` that need a hosted service, so that Benchwright does not have them."""

COMMANDS_WITHOUT_ENDPOINT = ("list", "compare")
"""Documented commands that need no endpoint.

If options for the endpoint are typed before such a command, it ignores them.
"""

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


class RootGroup(LazyGroup):
    """The root group of all commands. It also accepts options that are typed before the command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return click's resolution of the arguments: (name, command, remaining arguments).

        If there is no command of that name, the nearest name is suggested in the error.
        """
        if args and args[0] in UNSUPPORTED_COMMANDS:
            _refuse_hosted(args[0])
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"Unknown command {args[0]!r}.{did_you_mean(args[0], COMMANDS)} See --help.")
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, [*_moved(ctx, command, rest), *rest]


def _refuse_hosted(name: str) -> NoReturn:
    from benchwright.agents.rubrics import NO_HOSTED_JUDGE_MESSAGE
    from benchwright.errors import UserError

    raise UserError(NO_HOSTED_JUDGE_MESSAGE.format(f"`{name}`"))


def _moved(ctx: click.Context, command: click.Command | None, rest: Sequence[str]) -> list[str]:
    """Return the options typed before a command, as arguments for the command.

    `rest`: the arguments typed after the command. An option there has priority. Commands in `COMMANDS_WITHOUT_ENDPOINT`
    ignore options that they do not have.
    """
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
        elif (
            command is not None
            and command.name not in COMMANDS_WITHOUT_ENDPOINT
            and not ctx.resilient_parsing
        ):
            ctx.fail(f"{command.name} has no option {typed}.")
    return moved


def _before(name: str, metavar: str, text: str) -> Callable[[Any], Any]:
    """Return an option of a command that may also be typed before the command."""
    return option(name, metavar=metavar, rare=True, help=f"{text}; usually after the command.")


@click.group(
    cls=RootGroup,
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
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM_NAME)
def cli(**_: str | None) -> None:
    """Find out what models and agents can do, how fast, and which is better."""


def _open_streams() -> None:
    """Replace closed stdin, stdout or stderr by /dev/null.

    Otherwise the next opened file would get the number of the closed stream, receive the output, and abort the event
    loop.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is the closed one
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode))  # noqa: SIM115


def _close_streams() -> None:
    """Redirect stdout and stderr to /dev/null, so that Python does not retry failed output at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())


def _print_whole() -> None:
    """Make stdout buffered and blocking, so that no output is lost if its reader is slow.

    Unbuffered Python (PYTHONUNBUFFERED, as in many containers) drops the rest of a partial write to a full pipe.
    Another process that shares stdout may have made it non-blocking.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors, line_buffering=True
        )
    with suppress(OSError, ValueError, AttributeError):
        os.set_blocking(sys.stdout.fileno(), True)


def _check_given() -> None:
    """Refuse input that is not valid UTF-8, because keys, files and requests could not contain it.

    Raises:
        UserError: If an argument, a BENCHWRIGHT_ variable or the working directory is not UTF-8, or the
            working directory does not exist.
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
    """Write a text to stderr. Ignore errors, because nothing more can be done."""
    from benchwright.cli.output import echo

    with suppress(OSError):
        echo(text, err=True)
    try:
        sys.stdout.flush()
    except OSError:
        _close_streams()


def _hear_interruptions() -> None:
    """Let Ctrl-C raise KeyboardInterrupt. A parent process may have set Ctrl-C to be ignored; that stays so.

    Python cannot raise exceptions out of its own callbacks, such as finalizers of weak references. If Ctrl-C comes
    during such a callback, the signal is sent again a moment later, and Python's message on the first signal is
    suppressed.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = _not_raised


def _not_raised(lost: Any) -> None:
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    moment = INTERRUPT_REPEAT_SECONDS
    while True:
        later = threading.Timer(moment, os.kill, [os.getpid(), signal.SIGINT])
        later.daemon = True
        try:
            later.start()
            return
        except KeyboardInterrupt:
            moment *= 4  # on a busy machine, the timer fired before `start` returned


def main() -> None:
    """Run the command of this process, then exit. The process exits even if threads of the user's code do not end."""
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
            from benchwright.app.event_loop import exit_despite_threads

            exit_despite_threads(code)


def _interrupted(error: BaseException) -> bool:
    """Return True if an error was caused by Ctrl-C.

    Python 3.11 turns a KeyboardInterrupt inside `__set_name__` into a RuntimeError.
    """
    cause = error.__cause__
    return cause is not None and (isinstance(cause, KeyboardInterrupt) or _interrupted(cause))


def _run() -> None:
    """Run the command. An error becomes one line on stderr and an exit code; see docs/formats.md."""
    from benchwright.errors import BenchwrightError

    gc.set_threshold(IMPORT_GC_THRESHOLD)
    gc.freeze()  # keep imported objects out of the collection at exit, a tenth of the time of `list`
    _open_streams()
    _print_whole()
    program = os.path.basename(sys.argv[0])
    program = PROGRAM_NAME if program == "__main__.py" else program
    try:
        _hear_interruptions()
        _check_given()
        if any(name.startswith("_") and name.endswith("_COMPLETE") for name in os.environ):
            from benchwright.cli.shell_completion import register_completion

            register_completion()
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
