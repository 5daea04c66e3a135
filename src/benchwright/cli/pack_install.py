"""`benchwright pack install | update | delete | list`: manages installed packs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.confirmation import confirm_deletion
from benchwright.cli.options import json_option, quiet_option, yes_option
from benchwright.cli.output import echo, print_json, say
from benchwright.cli.pack_options import CONTEXT_SETTINGS, registry_options, source_options
from benchwright.text import make_safe

if TYPE_CHECKING:
    from benchwright.packs.install import InstalledPack, InstallProgress

EXAMPLES = """\b
Examples:
  From the registry, a GitHub tag, an archive with its checksum, a directory:
    benchwright pack install toolcall-15
    benchwright pack install stevibe/BugFind-15@v1.0.1
    benchwright pack install ./my-pack.tar.gz --sha256 HEX
    benchwright pack install ./my-pack              used in place
    benchwright pack install ./my-pack --copy
"""

UPDATE_EXAMPLES = """\b
Examples:
  benchwright pack update toolcall-15
  benchwright pack update --all
"""

DELETE_EXAMPLES = """\b
Examples:
  benchwright pack delete my-pack
"""

LIST_EXAMPLES = """\b
Examples:
  benchwright pack list
  benchwright pack list --available
  benchwright pack list --json
"""


@click.command("install", cls=Command, epilog=EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("source")
@option("--sha256", metavar="HEX", help="Expected SHA-256 of the archive (default: not checked).")
@option("--copy", is_flag=True, help="Copy a directory instead of using it in place.")
@source_options
@json_option
@quiet_option
def install(
    source: str,
    sha256: str | None,
    copy: bool,
    registry: str | None,
    github_archive: str | None,
    compatible_version: str | None,
    node: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Install a pack from SOURCE: a registry name, owner/repo@tag, a .tar.gz or a directory. Loads it once."""
    from benchwright.app.pack_load_check import make_loading_check
    from benchwright.app.pack_store import install_settings
    from benchwright.home import packs_directory
    from benchwright.packs.install import install as install_pack

    settings = install_settings(registry, github_archive, compatible_version, make_loading_check(node, say))
    pack = install_pack(source, packs_directory(), settings, sha256=sha256, copy=copy, report=_teller(quiet))
    if as_json:
        print_json(pack_to_dict(pack))
    else:
        echo(
            f"{make_safe(pack.id)} {make_safe(_version(pack))} is installed: benchwright pack run {make_safe(pack.id)}"
        )


@click.command("update", cls=Command, epilog=UPDATE_EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("packs", nargs=-1, metavar="[PACK]...", shell_complete=completions.complete_installed_packs)
@option("--all", "every", is_flag=True, help="All installed packs.")
@source_options
@json_option
@quiet_option
def update(
    packs: tuple[str, ...],
    every: bool,
    registry: str | None,
    github_archive: str | None,
    compatible_version: str | None,
    node: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Update packs from where they were installed."""
    from benchwright.app.pack_load_check import make_loading_check
    from benchwright.app.pack_store import install_settings, installed_packs
    from benchwright.errors import UserError
    from benchwright.home import packs_directory
    from benchwright.packs.install import update as update_pack

    if bool(packs) == every:
        raise click.UsageError("Give the packs to update, or --all.")
    settings = install_settings(registry, github_archive, compatible_version, make_loading_check(node, say))
    names = [pack.id for pack in installed_packs(compatible_version)] if every else packs
    rows: list[dict[str, Any]] = []
    for name in names:
        try:
            ended = update_pack(name, packs_directory(), settings, report=_teller(quiet))
        except UserError as error:
            if len(names) == 1:
                raise
            say(f"Error: {make_safe(name)}: {error}")
            rows.append({"id": name, "error": str(error)})
            continue
        rows.append({**pack_to_dict(ended.pack), "changed": ended.changed})
        if not as_json:
            echo(
                f"{make_safe(name)} {make_safe(_version(ended.pack))}: {'updated' if ended.changed else 'up to date'}"
            )
    if as_json:
        print_json({"packs": rows})
    if any("changed" not in row for row in rows):
        sys.exit(1)


@click.command("delete", cls=Command, epilog=DELETE_EXAMPLES)
@click.argument(
    "packs",
    nargs=-1,
    required=True,
    metavar="PACK [PACK ...]",
    shell_complete=completions.complete_installed_packs,
)
@yes_option
@quiet_option
def delete(packs: tuple[str, ...], yes: bool, quiet: bool) -> None:
    """Delete installed packs. A directory that is used in place is kept."""
    from benchwright.home import packs_directory
    from benchwright.packs.install.installed_packs import find_installed

    names = list(dict.fromkeys(packs))
    for name in names:
        find_installed(name, packs_directory())
    if confirm_deletion(names, "pack", yes=yes):
        _delete(names, quiet=quiet)


@click.command("uninstall", cls=Command, hidden=True)
@click.argument("pack")
def uninstall(pack: str) -> None:
    """Delete PACK without asking."""
    _delete([pack], quiet=False)


def _delete(names: Sequence[str], *, quiet: bool) -> None:
    from benchwright.home import packs_directory
    from benchwright.packs.install import uninstall as uninstall_pack

    for name in names:
        uninstall_pack(name, packs_directory(), report=_teller(quiet))
        echo(f"{make_safe(name)} is removed.")


@click.command("list", cls=Command, epilog=LIST_EXAMPLES, context_settings=CONTEXT_SETTINGS)
@option(
    "--available", is_flag=True, help="The packs of the registry instead, against those that are installed."
)
@registry_options
@json_option
def list_packs(available: bool, registry: str | None, compatible_version: str | None, as_json: bool) -> None:
    """List the installed packs, including broken ones. No pack code runs."""
    if available:
        from benchwright.cli.pack_search import print_registry_packs

        print_registry_packs(registry, compatible_version, as_json=as_json)
        return
    from benchwright.app.pack_store import installed_packs
    from benchwright.home import packs_directory

    packs = installed_packs(compatible_version)
    if as_json:
        print_json({"storage": str(packs_directory()), "packs": [pack_to_dict(pack) for pack in packs]})
    elif packs:
        echo(packs_table(packs))
    else:
        say("No packs are installed; see benchwright pack install --help.")


def packs_table(packs: list[InstalledPack]) -> str:
    """Return a table of installed packs. Below it are the errors of packs that cannot run."""
    from benchwright.reports.boxed_tables import render_box

    facts = [pack_to_dict(pack) for pack in packs]
    columns = ("Id", "Version", "Status", "Scenarios", "Source")
    rows = [[str(one[name.lower()] or "") for name in columns] for one in facts]
    wrong = [make_safe(f"{one['id']}: {one['error']}") for one in facts if one["error"] is not None]
    return "\n".join([render_box("Bench packs", columns, rows, centred=(3,)), *wrong])


def pack_to_dict(pack: InstalledPack) -> dict[str, Any]:
    """Return the description of a pack for `--json`.

    The key `scenarios` is the number of scenarios that the manifest states. It is None if the manifest states no
    number.
    """
    from benchwright.packs.install.sources import describe_source

    inspection = pack.inspection
    manifest = inspection.manifest
    record = pack.record
    return {
        "id": pack.id,
        "name": None if manifest is None else manifest.name,
        "version": None if manifest is None else manifest.version,
        "status": inspection.status,
        "error": inspection.error,
        "scenarios": None if manifest is None else _scenario_count(manifest.raw),
        "source": str(pack.directory) if record is None else describe_source(record.source),
        "local": pack.local,
        "directory": str(pack.directory),
        "archiveSha256": None if record is None else record.archive_sha256,
        "installedAt": None if record is None else record.installed_at,
    }


def _scenario_count(raw: dict[str, Any]) -> int | None:
    count = raw.get("scenarioCount")
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _version(pack: InstalledPack) -> str:
    manifest = pack.inspection.manifest
    return "" if manifest is None else manifest.version


def _teller(quiet: bool) -> Callable[[InstallProgress], None]:
    def tell(progress: InstallProgress) -> None:
        if not quiet:
            say(f"[{progress.phase}] {make_safe(progress.message)}")

    return tell
