"""A pack, rendered for a terminal: the contents of its manifest, and its scenarios with their cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchwright.errors import UserError
from benchwright.packs.install import InstalledPack
from benchwright.packs.manifest import PackManifest, VerifierSpec
from benchwright.packs.types import ScenarioMeta
from benchwright.packs.web_pack import web_pack_of
from benchwright.text import make_lines_safe, make_safe


def render_pack(
    pack: InstalledPack, scenarios: Sequence[ScenarioMeta], runtime: str | None
) -> RenderableType:
    """Render the facts about a pack, then its scenarios."""
    table = Table.grid(padding=(0, 2))
    for name, text in _facts(pack, runtime):
        table.add_row(Text(name, style="bold"), Text(make_safe(text), overflow="fold"))
    parts: list[RenderableType] = [table]
    for scenario in scenarios:
        parts += [Text(), *_scenario(scenario)]
    return Group(*parts)


def _facts(pack: InstalledPack, runtime: str | None) -> Iterator[tuple[str, str]]:
    inspection = pack.inspection
    yield "Pack", pack.id
    yield (
        "State",
        inspection.status if inspection.error is None else f"{inspection.status}: {inspection.error}",
    )
    yield "Directory", str(pack.directory)
    if pack.record is not None:
        yield "From", f"{pack.record.origin}, {pack.record.installed_at}"
    if inspection.manifest is not None:
        yield from _manifest_facts(inspection.manifest)
    if runtime is not None:
        yield "Runs in", runtime


def _manifest_facts(manifest: PackManifest) -> Iterator[tuple[str, str]]:
    yield "Name", f"{manifest.name} {manifest.version}"
    for name, text in (
        ("Author", manifest.author),
        ("About", manifest.description),
        ("Repository", manifest.repository_url),
    ):
        if text:
            yield name, text
    if manifest.type == "web":
        yield "Page", manifest.entry
        yield "May ask for", _permissions(manifest)
    if manifest.sampling_defaults:
        given = (f"{name}={value}" for name, value in manifest.sampling_defaults.items())
        yield "Sampling", ", ".join(given)
    needs = manifest.requirements
    bounds = [
        f"{sign} {version}"
        for sign, version in ((">=", needs.min_version), ("<", needs.max_version_exclusive))
        if version is not None
    ]
    if bounds or needs.host_features:
        yield "Needs", ", ".join([*(f"host {bound}" for bound in bounds), *needs.host_features])
    for verifier in manifest.verifiers:
        yield "Verifier", _verifier(verifier)
    for warning in manifest.warnings:
        yield "Warning", warning


def _permissions(manifest: PackManifest) -> str:
    """Return the permissions that a web pack may request from its host.

    If its page cannot be shown, return the reason.
    """
    try:
        return ", ".join(web_pack_of(manifest).permissions) or "nothing"
    except UserError as error:
        return str(error)


def _verifier(verifier: VerifierSpec) -> str:
    need = "required" if verifier.required else "optional"
    about = f": {verifier.description}" if verifier.description else ""
    return f"{verifier.id} ({need}, {verifier.default_mode}){about}"


def _scenario(scenario: ScenarioMeta) -> Iterator[RenderableType]:
    category = "" if scenario.category is None else f"  [{make_safe(scenario.category)}]"
    yield Text(f"{make_safe(scenario.id)}  {make_safe(scenario.title)}{category}", style="bold")
    if scenario.description:
        yield Padding(Text(make_lines_safe(scenario.description)), (0, 0, 0, 2))
    for card in scenario.detail_cards:
        told = Text.assemble((f"{make_safe(card.title)}: ", "italic"), make_lines_safe(card.content))
        yield Padding(told, (0, 0, 0, 2))
