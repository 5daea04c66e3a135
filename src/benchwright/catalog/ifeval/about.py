"""Metadata of IFEval, and of its variant as llm-benchmarker documents it."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, HubRepository, Wheel

PUNKT_FILES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")
"""The files of a Punkt model, in the layout of NLTK's `punkt_tab`."""

DATASET = Dataset(
    name="ifeval",
    splits={"train": ("ifeval_input_data.jsonl",)},
    origin=HubRepository("google/IFEval", "966cd89545d6b6acfd7638bc708b98261ca58e84"),
    licence="Apache-2.0",
)

_MODEL = "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english/"

PUNKT_DATASET = Dataset(
    name="punkt",
    splits={"test": tuple(f"{_MODEL}{name}" for name in PUNKT_FILES)},
    origin=Wheel(
        project="llama-index-core",
        version="0.14.25",
        sha256="caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1",
        directory=_MODEL,
    ),
    licence="MIT (the wheel); NLTK states none of its own for the model",
    local={"test": tuple(f"english/{name}" for name in PUNKT_FILES)},
)
"""NLTK's `punkt_tab` for English.

NLTK offers it only on its own site. Therefore `fetch` takes it from the wheel of llama-index-core.
"""

IFEVAL = About(
    name="ifeval",
    title="IFEval",
    description="IFEval — 541 instruction-following tasks with verifiable rules",
    tier=1,
    items=541,
    licence="Apache-2.0",
    protocol="the prompt alone; all 25 official rules to the letter (prompt-level strict)",
    source="https://github.com/google-research/google-research (instruction_following_eval); arXiv:2311.07911",
    dataset=DATASET,
    max_tokens=2048,
    breakdowns=("instructions",),
    more_data=(PUNKT_DATASET,),
)

IFEVAL_DOCUMENTED = msgspec.structs.replace(
    IFEVAL,
    variant="documented",
    description="IFEval with the simpler rules that llm-benchmarker documents",
    protocol="the prompt alone; the documented rules",
    source="llm-benchmarker's documentation",
    max_tokens=2048,
    smaller_max_tokens=True,
    more_data=(),
)

VARIANTS = (IFEVAL, IFEVAL_DOCUMENTED)
