"""`benchwright simulate`: a simulated OpenAI-compatible endpoint, as a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.output import echo
from benchwright.records import UNREADABLE

if TYPE_CHECKING:
    from benchwright.endpoint.simulate import Faults, Settings
    from benchwright.endpoint.simulate.settings import ToolTurn

EXAMPLES = """\b
Examples:
  Echo every prompt on a free port, and write the port to a file:
    benchwright simulate --port 0 --port-file port.txt
  Answer 70 % of an answer key correctly, 50 ms to the first token, then one about every 10 ms:
    benchwright simulate --answers key.jsonl --accuracy 0.7 --answer-template 'Answer: {answer}' \\
        --first-token 50 --between-tokens lognormal:10:0.3
  One request in ten is rate-limited, one in twenty is cut off:
    benchwright simulate --fault rate_limit=0.1 --fault truncate=0.05 --retry-after 0.2
  A fast load target: four processes, 128 words per answer, and the times as the server saw them:
    benchwright simulate --processes 4 --policy words --words 128 --log truth.jsonl
"""


@click.command("simulate", epilog=EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--port-file", type=click.Path(path_type=Path), metavar="FILE", help="Write the port to FILE.")
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of processes that share the port.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="Model name to serve (default: any name). Repeatable.",
)
@click.option("--api-key", metavar="KEY", help="Refuse requests without this API key (default: accept all).")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of everything random."
)
@click.option(
    "--policy",
    type=click.Choice(["echo", "words", "gibberish", "refusal"]),
    default="echo",
    show_default=True,
    help="What to answer when neither script nor answer key matches.",
)
@click.option(
    "--words",
    type=click.IntRange(0),
    default=32,
    show_default=True,
    help="Length of an answer in words, for the policies words and gibberish.",
)
@click.option(
    "--answers",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help='Answer key: lines of {"prompt", "answer", "tool_calls"}.',
)
@click.option(
    "--scripts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help='Conversations to play: lines of {"prompt", "replies", "wrong"}, the prompt part of the opening.',
)
@click.option(
    "--accuracy",
    type=float,
    default=1.0,
    show_default=True,
    help="Fraction of the answer key and scripts that is answered correctly, 0 to 1.",
)
@click.option(
    "--answer-template",
    default="{answer}",
    show_default=True,
    help="Template of answers from the key; {answer} is replaced.",
)
@click.option(
    "--reasoning", default="", metavar="TEXT", help="Reasoning to send before every answer (default: none)."
)
@click.option(
    "--reasoning-style",
    type=click.Choice(["reasoning_content", "reasoning", "think"]),
    default="reasoning_content",
    show_default=True,
    help="Field that carries the reasoning; think puts it inline.",
)
@click.option(
    "--tools", "call_tools", is_flag=True, help="Call the first tool offered, then answer with its result."
)
@click.option(
    "--tool-calls",
    metavar="JSON",
    help='Tool calls to make, turn by turn: [{"name": ..., "arguments": {...}}, ...].',
)
@click.option(
    "--first-token",
    default="0",
    show_default=True,
    metavar="DELAY",
    help="Time to the first token in milliseconds: MS or KIND:MS[:SPREAD], with KIND constant, uniform or lognormal.",
)
@click.option(
    "--between-tokens",
    default="0",
    show_default=True,
    metavar="DELAY",
    help="Time between two tokens, in the same form.",
)
@click.option(
    "--slots",
    type=click.IntRange(1),
    help="Answers in progress at once, per process; further requests wait (default: no limit).",
)
@click.option(
    "--prefix-cache",
    is_flag=True,
    help="Report prompt tokens as cached that began an earlier prompt, in blocks of 16, per process.",
)
@click.option("--split", is_flag=True, help="Send every piece in two HTTP chunks, split at a random place.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND=RATE",
    help="Fail this fraction of requests; KIND is rate_limit, server_error, reset, stall, truncate, malformed or "
    "slow_headers. Repeatable.",
)
@click.option("--max-faults", type=click.IntRange(0), help="Maximum number of faults (default: no limit).")
@click.option(
    "--retry-after",
    type=float,
    default=1.0,
    show_default=True,
    help="Seconds in the Retry-After header of a rate limit.",
)
@click.option("--retry-after-date", is_flag=True, help="Send Retry-After as an HTTP date.")
@click.option(
    "--stall-seconds", type=float, default=30.0, show_default=True, help="Length of a stall in seconds."
)
@click.option(
    "--slow-header-seconds",
    type=float,
    default=2.0,
    show_default=True,
    help="Delay of slow headers in seconds.",
)
@click.option(
    "--log",
    "log",
    type=click.Path(),
    metavar="FILE",
    help="Write what the server knows of each request to FILE, one JSON line each.",
)
def command(host: str, port: int, port_file: Path | None, processes: int, **options: Any) -> None:
    """Serve a simulated model for testing. Stop it with Ctrl-C.

    It speaks the OpenAI API (chat completions, completions, models), and has /metrics and /tokenize like vLLM. Its
    answers follow the rules below; they do not come from a model.
    """
    from benchwright.endpoint.simulate import serve

    settings = _settings(options)

    def announce(base_url: str) -> None:
        if port_file is not None:
            _write_port(port_file, base_url)
        echo(f"Simulated endpoint at {base_url} (answers are not from a model)")

    serve(settings, host=host, port=port, processes=processes, announce=announce)


def _settings(options: dict[str, Any]) -> Settings:
    from benchwright.endpoint.simulate import Delay, Settings, read_keyed_answers, read_scripts

    answers, scripts = options["answers"], options["scripts"]
    plain = ("models", "api_key", "seed", "policy", "words", "accuracy", "answer_template", "reasoning")
    return Settings(
        **{
            name: options[name]
            for name in (*plain, "reasoning_style", "call_tools", "split", "slots", "prefix_cache")
        },
        answers=() if answers is None else read_keyed_answers(answers),
        scripts=() if scripts is None else read_scripts(scripts),
        tool_calls=_tool_calls(options["tool_calls"]),
        first_token=Delay.parse(options["first_token"]),
        between_tokens=Delay.parse(options["between_tokens"]),
        faults=_faults(options),
        truth_file=options["log"],
        truth_kept=0,
    )


def _faults(options: dict[str, Any]) -> Faults:
    from benchwright.endpoint.simulate import Faults
    from benchwright.endpoint.simulate.settings import FAULT_KINDS

    rates: dict[str, Any] = {}
    for text in options["faults"]:
        kind, _, rate = text.partition("=")
        if kind not in FAULT_KINDS:
            raise click.BadParameter(
                f"{kind!r} is not one of {', '.join(FAULT_KINDS)}.", param_hint="--fault"
            )
        try:
            rates[kind] = float(rate)
        except ValueError:
            raise click.BadParameter(f"{text!r} is not KIND=RATE.", param_hint="--fault") from None
    names = ("max_faults", "retry_after", "retry_after_date", "stall_seconds", "slow_header_seconds")
    return Faults(**rates, **{name: options[name] for name in names})


def _tool_calls(text: str | None) -> tuple[ToolTurn, ...]:
    import msgspec

    from benchwright.endpoint.simulate.settings import ToolTurn

    if text is None:
        return ()
    try:
        return msgspec.json.decode(text.encode(), type=tuple[ToolTurn, ...])
    except UNREADABLE as error:
        raise click.BadParameter(f"not a list of calls ({error}).", param_hint="--tool-calls") from None


def _write_port(path: Path, base_url: str) -> None:
    """Writes the port whole, so that whoever waits for the file never reads half of it."""
    from benchwright.errors import UserError
    from benchwright.files import write_whole

    port = base_url.rpartition(":")[2].partition("/")[0]
    if not path.parent.is_dir():
        raise UserError(f"Cannot write {path}: there is no directory {path.parent}.")
    write_whole(path, f"{port}\n".encode())
