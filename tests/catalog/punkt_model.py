"""A small Punkt model in the layout of `punkt_tab`, and how it lies in a data directory once it was fetched."""

from __future__ import annotations

from pathlib import Path

from benchwright.catalog.ifeval.about import PUNKT_DATASET
from benchwright.data.dataset_spec import Wheel
from benchwright.data.manifest import make_manifest, write_manifest

MODEL = {
    "abbrev_types.txt": "dr\ne.g\ninc\nu.s\nw",
    "collocations.tab": "##number##\tjuly\nst\tpetersburg",
    # the bits: 2 a capital at the start of a sentence, 4 within one, 16 none at the start, 64 none where unknown
    "ortho_context.tab": "the\t66\nsmith\t4\nhe\t70\nmany\t18\nfew\t64\n",
    "sent_starters.txt": "he\nhowever",
}


def write_model(directory: Path) -> Path:
    """Writes the files of the model into a directory."""
    directory.mkdir(parents=True)
    for name, text in MODEL.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def lay_fetched(data_dir: Path) -> Path:
    """Lays the model into a data directory as if `fetch` had brought it; returns where its files are."""
    origin = PUNKT_DATASET.origin
    assert isinstance(origin, Wheel)
    root = data_dir / PUNKT_DATASET.name
    directory = write_model(root / origin.directory)
    write_manifest(root, make_manifest(root, PUNKT_DATASET.name, origin.project, origin.version))
    return directory
