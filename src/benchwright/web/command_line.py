"""Builds command lines from a run's settings. Pages start runs by the commands that a person could type.

Every value is in the same argument as its option (`--option=value`), so that no value can be taken for an option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.app.run_lookup.existing_runs import SINGLE_USE_SETTINGS, ExistingRun
from benchwright.errors import UserError

JSON_SETTINGS = ("param",)
"""Names of the settings whose values are written as JSON in an option (KEY=JSON)."""

OPTION_NAMES = {
    f"{prefix}headers{suffix}": f"--{prefix.replace('_', '-')}header{suffix.replace('_', '-')}"
    for prefix in ("", "judge_", "baseline_")
    for suffix in ("", "_env")
}
"""Mapping from each setting for headers to its option, whose name differs from the setting's name.

On a command line, the option is repeated for each header.
"""

SETTINGS_NOT_REPEATED = frozenset(
    {*SINGLE_USE_SETTINGS, "run", "suite", "anew", "output", "output_path", "debug", "log_samples"}
)
"""Names of the settings that are not copied to a command that repeats a run.

They apply to one command only, or name files of the run.
"""


def command_line_options(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the command-line options that express these settings.

    Raises:
        UserError: If a setting contains a secret that was not stored.
    """
    for name, value in settings.items():
        option = OPTION_NAMES.get(name) or "--" + name.replace("_", "-")
        if name in ("stream", "probe", "seal"):
            if not value:
                yield f"--no-{name}"
        elif name == "seed" and value is None:
            yield "--no-seed"
        elif isinstance(value, bool):
            if value:
                yield option
        elif isinstance(value, Mapping):
            for key, one in value.items():
                if one is None and name == "headers":
                    raise UserError(
                        f"The header {key} of the run was kept nowhere: run it from a terminal again."
                    )
                several = one if isinstance(one, list | tuple) and name not in JSON_SETTINGS else [one]
                yield from (f"{option}={key}={_text(each, name in JSON_SETTINGS)}" for each in several)
        elif isinstance(value, list | tuple):
            yield from (f"{option}={_text(one)}" for one in value)
        elif value is not None:
            yield f"{option}={_text(value)}"


def _text(value: Any, as_json: bool = False) -> str:
    if isinstance(value, str) and not as_json:
        return value
    return msgspec.json.encode(value).decode()


def repeat_command(run: ExistingRun, changes: Mapping[str, Any]) -> tuple[list[str], Path | None]:
    """Return the command that repeats a run with changed settings, and the command's working directory.

    The directory is None if it is not known.

    Raises:
        UserError: If the run's working directory no longer exists, or its models have their own settings.
    """
    manifest = run.manifest
    kept = {name: value for name, value in manifest.settings.items() if name not in SETTINGS_NOT_REPEATED}
    several = kept.pop("models", [])
    if several and "model" not in changes:
        kept["model"] = [_plain_name(entry) for entry in several]
    commands = {
        "eval": ["bench"],  # like eval, but a finished run starts anew
        "benchmark": ["run", run.subject],
        "pack": ["pack", "run", run.subject],
    }
    begun_in = manifest.host.get("directory")
    if begun_in is not None and not Path(begun_in).is_dir():
        raise UserError(f"The run was started in {begun_in}, which no longer exists.")
    command = [*commands[manifest.kind], *command_line_options({**kept, **changes})]
    return command, None if begun_in is None else Path(begun_in)


def _plain_name(entry: Any) -> str:
    """Return the name of one of a run's models, as an argument of `--model`.

    Raises:
        UserError: If the model has its own settings.
    """
    if isinstance(entry, str):
        return entry
    if entry.keys() != {"model"}:
        raise UserError(
            "The run's models have settings of their own (--models FILE): run it from a terminal again."
        )
    name: str = entry["model"]
    return name
