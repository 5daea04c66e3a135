"""Command lines from settings: what a page starts is what a person could type.

Every value stands in one argument with its option, so that none is taken for an option itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.app.existing_runs import ONLY_ONCE, ExistingRun
from benchwright.errors import UserError

JSON_VALUES = ("param",)
"""Settings whose values are written as JSON: KEY=JSON."""

OPTIONS = {
    f"{prefix}headers{suffix}": f"--{prefix.replace('_', '-')}header{suffix.replace('_', '-')}"
    for prefix in ("", "judge_", "baseline_")
    for suffix in ("", "_env")
}
"""Options that are called otherwise than their settings: they are given once for each header."""

NO_OPTION = frozenset({*ONLY_ONCE, "run", "suite", "anew", "output", "output_path", "debug", "log_samples"})
"""Settings that a run like an earlier one does not take over: they are of one command, or name its files."""


def options_of(settings: Mapping[str, Any]) -> Iterator[str]:
    """The options that stand for settings.

    Raises:
        UserError: one of them holds a secret that was not kept.
    """
    for name, value in settings.items():
        option = OPTIONS.get(name) or "--" + name.replace("_", "-")
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
                several = one if isinstance(one, list | tuple) and name not in JSON_VALUES else [one]
                yield from (f"{option}={key}={_text(each, name in JSON_VALUES)}" for each in several)
        elif isinstance(value, list | tuple):
            yield from (f"{option}={_text(one)}" for one in value)
        elif value is not None:
            yield f"{option}={_text(value)}"


def _text(value: Any, as_json: bool = False) -> str:
    if isinstance(value, str) and not as_json:
        return value
    return msgspec.json.encode(value).decode()


def like(run: ExistingRun, changes: Mapping[str, Any]) -> tuple[list[str], Path | None]:
    """The command that runs again what a run was, with these settings changed; and the directory to run it in.

    Raises:
        UserError: the directory in which the run was begun is gone, or its models have settings of their own.
    """
    manifest = run.manifest
    kept = {name: value for name, value in manifest.settings.items() if name not in NO_OPTION}
    several = kept.pop("models", [])
    if several and "model" not in changes:
        kept["model"] = [_plain_name(entry) for entry in several]
    commands = {
        "eval": ["bench"],  # like eval, but a finished run starts again
        "benchmark": ["run", run.subject],
        "pack": ["pack", "run", run.subject],
    }
    begun_in = manifest.host.get("directory")
    if begun_in is not None and not Path(begun_in).is_dir():
        raise UserError(f"The run was started in {begun_in}, which no longer exists.")
    command = [*commands[manifest.kind], *options_of({**kept, **changes})]
    return command, None if begun_in is None else Path(begun_in)


def _plain_name(entry: Any) -> str:
    """The name of one of several models, as `--model` takes it."""
    if isinstance(entry, str):
        return entry
    if entry.keys() != {"model"}:
        raise UserError(
            "The run's models have settings of their own (--models FILE): run it from a terminal again."
        )
    name: str = entry["model"]
    return name
