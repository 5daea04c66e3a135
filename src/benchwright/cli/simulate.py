"""`benchwright simulate`: a simulated OpenAI-compatible endpoint, as a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from benchwright.endpoint.simulate import Faults, Settings
    from benchwright.endpoint.simulate.settings import ToolTurn

EXAMPLES = """\b
Examples:
  Echo every prompt on a free port, and write the port to a file:
    benchwright simulate --port 0 --port-file port.txt
  Answer 70 % of an answer key rightly, 50 ms to the first token, then one every 10 ms or so:
    benchwright simulate --answers key.jsonl --accuracy 0.7 --answer-template 'Answer: {answer}' \\
        --first-token 50 --between-tokens lognormal:10:0.3
  One request in ten is rate-limited, one in twenty is cut off:
    benchwright simulate --fault rate_limit=0.1 --fault truncate=0.05 --retry-after 0.2
  A fast load target: four processes, 128 words per answer, and the times as the server saw them:
    benchwright simulate --processes 4 --policy words --words 128 --log truth.jsonl
"""


@click.command("simulate", epilog=EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: a free one.")
@click.option("--port-file", type=click.Path(path_type=Path), metavar="FILE", help="Write the port here.")
@click.option(
    "--processes", type=click.IntRange(1, 256), default=1, show_default=True, help="Share the port."
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Name served; without it, any is.")
@click.option("--api-key", metavar="KEY", help="Refuse requests without this key.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything random.")
@click.option(
    "--policy",
    type=click.Choice(["echo", "words", "gibberish", "refusal"]),
    default="echo",
    show_default=True,
    help="What is answered where no answer is keyed.",
)
@click.option(
    "--words", type=click.IntRange(0), default=32, show_default=True, help="Length of words, gibberish."
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
    "--accuracy", type=float, default=1.0, show_default=True, help="Share of the key answered rightly."
)
@click.option("--answer-template", default="{answer}", show_default=True, help="Text around keyed answers.")
@click.option("--reasoning", default="", metavar="TEXT", help="Reasoning before every answer.")
@click.option(
    "--reasoning-style",
    type=click.Choice(["reasoning_content", "reasoning", "think"]),
    default="reasoning_content",
    show_default=True,
    help="Field of the reasoning, or inline.",
)
@click.option("--tools", "call_tools", is_flag=True, help="Call the first tool offered, then use its result.")
@click.option(
    "--tool-calls",
    metavar="JSON",
    help='Calls to make, turn by turn: [{"name": ..., "arguments": {...}}, ...].',
)
@click.option(
    "--first-token",
    default="0",
    show_default=True,
    metavar="DELAY",
    help="Time to the first token: MS or KIND:MS[:SPREAD], KIND constant, uniform or lognormal.",
)
@click.option(
    "--between-tokens", default="0", show_default=True, metavar="DELAY", help="Time between two tokens."
)
@click.option(
    "--slots", type=click.IntRange(1), help="Answers under way at once, in each process; other requests wait."
)
@click.option("--split", is_flag=True, help="Send every piece in two HTTP chunks, cut anywhere.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND=RATE",
    help="rate_limit, server_error, reset, stall, truncate, malformed, slow_headers. Repeatable.",
)
@click.option("--max-faults", type=click.IntRange(0), help="No more faults after so many.")
@click.option(
    "--retry-after", type=float, default=1.0, show_default=True, help="Seconds told when rate-limited."
)
@click.option("--retry-after-date", is_flag=True, help="Tell them as an HTTP date.")
@click.option("--stall-seconds", type=float, default=30.0, show_default=True, help="Length of a stall.")
@click.option(
    "--slow-header-seconds", type=float, default=2.0, show_default=True, help="Delay of slow headers."
)
@click.option("--log", "log", type=click.Path(), metavar="FILE", help="Truth log: a JSON line per request.")
def command(host: str, port: int, port_file: Path | None, processes: int, **options: Any) -> None:
    """Serve a simulated model, for trying things out and tests.

    It speaks the OpenAI API (chat completions, completions, models) with /metrics and /tokenize as vLLM has
    them. Its answers are made up by the rules below; they are not from a model. It stops on Ctrl-C.
    """
    from benchwright.endpoint.simulate import serve

    settings = _settings(options)

    def announce(base_url: str) -> None:
        if port_file is not None:
            _write_port(port_file, base_url)
        click.echo(f"Simulated endpoint at {base_url} (answers are not from a model)")

    serve(settings, host=host, port=port, processes=processes, announce=announce)


def _settings(options: dict[str, Any]) -> Settings:
    from benchwright.endpoint.simulate import Delay, Settings, read_keyed_answers, read_scripts

    answers, scripts = options["answers"], options["scripts"]
    plain = ("models", "api_key", "seed", "policy", "words", "accuracy", "answer_template", "reasoning")
    return Settings(
        **{name: options[name] for name in (*plain, "reasoning_style", "call_tools", "split", "slots")},
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
            raise click.BadParameter(f"{kind!r} is none of {', '.join(FAULT_KINDS)}.", param_hint="--fault")
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
    except msgspec.DecodeError as error:
        raise click.BadParameter(f"no list of calls ({error}).", param_hint="--tool-calls") from None


def _write_port(path: Path, base_url: str) -> None:
    """Writes the port whole, so that whoever waits for the file never reads half of it."""
    from benchwright.files import write_whole

    port = base_url.rpartition(":")[2].partition("/")[0]
    write_whole(path, f"{port}\n".encode())
