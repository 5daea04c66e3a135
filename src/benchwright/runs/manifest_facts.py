"""Short facts about a run, read from its manifest: kind, name, subject, agent, origin and load level."""

from __future__ import annotations

from pathlib import Path

from benchwright.runs.manifest import Manifest, origin_of

IMPORT_KIND = "import"
"""The kind of a run whose results another program produced."""

VALIDATION_KIND = "validation"
"""The kind of a run that `validate` keeps because a check failed. In such a run, no model was asked."""

SEALED, OFFICIAL = "sealed", "official"
"""The two ways in which a benchmark may run agents in containers: sealed, or by its official protocol."""

RUN_KINDS = ("eval", "benchmark", "pack", "load", IMPORT_KIND, VALIDATION_KIND)
"""All kinds of runs, as lists and filters name them."""


def kind_of(manifest: Manifest) -> str:
    """Return the kind of a run.

    The run of a load level has the kind `load`, whatever task made the prompts.
    """
    return "load" if "load" in manifest.about else manifest.kind


def given_name(manifest: Manifest) -> str:
    """Return the name that the user gave the run (`--name`). Empty if there is none."""
    return str(manifest.settings.get("name") or "")


def title_of(manifest: Manifest) -> str:
    """Return the title of a run: the name that the user gave it. Without such a name, return its generated label."""
    return given_name(manifest) or manifest.name


def subject_of(manifest: Manifest) -> str:
    """Return the subject of a run: a benchmark and variant, a pack, or a dataset without its suffix.

    For synthetic load, it is the name of the task that makes the prompts.
    """
    about = manifest.about
    if manifest.kind in ("benchmark", VALIDATION_KIND):
        name, variant = about.get("benchmark") or manifest.name, about.get("variant")
        return f"{name}:{variant}" if variant else str(name)
    if manifest.kind == "pack":
        return str(about.get("pack") or manifest.name)
    return Path(manifest.data[0].path).stem if manifest.data else manifest.task.name


def seal_mode_of(manifest: Manifest) -> str:
    """Return SEALED or OFFICIAL. Empty if the run's benchmark does not offer both ways."""
    return str(manifest.about.get("seal") or "")


def suite_of(manifest: Manifest) -> str:
    """Return the name of the suite of which the run is a part. Empty if there is none."""
    return str(manifest.settings.get("suite") or "")


def agent_of(manifest: Manifest) -> str:
    """Return the agent as the user typed it. Empty if there is none.

    An agent is given as a module, a recipe, a command, or a directory of MCP tools.
    """
    typed = manifest.settings
    return str(
        typed.get("module") or typed.get("agent") or typed.get("agent_command") or typed.get("mcp") or ""
    )


def recipe_of(manifest: Manifest) -> str:
    """Return the name of the recipe of the run's command-line agent. Empty if there is none."""
    return Path(str(manifest.settings.get("agent") or "")).stem


def harness_of(manifest: Manifest) -> str:
    """Return the name of the command-line agent, with its version if that is known.

    Empty if there is no such agent.
    """
    return str(manifest.about.get("agent") or "") or recipe_of(manifest)


def model_with_agent(model: str, agent: str) -> str:
    """Return a model's name. If a command-line agent used the model, the agent's name follows."""
    return f"{model} with {agent}" if agent else model


def answering_program_of(manifest: Manifest) -> str:
    """Return the program, with its version, whose answers this run imported or grades.

    Empty if Benchwright produced the answers.
    """
    origin = origin_of(manifest)
    return str(manifest.about.get("program") or "") if origin is None else origin.program


def load_measurement_of(manifest: Manifest) -> str:
    """Return the tag of the load measurement to which the run belongs as a level. Empty if there is none."""
    return str(manifest.about.get("load", {}).get("id", ""))


def load_level_of(manifest: Manifest) -> str:
    """Return the load level of a run, as written in the run's id (c8, r2.5, trace). Empty for other runs."""
    if "load" not in manifest.about:
        return ""
    level = manifest.about["load"]["level"]
    if level.get("concurrency") is not None:
        return f"c{level['concurrency']}"
    rate = level.get("rate")
    return f"r{rate:g}" if isinstance(rate, int | float) else "trace"
