"""`benchwright simulate`: a simulated OpenAI-compatible endpoint in its own process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.command_help import Command, option
from benchwright.cli.options import host_option, port_option
from benchwright.cli.output import echo
from benchwright.records import DECODE_ERRORS

if TYPE_CHECKING:
    from benchwright.endpoint.simulate import Delay, Faults, Settings
    from benchwright.endpoint.simulate.settings import ToolTurn

DEFAULT_PREFIX_CACHE_BLOCKS = 65_536
"""Number of cache blocks that the deprecated option --prefix-cache stands for. That option takes no number."""

EXAMPLES = """\b
Examples:
  Echo every prompt on a free port, and write the port to a file:
    benchwright simulate --port 0 --port-file port.txt
  Answer 70 % of an answer key correctly, 50 ms to the first token:
    benchwright simulate --answers key.jsonl --accuracy 0.7 --ttft 50ms
"""

MORE_EXAMPLES = """\b
  A token about every 10 ms, and answers in a form of their own:
    benchwright simulate --answers key.jsonl --itl lognormal:10ms:0.3 \\
        --answer-template 'Answer: {answer}'
  One request in ten is rate-limited, one in twenty is cut off:
    benchwright simulate --fault rate_limit=0.1 --fault truncate=0.05 \\
        --retry-after 0.2
  A fast load target: four processes, 128 words in each answer, and the times
  as the server saw them:
    benchwright simulate --workers 4 --policy words --words 128 \\
        --log truth.jsonl
"""


@click.command("simulate", cls=Command, epilog=EXAMPLES, more=MORE_EXAMPLES)
@host_option
@port_option(8000)
@option(
    "--port-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    heading="Server",
    help="Write the port to FILE.",
)
@option(
    "--workers",
    "processes",
    old=("--processes",),
    type=click.IntRange(1, 256),
    metavar="N",
    default=1,
    heading="Server",
    help="Processes that share the port.",
)
@option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    heading="Server",
    help="Model name to serve (default: any name). Repeatable.",
)
@option(
    "--api-key",
    metavar="KEY",
    heading="Server",
    rare=True,
    help="Refuse requests without this API key (default: accept all).",
)
@option(
    "--slots",
    type=click.IntRange(1),
    metavar="N",
    heading="Server",
    help="Answers in progress at once in a process; more requests wait (default: no limit).",
)
@option(
    "--cache-blocks",
    type=click.IntRange(1),
    metavar="N",
    heading="Server",
    rare=True,
    help="Memory of a process for the tokens of prompts and answers, in blocks; prompts that begin alike share them "
    "(default: no limit and no prefix cache).",
)
@option(
    "--block-size",
    type=click.IntRange(1),
    metavar="TOKENS",
    default=16,
    heading="Server",
    rare=True,
    help="Tokens in a block of --cache-blocks.",
)
@option("--prefix-cache", is_flag=True, hidden=True, help=f"--cache-blocks {DEFAULT_PREFIX_CACHE_BLOCKS:,}.")
@option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    heading="Server",
    help="Seed of everything random.",
)
@option(
    "--log",
    "log",
    type=click.Path(),
    metavar="FILE",
    heading="Server",
    help="Write what the server knows of each request to FILE, one JSON line each.",
)
@option(
    "--policy",
    type=click.Choice(["echo", "words", "gibberish", "refusal"]),
    metavar="POLICY",
    default="echo",
    heading="Answers",
    help="echo, words, gibberish or refusal, where neither script nor answer key matches.",
)
@option(
    "--words",
    type=click.IntRange(0),
    metavar="WORDS",
    default=32,
    heading="Answers",
    help="Length of an answer, for the policies words and gibberish.",
)
@option(
    "--answers",
    type=click.Path(path_type=Path),
    metavar="FILE",
    heading="Answers",
    help='Answer key: lines of {"prompt", "answer", "tool_calls"}.',
)
@option(
    "--scripts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    heading="Answers",
    rare=True,
    help='Conversations to play: lines of {"prompt", "replies", "wrong"}, the prompt part of the opening.',
)
@option(
    "--accuracy",
    type=float,
    metavar="FRACTION",
    default=1.0,
    heading="Answers",
    help="Share of the answer key and scripts that is answered correctly, 0 to 1.",
)
@option(
    "--answer-template",
    metavar="TEXT",
    default="{answer}",
    heading="Answers",
    rare=True,
    help="Template of answers from the key; {answer} is replaced.",
)
@option(
    "--reasoning",
    default="",
    metavar="TEXT",
    heading="Answers",
    rare=True,
    help="Reasoning to send before every answer (default: none).",
)
@option(
    "--reasoning-style",
    type=click.Choice(["reasoning_content", "reasoning", "think"]),
    metavar="STYLE",
    default="reasoning_content",
    heading="Answers",
    rare=True,
    help="Field of the reasoning: reasoning_content or reasoning; think puts it inline.",
)
@option(
    "--tools",
    "call_tools",
    is_flag=True,
    heading="Answers",
    rare=True,
    help="Call the first tool offered, then answer with its result.",
)
@option(
    "--tool-calls",
    metavar="JSON",
    heading="Answers",
    rare=True,
    help='Tool calls to make, turn by turn: [{"name": ..., "arguments": {...}}, ...].',
)
@option(
    "--chat-only",
    is_flag=True,
    heading="Answers",
    rare=True,
    help="Answer completions only, as servers do that speak neither Messages, Responses nor Gemini.",
)
@option(
    "--ttft",
    metavar="TIME",
    heading="Timing",
    help="Time to the first token, in seconds or as 50ms (default: 0). KIND:TIME[:SPREAD] draws it: constant, "
    "uniform or lognormal.",
)
@option(
    "--itl", metavar="TIME", heading="Timing", help="Time between two tokens, in the same form (default: 0)."
)
@option(
    "--prefill",
    type=float,
    metavar="RATE",
    heading="Timing",
    rare=True,
    help="Prompt tokens computed per second, those from the cache not counted; the time is added to --ttft (default: "
    "all at once).",
)
@option("--first-token", metavar="MS", hidden=True, help="--ttft in milliseconds (default: 0).")
@option("--between-tokens", metavar="MS", hidden=True, help="--itl in milliseconds (default: 0).")
@option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND=RATE",
    heading="Faults",
    help="Fail this share of requests; KIND is rate_limit, server_error, reset, stall, truncate, malformed, "
    "slow_headers, or a quirk of docs/simulate.md such as call_as_text. Repeatable.",
)
@option(
    "--max-faults",
    type=click.IntRange(0),
    metavar="N",
    heading="Faults",
    rare=True,
    help="Maximum number of faults (default: no limit).",
)
@option(
    "--retry-after",
    type=float,
    metavar="SECONDS",
    default=1.0,
    heading="Faults",
    rare=True,
    help="Seconds in the Retry-After header of a rate limit.",
)
@option(
    "--retry-after-date", is_flag=True, heading="Faults", rare=True, help="Send Retry-After as an HTTP date."
)
@option(
    "--stall-seconds",
    type=float,
    metavar="SECONDS",
    default=30.0,
    heading="Faults",
    rare=True,
    help="Seconds that a stall lasts.",
)
@option(
    "--slow-header-seconds",
    type=float,
    metavar="SECONDS",
    default=2.0,
    heading="Faults",
    rare=True,
    help="Seconds that slow headers take.",
)
@option(
    "--split",
    is_flag=True,
    heading="Faults",
    rare=True,
    help="Send every piece in two HTTP chunks, split at a random place.",
)
def command(host: str, port: int, port_file: Path | None, processes: int, **options: Any) -> None:
    """Serve a simulated model for testing. Stop it with Ctrl-C.

    It speaks the OpenAI API (chat completions, Responses, completions, models), Anthropic's Messages and Google's
    Gemini, and has /metrics and /tokenize like vLLM. Its answers follow the rules below; they do not come from a model.
    """
    from benchwright.endpoint.simulate import serve

    settings = _settings(options)

    def announce(base_url: str) -> None:
        if port_file is not None:
            _write_port(port_file, base_url)
        echo(f"Simulated endpoint at {base_url} (answers are not from a model)")

    serve(settings, host=host, port=port, processes=processes, announce=announce)


def _settings(options: dict[str, Any]) -> Settings:
    from benchwright.endpoint.simulate import Settings, read_keyed_answers, read_scripts

    answers, scripts = options["answers"], options["scripts"]
    if options["prefix_cache"] and options["cache_blocks"] is None:
        options["cache_blocks"] = DEFAULT_PREFIX_CACHE_BLOCKS
    names = ("models", "chat_only", "api_key", "seed", "policy", "words", "accuracy", "answer_template", "reasoning",
             "reasoning_style", "call_tools", "split", "slots", "cache_blocks", "block_size", "prefill")  # fmt: skip
    return Settings(
        **{name: options[name] for name in names},
        answers=() if answers is None else read_keyed_answers(answers),
        scripts=() if scripts is None else read_scripts(scripts),
        tool_calls=_tool_calls(options["tool_calls"]),
        first_token=_delay(options["ttft"], options["first_token"]),
        between_tokens=_delay(options["itl"], options["between_tokens"]),
        faults=_faults(options),
        truth_file=options["log"],
        truth_kept=0,
    )


def _delay(seconds: str | None, milliseconds: str | None) -> Delay:
    """Return the delay that the options set. `seconds`: the value of the current option, None if it was not given.

    `milliseconds`: the value of the deprecated option. It counts only if `seconds` is None. Without both, the delay is
    0.
    """
    from benchwright.endpoint.simulate import Delay

    return Delay.parse(milliseconds or "0") if seconds is None else Delay.parse_seconds(seconds)


def _faults(options: dict[str, Any]) -> Faults:
    from benchwright.endpoint.simulate import Faults
    from benchwright.endpoint.simulate.quirks import QUIRKS
    from benchwright.endpoint.simulate.settings import ALL_FAULTS, FAULT_KINDS
    from benchwright.suggestions import did_you_mean

    rates: dict[str, Any] = {}
    quirks: dict[str, float] = {}
    for text in options["faults"]:
        kind, _, rate = text.partition("=")
        if kind not in ALL_FAULTS:
            hint = did_you_mean(kind, ALL_FAULTS) or " Quirks are listed in docs/simulate.md."
            raise click.BadParameter(
                f"{kind!r} is not one of {', '.join(FAULT_KINDS)}, nor a quirk.{hint}", param_hint="--fault"
            )
        try:
            (quirks if kind in QUIRKS else rates)[kind] = float(rate)
        except ValueError:
            raise click.BadParameter(f"{text!r} is not KIND=RATE.", param_hint="--fault") from None
    names = ("max_faults", "retry_after", "retry_after_date", "stall_seconds", "slow_header_seconds")
    return Faults(**rates, quirks=quirks, **{name: options[name] for name in names})


def _tool_calls(text: str | None) -> tuple[ToolTurn, ...]:
    import msgspec

    from benchwright.endpoint.simulate.settings import ToolTurn

    if text is None:
        return ()
    try:
        return msgspec.json.decode(text.encode(), type=tuple[ToolTurn, ...])
    except DECODE_ERRORS as error:
        raise click.BadParameter(f"not a list of calls ({error}).", param_hint="--tool-calls") from None


def _write_port(path: Path, base_url: str) -> None:
    """Write the server's port to a file, atomically, so that a waiting program never reads half of it."""
    from benchwright.errors import UserError
    from benchwright.files import write_atomically

    port = base_url.rpartition(":")[2].partition("/")[0]
    if not path.parent.is_dir():
        raise UserError(f"Cannot write {path}: there is no directory {path.parent}.")
    write_atomically(path, f"{port}\n".encode())
