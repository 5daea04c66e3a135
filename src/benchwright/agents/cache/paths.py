"""Paths of cache files: {root}/{model}/{dataset}/{unix time}_{task id}.json."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import xxhash

from benchwright.home import home_from_environment
from benchwright.user_paths import expand_user_path

MAX_NAME_LENGTH = 60
RESERVED_NAMES = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))]
)
"""Names that Windows reserves for devices."""


def cache_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the root of the cache.

    The root is the first of these whose variable is set: $OSMOSIS_CACHE_DIR/eval,
    $BENCHWRIGHT_HOME/cache/eval, $XDG_CACHE_HOME/osmosis/eval. If no variable is set, the root is
    ~/.cache/osmosis/eval.
    """
    if chosen := environ.get("OSMOSIS_CACHE_DIR"):
        root = Path(chosen)
    elif home := home_from_environment(environ):
        root = home / "cache"
    elif cache := environ.get("XDG_CACHE_HOME"):
        root = Path(cache) / "osmosis"
    else:
        root = Path("~/.cache/osmosis")
    return expand_user_path(root / "eval").resolve()


def entry_directory(root: Path, model: str, dataset: str) -> Path:
    """Return the directory of the cache files for a model and a dataset.

    `model`: the name as typed. `dataset`: the path.
    """
    return root / sanitize_path_part(model) / sanitize_path_part(Path(dataset).stem)


def sanitize_path_part(text: str, longest: int = MAX_NAME_LENGTH) -> str:
    """Convert a name into a safe directory name: ASCII-like words in lower case, joined by dashes. It is never empty.

    Accents are removed. Characters other than letters, digits, underscores and dashes become dashes. A name
    that is too long is truncated, and four digits of its digest are appended. If no character of a name
    remains, eight digits of its digest are used.
    """
    decomposed = unicodedata.normalize("NFD", text)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    name = re.sub(r"-+", "-", re.sub(r"[^\w-]", "-", bare)).strip("-").lower()
    digest = xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))
    if not name:
        return f"eval-{digest[:8]}"
    if name in RESERVED_NAMES:
        return f"_{name}"
    if len(name) > longest:
        return f"{name[: longest - 5]}_{digest[:4]}"
    return name
