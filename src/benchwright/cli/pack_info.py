"""`benchwright pack show | validate | init`: shows a pack, checks a pack, or creates a new pack."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import host_version_option, json_option, node_option
from benchwright.cli.output import echo, print_json, print_table, say
from benchwright.cli.pack_install import pack_to_dict
from benchwright.cli.pack_options import CONTEXT_SETTINGS
from benchwright.formats import count_with_noun
from benchwright.text import make_safe

SHOW_EXAMPLES = """\b
Examples:
  benchwright pack show toolcall-15
  benchwright pack show ./my-pack --json
"""

VALIDATE_EXAMPLES = """\b
Examples:
  benchwright pack validate ./my-pack
"""

INIT_EXAMPLES = """\b
Examples:
  benchwright pack init ./my-pack --language python
"""


@click.command("show", cls=Command, epilog=SHOW_EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("pack", metavar="PACK|PATH", shell_complete=completions.complete_packs)
@host_version_option
@node_option
@json_option
def show(pack: str, compatible_version: str | None, node: str, as_json: bool) -> None:
    """Show a pack: manifest, requirements, verifiers, and its scenarios with their cards."""
    from benchwright.app.event_loop import run_async
    from benchwright.app.pack_info import pack_facts
    from benchwright.config import PackProcessSettings
    from benchwright.home import packs_directory

    process = PackProcessSettings(node=node, compatible_version=compatible_version)
    facts = run_async(pack_facts(pack, packs_directory(), process))
    if as_json:
        manifest = facts.pack.inspection.manifest
        print_json(
            {
                **pack_to_dict(facts.pack),
                "runtime": facts.runtime,
                "manifest": None if manifest is None else manifest.raw,
                "warnings": [] if manifest is None else manifest.warnings,
                "scenarios": [scenario.raw for scenario in facts.scenarios],
            }
        )
        return
    from benchwright.reports.pack_info import render_pack

    print_table(render_pack(facts.pack, facts.scenarios, facts.runtime))


@click.command("validate", cls=Command, epilog=VALIDATE_EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("path", type=click.Path(path_type=Path))
@host_version_option
@node_option
@json_option
def validate(path: Path, compatible_version: str | None, node: str, as_json: bool) -> None:
    """Check the manifest, loading, scenarios and scorer of the pack at PATH. Exits with 1 if there are problems."""
    from benchwright.app.event_loop import run_async
    from benchwright.app.pack_info import validate_pack
    from benchwright.config import PackProcessSettings

    process = PackProcessSettings(node=node, compatible_version=compatible_version)
    found = run_async(validate_pack(path, process))
    if as_json:
        print_json({**_plain(found), "valid": not found.problems})
    else:
        for kind, texts in (("problem", found.problems), ("warning", found.warnings)):
            for text in texts:
                echo(f"{kind}: {make_safe(text)}")
        state = "is not valid" if found.problems else "is valid"
        echo(f"{found.directory} {state}: {count_with_noun(found.scenarios, 'scenario')}")
    if found.problems:
        sys.exit(1)


@click.command("init", cls=Command, epilog=INIT_EXAMPLES)
@click.argument("directory", type=click.Path(path_type=Path))
@option(
    "--language",
    type=click.Choice(["python", "javascript"]),
    default="javascript",
    help="Language of the pack; only JavaScript runs on the desktop host too.",
)
@option("--id", "pack_id", metavar="ID", help="The pack's id (default: the directory's name).")
@option("--name", metavar="TEXT", help="The pack's name (default: derived from its id).")
def init(directory: Path, language: str, pack_id: str | None, name: str | None) -> None:
    """Create a new, runnable pack in DIRECTORY."""
    from benchwright.packs.scaffold import create_pack as write_pack

    for path in write_pack(directory, language, pack_id or directory.resolve().name, name):
        echo(str(path))
    say("Check it, then run it with your model or `benchwright simulate`:")
    say(f"  benchwright pack test {directory}")
    say(f"  benchwright pack run {directory} --model MODEL --base-url http://localhost:8000/v1")


def _plain(found: Any) -> dict[str, Any]:
    return {
        "directory": str(found.directory),
        "scenarios": found.scenarios,
        "problems": found.problems,
        "warnings": found.warnings,
    }
