"""Recipes written by tests: agents that are small Python programs, which ask the model as real ones do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PROGRAM = """
import json, os, pathlib, subprocess, sys, time, urllib.error, urllib.request

def ask(messages, **fields):
    body = json.dumps({"model": "mine", "messages": messages, **fields}).encode()
    token = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, token)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]

prompt = sys.argv[1]
"""


def recipe_text(program: Path, **changes: Any) -> str:
    """A recipe of the Python program: its TOML, whose keys `changes` replaces or adds to."""
    said = {
        "title": "Mine",
        "version": "1",
        "dialect": "chat",
        "command": [sys.executable, str(program), "{prompt}"],
        **changes,
    }
    plain = {name: value for name, value in said.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in said.items() if isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def write_recipe(folder: Path, program: str, name: str = "mine", **changes: Any) -> Path:
    """Writes a recipe and its program, which has `prompt` and `ask(messages)`, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / f"{name}.py"
    script.write_text(PROGRAM + program)
    path = folder / f"{name}.toml"
    path.write_text(recipe_text(script, **changes))
    return path
