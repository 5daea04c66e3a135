"""Metadata of IFBench."""

from __future__ import annotations

from benchwright.catalog.benchmark import About
from benchwright.catalog.ifeval.about import PUNKT_DATASET
from benchwright.data.dataset_spec import Dataset, GitRepository

COMMIT = "db69a6f05689830b0068b8f1529ebcfd2f3b164c"

DATASET = Dataset(
    name="ifbench",
    splits={"train": ("data/IFBench_test.jsonl",)},
    origin=GitRepository("https://github.com/allenai/IFBench", COMMIT),
    licence="ODC-BY-1.0",
    local={"train": ("IFBench_test.jsonl",)},
)

TAGGER_FILES = tuple(
    f"averaged_perceptron_tagger_eng.{part}.json" for part in ("weights", "tagdict", "classes")
)
"""The files of NLTK's English tagger, in order."""

TAGGER_DATASET = Dataset(
    name="tagger",
    splits={"test": TAGGER_FILES},
    licence="NLTK states none of its own for the model",
    local={"test": tuple(f"averaged_perceptron_tagger_eng/{name}" for name in TAGGER_FILES)},
)
"""NLTK's English tagger. NLTK offers the tagger only on its own site, so that `fetch` cannot download it."""

IFBENCH = About(
    name="ifbench",
    title="IFBench",
    description="IFBench — 300 prompts with 58 further kinds of verifiable instructions",
    tier=1,
    items=300,
    licence="ODC-BY-1.0",
    protocol="the prompt alone at temperature 0; all 58 official rules (prompt-level loose)",
    source=f"https://github.com/allenai/IFBench (commit {COMMIT}); arXiv:2507.02833",
    dataset=DATASET,
    metric="prompt-level loose",
    max_tokens=4096,
    breakdowns=("instructions",),
    more_data=(PUNKT_DATASET,),
)

VARIANTS = (IFBENCH,)
