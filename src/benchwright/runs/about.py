"""What a manifest says of its run in a few words: its kind, its name, what was run, who asked the model."""

from __future__ import annotations

from pathlib import Path

from benchwright.runs.manifest import Manifest, origin_of

IMPORT = "import"
"""The kind of a run that another program made."""

VALIDATION = "validation"
"""The kind of a run that `validate` kept because a check failed; nobody was asked."""

SEALED, OFFICIAL = "sealed", "official"
"""How agents in containers were run, where a benchmark has both: under a seal, or by its official protocol."""

KINDS = ("eval", "benchmark", "pack", "load", IMPORT, VALIDATION)
"""The kinds of run, as lists tell them apart."""


def kind_of(manifest: Manifest) -> str:
    """The kind of a run; a level of load is of the kind `load`, whatever its prompts are."""
    return "load" if "load" in manifest.about else manifest.kind


def given_name(manifest: Manifest) -> str:
    """The name that the user gave the run (`--name`), empty without one."""
    return str(manifest.settings.get("name") or "")


def title_of(manifest: Manifest) -> str:
    """What the run is called: the name that it was given, else the label that was made for it."""
    return given_name(manifest) or manifest.name


def subject_of(manifest: Manifest) -> str:
    """What was run: a benchmark, a pack, or a dataset without its suffix; of synthetic load its prompts."""
    about = manifest.about
    if manifest.kind in ("benchmark", VALIDATION):
        name, variant = about.get("benchmark") or manifest.name, about.get("variant")
        return f"{name}:{variant}" if variant else str(name)
    if manifest.kind == "pack":
        return str(about.get("pack") or manifest.name)
    return Path(manifest.data[0].path).stem if manifest.data else manifest.task.name


def seal_of(manifest: Manifest) -> str:
    """SEALED or OFFICIAL; empty for a run that has no seal to choose."""
    return str(manifest.about.get("seal") or "")


def suite_of(manifest: Manifest) -> str:
    """The suite that the run is part of, empty without one."""
    return str(manifest.settings.get("suite") or "")


def agent_of(manifest: Manifest) -> str:
    """The agent as it was typed: a module, a recipe, a command, or a directory of MCP tools; empty without one."""
    typed = manifest.settings
    return str(
        typed.get("module") or typed.get("agent") or typed.get("agent_command") or typed.get("mcp") or ""
    )


def recipe_of(manifest: Manifest) -> str:
    """The name of the command-line agent's recipe, empty without one."""
    return Path(str(manifest.settings.get("agent") or "")).stem


def harness_of(manifest: Manifest) -> str:
    """The command-line agent with its version where that is known; empty without one."""
    return str(manifest.about.get("agent") or "") or recipe_of(manifest)


def titled(model: str, agent: str) -> str:
    """A model by its name, with the command-line agent that asked it, if there is one."""
    return f"{model} with {agent}" if agent else model


def made_by(manifest: Manifest) -> str:
    """The program, with its version, whose answers were imported or are graded here; empty for those of our runs."""
    origin = origin_of(manifest)
    return str(manifest.about.get("program") or "") if origin is None else origin.program


def measurement_of(manifest: Manifest) -> str:
    """The tag of the measurement under load of which the run is a level; empty for other runs."""
    return str(manifest.about.get("load", {}).get("id", ""))


def level_of(manifest: Manifest) -> str:
    """The level of load, as in the id of its run: c8, r2.5, trace; empty for other runs."""
    if "load" not in manifest.about:
        return ""
    level = manifest.about["load"]["level"]
    if level.get("concurrency") is not None:
        return f"c{level['concurrency']}"
    rate = level.get("rate")
    return f"r{rate:g}" if isinstance(rate, int | float) else "trace"
