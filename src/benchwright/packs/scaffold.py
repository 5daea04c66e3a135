"""Creates the files of a new pack."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from benchwright.errors import UserError
from benchwright.packs.manifest import MANIFEST_NAME
from benchwright.packs.manifest_check import PACK_ID_PATTERN

RUNTIME_FOLDER = "dist/benchlocal"

TEMPLATE_FILES = {
    "javascript": {
        "javascript/index.js": f"{RUNTIME_FOLDER}/index.js",
        "javascript/scenarios.js": f"{RUNTIME_FOLDER}/scenarios.js",
        "javascript/package.json": "package.json",
        "javascript/README.md": "README.md",
        "shared/METHODOLOGY.md": "METHODOLOGY.md",
        "shared/answers.jsonl": "answers.jsonl",
    },
    "python": {
        "python/index.py": f"{RUNTIME_FOLDER}/index.py",
        "python/scenarios.py": f"{RUNTIME_FOLDER}/scenarios.py",
        "python/README.md": "README.md",
        "shared/METHODOLOGY.md": "METHODOLOGY.md",
        "shared/answers.jsonl": "answers.jsonl",
    },
}
"""The files of a new pack by language: {language: {template: file in the pack}}.

The first file is the pack's entry.
"""


def create_pack(directory: Path, language: str, pack_id: str, name: str | None = None) -> list[Path]:
    """Write the files of a new pack, and return their paths. The pack runs unchanged.

    The pack has four scenarios in two categories. `language`: "javascript" or "python". `name`: the pack's
    name; without it, the name is derived from the id.

    Raises:
        UserError: If the language is unknown, the id is invalid, one of the files already exists, or the
            directory cannot be written.
    """
    if language not in TEMPLATE_FILES:
        raise UserError(f"There is no template in {language!r}; there are {' and '.join(TEMPLATE_FILES)}.")
    if not PACK_ID_PATTERN.fullmatch(pack_id):
        raise UserError(
            f"{pack_id!r} is not a valid pack id: use letters, digits, '.', '_' and '-', a letter first."
        )
    shown = name or pack_id.replace("-", " ").replace("_", " ").strip().capitalize()
    templates = files("benchwright.packs").joinpath("templates")
    contents = {MANIFEST_NAME: _manifest(language, pack_id, shown)}
    for template, target in TEMPLATE_FILES[language].items():
        text = templates.joinpath(template).read_text(encoding="utf-8")
        contents[target] = text.replace("{{id}}", pack_id).replace("{{name}}", shown)
    _write(directory, contents)
    return sorted(directory / target for target in contents)


def _manifest(language: str, pack_id: str, name: str) -> str:
    entry = next(iter(TEMPLATE_FILES[language].values()))
    manifest = {
        "schemaVersion": 1,
        "protocolVersion": 1,
        "id": pack_id,
        "name": name,
        "version": "0.1.0",
        "description": "Four small scenarios: following instructions, and working things out.",
        "entry": f"./{entry}",
        "samplingDefaults": {"temperature": 0},
        "capabilities": {
            "tools": False,
            "multiTurn": False,
            "streamingProgress": True,
            "verification": False,
        },
    }
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _write(directory: Path, contents: dict[str, str]) -> None:
    targets = {directory / target: content for target, content in contents.items()}
    for path in targets:
        if path.exists():
            raise UserError(f"{path} already exists; give another directory.")
    try:
        for path, content in targets.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise UserError(f"Cannot write to {directory}: {error.strerror}.") from None
