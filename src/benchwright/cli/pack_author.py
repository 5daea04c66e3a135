"""`benchwright pack test | pack`: tests one's own pack, and creates the pack's archive."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchwright.cli.command_help import Command, option
from benchwright.cli.options import host_version_option, json_option, node_option, quiet_option
from benchwright.cli.output import echo, print_json, say
from benchwright.cli.pack_options import CONTEXT_SETTINGS
from benchwright.formats import count_with_noun
from benchwright.text import make_safe

TEST_EXAMPLES = """\b
Examples:
  benchwright pack test ./my-pack
  benchwright pack test ./my-pack --canned other-answers.jsonl --json
"""

PACK_EXAMPLES = """\b
Examples:
  benchwright pack pack ./my-pack
  benchwright pack pack ./my-pack -o dist/my-pack.tar.gz
"""


@click.command("test", cls=Command, epilog=TEST_EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("path", type=click.Path(path_type=Path))
@option("--canned", "answers", type=click.Path(path_type=Path), metavar="FILE",
        help="Canned answers, as JSON Lines (default: the pack's answers.jsonl, if there is one).")  # fmt: skip
@host_version_option
@node_option
@json_option
@quiet_option
def test(
    path: Path, answers: Path | None, compatible_version: str | None, node: str, as_json: bool, quiet: bool
) -> None:
    """Try out the pack at PATH with canned answers, without a model. Exits with 1 if it breaks the contract.

    Checks that results and scores are the same each time, that each scenario can be passed and failed, that scores
    are numbers, and what happens with late answers, failed requests and progress events.
    """
    from benchwright.app.event_loop import run_async
    from benchwright.app.pack_contract import run_contract_test
    from benchwright.cli.pack_verifiers import verifier_reporter
    from benchwright.config import PackProcessSettings

    process = PackProcessSettings(node=node, compatible_version=compatible_version)
    found = run_async(run_contract_test(path, process, answers, verifier_reporter(quiet=quiet)))
    if as_json:
        print_json(
            {
                "directory": str(found.validation.directory),
                "answers": found.answers,
                "problems": found.problems,
                "warnings": found.validation.warnings,
                "findings": [
                    {"check": one.check, "text": one.text, "problem": one.problem} for one in found.findings
                ],
            }
        )
    else:
        for text in found.validation.problems:
            echo(f"✗ {make_safe(text)}")
        for one in found.findings:
            echo(f"{'✗' if one.problem else '✓'} {make_safe(one.check)}: {make_safe(one.text)}")
        scenarios = count_with_noun(found.validation.scenarios, "scenario")
        outcome = count_with_noun(len(found.problems), "problem") if found.problems else "no problems"
        echo(f"{outcome}: {scenarios}, {count_with_noun(found.answers, 'canned answer')}")
    if found.problems:
        sys.exit(1)


@click.command("pack", cls=Command, epilog=PACK_EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("path", type=click.Path(path_type=Path))
@option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
        help="File to write (default: ID-VERSION.tar.gz in the current directory).")  # fmt: skip
@host_version_option
@node_option
@json_option
def pack(path: Path, output: Path | None, compatible_version: str | None, node: str, as_json: bool) -> None:
    """Write the archive of the pack at PATH, after checking it. The same files give the same archive."""
    from benchwright.app.event_loop import run_async
    from benchwright.app.pack_info import validate_pack
    from benchwright.config import PackProcessSettings
    from benchwright.errors import UserError
    from benchwright.packs.manifest import read_manifest
    from benchwright.packs.packing import archive_name, pack_directory

    process = PackProcessSettings(node=node, compatible_version=compatible_version)
    found = run_async(validate_pack(path, process))
    if found.problems:
        raise UserError(f"{found.directory} is not packed, as it is not valid: {'; '.join(found.problems)}.")
    manifest = read_manifest(found.directory)
    target = output or Path(f"{archive_name(manifest)}.tar.gz")
    packed = pack_directory(found.directory, manifest, target)
    if as_json:
        print_json(
            {
                "path": str(packed.path),
                "files": packed.file_count,
                "bytes": packed.size_bytes,
                "sha256": packed.sha256,
            }
        )
        return
    echo(f"{packed.path}: {count_with_noun(packed.file_count, 'file')}, {packed.size_bytes:,} bytes")
    echo(f"sha256 {packed.sha256}")
    say(f"Install it with: benchwright pack install {packed.path} --sha256 {packed.sha256}")
