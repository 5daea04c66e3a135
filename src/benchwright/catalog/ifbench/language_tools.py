"""The libraries and models for IFBench's rules: sentence splitter, tokenizer, tagger, syllables, emojis."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchwright.catalog.ifbench.about import TAGGER_DATASET
from benchwright.catalog.ifbench.counting_rules import COUNTING_RULES
from benchwright.catalog.ifbench.custom_rules import CUSTOM_RULES
from benchwright.catalog.ifbench.layout_rules import LAYOUT_RULES
from benchwright.catalog.ifbench.sentence_rules import sentence_rules
from benchwright.catalog.ifbench.token_rules import START_VERB_INSTRUCTION, tagging_rules, token_rules
from benchwright.catalog.ifbench.word_rules import WORD_RULES, load_syllable_counter
from benchwright.catalog.ifeval.rules import Rules
from benchwright.catalog.ifeval.splitters import OWN_SPLITTER_NAME, Splitter, find_splitter, split_function
from benchwright.data.datasets import find_dataset
from benchwright.data.errors import DatasetNotFound
from benchwright.errors import UserError
from benchwright.records import Record

PUBLISHED_VERSIONS = {"nltk": "3.9.2", "syllapy": "0.7.2", "emoji": "2.15.0"}
"""Mapping from each library that the official code uses to the version in the uv.lock of that code."""

NO_TAGGER_DEPARTURE = (
    f"prompts with {START_VERB_INSTRUCTION} are left out (6 of 300): NLTK's averaged_perceptron_tagger_eng, which "
    f"decides them, is not in <data-dir>/{TAGGER_DATASET.name}"
)
UNKNOWN_TAGGER_DEPARTURE = "the tagger's model in <data-dir>/tagger is of no known revision"


class LanguageTools(Record, frozen=True):
    """The sentence splitter, and the directory of the tagger's model (None if it was not fetched).

    Tools that may lead to other verdicts have different fingerprints. `departures` describe how these tools
    differ from the official ones.
    """

    splitter: Splitter
    tagger_directory: str | None
    fingerprint: str
    departures: tuple[str, ...] = ()


def find_tools(data_dir: Path) -> LanguageTools:
    """Return the tools: the installed libraries, and the models in a data directory.

    Raises:
        UserError: If a library is not installed or cannot be imported. The message explains how to install it.
        DatasetError: If a model cannot be read, or has changed since it was fetched.
    """
    installed = library_versions()
    load_syllable_counter()
    splitter = find_splitter(data_dir)
    departures = [
        f"{name} {installed[name]} instead of {published}"
        for name, published in PUBLISHED_VERSIONS.items()
        if installed[name] != published
    ]
    try:
        source = find_dataset(TAGGER_DATASET, data_dir)
    except DatasetNotFound:
        tagger, digest = None, "no tagger"
        departures.append(NO_TAGGER_DEPARTURE)
    else:
        tagger, digest = str(source.files()[0].parent), source.digest
        departures.append(UNKNOWN_TAGGER_DEPARTURE)
    told = [splitter.fingerprint, digest, *(f"{name} {installed[name]}" for name in PUBLISHED_VERSIONS)]
    return LanguageTools(splitter, tagger, ", ".join(told), (*splitter.departures, *departures))


def library_versions() -> dict[str, str]:
    """Return the installed versions of the libraries that the rules need.

    Raises:
        UserError: If a library is not installed. The message explains how to install it.
    """
    try:
        return {name: version(name) for name in PUBLISHED_VERSIONS}
    except PackageNotFoundError as error:
        raise UserError(f"ifbench is graded with {error.name}: pip install 'benchwright[ifbench]'") from None


@cache
def build_rules(tools: LanguageTools) -> Rules:
    """Return all 58 rules. Without a tagger, return the 57 rules that need none."""
    split = split_function(tools.splitter)
    parts = [
        COUNTING_RULES,
        WORD_RULES,
        LAYOUT_RULES,
        CUSTOM_RULES,
        sentence_rules(split),
        token_rules(split),
    ]
    if tools.tagger_directory is not None:
        parts.append(tagging_rules(split, Path(tools.tagger_directory)))
    return Rules({name: rule for part in parts for name, rule in part.by_id.items()})


RULES_FOR_ARGUMENT_CHECKS = build_rules(LanguageTools(OWN_SPLITTER_NAME, "", ""))
"""Registry of all rules by which the arguments of instructions in rows are validated.

The arguments do not depend on the tools.
"""
