"""`benchwright schema`: a JSON Schema of configuration files, for editors."""

from __future__ import annotations

from typing import Any

import click

from benchwright.cli.command_help import Command
from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  benchwright schema > benchwright.schema.json
  In eval.toml, for editors that use Taplo (such as Even Better TOML):
    #:schema ./benchwright.schema.json
"""

SETTINGS_NOT_IN_FILES = ("anew", "suite", "dry_run", "api_key", "baseline_api_key")
"""Names of settings that have no option, or that do not belong in a configuration file."""


@click.command("schema", cls=Command, epilog=EXAMPLES)
def command() -> None:
    """Print the JSON Schema of `--config FILE.toml`."""
    import json

    echo(json.dumps(config_schema(), indent=2))


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of configuration files.

    An option may stand at the top level of a file, or in the section of its command.
    """
    from benchwright.config import EvalSettings, flat_setting_schemas

    schema = flat_setting_schemas(EvalSettings)
    options = {name: rule for name, rule in schema.items() if name not in SETTINGS_NOT_IN_FILES}
    options["batch_size"] = {**options["concurrency"], "title": "Batch Size"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Benchwright configuration",
        "type": "object",
        "properties": {
            **options,
            "eval": {"type": "object", "properties": options, "additionalProperties": False},
        },
        "additionalProperties": False,
    }
