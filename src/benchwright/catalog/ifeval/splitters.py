"""Choice of the sentence splitter: NLTK's Punkt if its model was fetched, otherwise Benchwright's own splitter."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchwright.catalog.ifeval.about import PUNKT_DATASET
from benchwright.catalog.ifeval.punkt import read_punkt
from benchwright.catalog.ifeval.sentences import split_sentences
from benchwright.data.datasets import find_dataset
from benchwright.data.errors import DatasetNotFound
from benchwright.records import Record

SplitFunction = Callable[[str], list[str]]
"""A function that splits a text: (text) -> its sentences."""


class Splitter(Record, frozen=True):
    """A named sentence splitter. `directory`: Punkt's model; None for Benchwright's own splitter.

    Splitters that may split differently have different fingerprints. `departure`: how the splitter differs
    from the published protocol; None if it does not differ.
    """

    name: str
    fingerprint: str
    directory: str | None = None
    departure: str | None = None

    @property
    def departures(self) -> tuple[str, ...]:
        """The departure from the protocol as a tuple, as benchmarks need it. Empty if there is no departure."""
        return () if self.departure is None else (self.departure,)


OWN_SPLITTER_NAME = Splitter(
    "our own splitter",
    "own",
    departure="sentences are split by our own splitter instead of NLTK's Punkt (`benchwright fetch ifeval` brings it)",
)


def find_splitter(data_dir: Path) -> Splitter:
    """Return Punkt if the data directory contains its English model. Otherwise return Benchwright's own splitter.

    Raises:
        DatasetParseError: If the model cannot be read, or has changed since it was fetched.
    """
    try:
        source = find_dataset(PUNKT_DATASET, data_dir)
    except DatasetNotFound:
        return OWN_SPLITTER_NAME
    directory = source.files()[0].parent
    read_punkt(directory)
    unknown = None if source.is_pinned else f"the Punkt model in {directory} is of no known revision"
    return Splitter(
        f"NLTK's Punkt, English model {source.digest[:12]}", f"punkt-{source.digest}", str(directory), unknown
    )


@cache
def split_function(splitter: Splitter) -> SplitFunction:
    """Return the function that splits a text into sentences. Punkt's model is read once per process."""
    return split_sentences if splitter.directory is None else read_punkt(Path(splitter.directory)).split
