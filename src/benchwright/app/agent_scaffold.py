"""Writes the starter files of `benchwright init`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from benchwright.errors import UserError


def write_agent_scaffold(directory: Path) -> list[Path]:
    """Write a small example agent, with a tool, rewards and dataset rows. Return the paths of the files.

    Raises:
        UserError: If one of the files exists already, or the directory cannot be written.
    """
    templates = [
        file for file in files("benchwright.app").joinpath("templates/agent").iterdir() if file.is_file()
    ]
    targets = [directory / template.name for template in templates]
    for target in targets:
        if target.exists():
            raise UserError(f"{target} already exists; give another directory.")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for template, target in zip(templates, targets, strict=True):
            target.write_bytes(template.read_bytes())
    except OSError as error:
        raise UserError(f"Cannot write to {directory}: {error.strerror}.") from None
    return sorted(targets)
