"""`benchwright pack dev`: tries a scenario of one's own pack again after each save."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from time import strftime
from typing import TYPE_CHECKING

import click

from benchwright.cli.command_help import Command, option
from benchwright.cli.options import host_version_option, node_option
from benchwright.cli.output import echo, say
from benchwright.cli.pack_options import CONTEXT_SETTINGS
from benchwright.formats import count_with_noun
from benchwright.text import make_lines_safe, make_safe, one_line

if TYPE_CHECKING:
    from benchwright.app.pack_dev import PackTryResult
    from benchwright.config import PackProcessSettings
    from benchwright.packs.contract import AttemptOutcome, CannedAnswer

EXAMPLES = """\b
Examples:
  benchwright pack dev ./my-pack
  benchwright pack dev ./my-pack --try A-02
"""

MAX_ANSWER_CHARACTERS = 50
"""Maximum number of characters of an answer that are shown."""


@click.command("dev", cls=Command, epilog=EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@option("--try", "scenario", metavar="ID", help="The scenario (default: the first that has a canned answer).")
@option("--canned", "answers", type=click.Path(path_type=Path), metavar="FILE",
        help="Canned answers, as JSON Lines (default: the pack's answers.jsonl, if there is one).")  # fmt: skip
@host_version_option
@node_option
def command(
    path: Path, scenario: str | None, answers: Path | None, compatible_version: str | None, node: str
) -> None:
    """Watch the pack at PATH: whenever a file is saved, try one scenario again with its canned answers.

    Shows how each answer came out, what changed in its result, and errors with their stack. Ends with Ctrl-C.
    """
    from benchwright.app.event_loop import run_async
    from benchwright.config import PackProcessSettings

    process = PackProcessSettings(node=node, compatible_version=compatible_version)
    say(f"Watching {path}; Ctrl-C ends it.")
    run_async(_watch(path.resolve(), process, scenario, answers))


async def _watch(
    path: Path, process: PackProcessSettings, scenario: str | None, answers: Path | None
) -> None:
    from benchwright.app.pack_dev import try_pack_on_changes
    from benchwright.cli.pack_verifiers import verifier_reporter

    former: dict[str, str] = {}
    async for made in try_pack_on_changes(path, process, scenario, answers, verifier_reporter(quiet=True)):
        former = _show(made, former)


def _show(made: PackTryResult, former: Mapping[str, str]) -> dict[str, str]:
    """Print the result of each canned answer, and what changed since the previous try (`former`).

    Return the results, for comparison with the next try.
    """
    for stack in dict.fromkeys(made.stacks):
        echo(make_lines_safe(stack))
    if made.error is not None:
        echo(f"{strftime('%H:%M:%S')}  ✗ {make_safe(made.error)}")
        return dict(former)
    echo(
        f"{strftime('%H:%M:%S')}  {make_safe(made.scenario)}: {count_with_noun(len(made.outcomes), 'answer')}"
    )
    results = {}
    for canned, tried in made.outcomes:
        name = repr(canned.answer)
        results[name] = _as_text(tried)
        echo(f"  {_verdict(canned, tried)}  {make_safe(one_line(name, MAX_ANSWER_CHARACTERS))}")
        for line in _changes(former.get(name), results[name]):
            echo(f"      {make_safe(line)}")
    return results


def _verdict(canned: CannedAnswer, tried: AttemptOutcome) -> str:
    if tried.result is None:
        return f"✗ {make_safe(str(tried.error))}"
    status, score = tried.result["status"], tried.result.get("score")
    wanted = _outcome(canned.status or status, score if canned.score is None else canned.score)
    found = _outcome(status, score)
    return f"✓ {found}" if found == wanted else f"✗ {found}, and the file says {wanted}"


def _outcome(status: str, score: float | None) -> str:
    return status if score is None else f"{status} {score:g}"


def _as_text(tried: AttemptOutcome) -> str:
    if tried.result is None:
        return str(tried.error)
    lasting = {key: value for key, value in tried.result.items() if key != "timings"}
    return json.dumps(lasting, indent=1, ensure_ascii=False)


def _changes(before: str | None, now: str) -> list[str]:
    """Return the changed lines of a result, as in a diff.

    Empty if there is no earlier result, or if nothing changed.
    """
    if before is None or before == now:
        return []
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]
