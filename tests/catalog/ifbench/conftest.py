"""A tagger's model that knows two words, in the layout of NLTK's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.catalog.ifbench.about import TAGGER_DATASET, TAGGER_FILES

MODEL: tuple[object, ...] = ({}, {"Rain": "VB", "Write": "VB", "The": "DT"}, ["DT", "NN", "VB"])


@pytest.fixture
def tagger(tmp_path: Path) -> Path:
    """The directory in which the model lies, as in a data directory."""
    directory = tmp_path / TAGGER_DATASET.name
    directory.mkdir()
    for name, part in zip(TAGGER_FILES, MODEL, strict=True):
        (directory / name).write_text(json.dumps(part), encoding="utf-8")
    return directory
