"""Punkt by a small model of our own. What is expected is what NLTK 3.9.2 makes of the same text and model."""

from __future__ import annotations

import gc
from pathlib import Path
from time import process_time

import pytest
from tests.catalog.conversations import scored
from tests.catalog.punkt_model import lay_fetched, write_model

from benchwright.catalog.benchmark import Options
from benchwright.catalog.ifeval.punkt import Punkt, read_punkt
from benchwright.catalog.ifeval.splitters import OWN_SPLITTER_NAME, find_splitter
from benchwright.catalog.registry import find_about, make_benchmark
from benchwright.data.errors import DatasetError, DatasetParseError

TWO_SENTENCES = {
    "id": "length_constraints:number_sentences",
    "arguments": {"num_sentences": 2, "relation": "at least"},
}


@pytest.fixture
def model(tmp_path: Path) -> Punkt:
    return read_punkt(write_model(tmp_path / "english"))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. two! Three?", ["One.", "two!", "Three?"]),
        ("no end\n\nbut lines", ["no end\n\nbut lines"]),
        (" \n ", []),
        # an abbreviation ends a sentence if the next word is known to start one only with a capital
        ("Bring fruit, e.g. The apple.", ["Bring fruit, e.g.", "The apple."]),
        ("Bring fruit, e.g. apples. Go.", ["Bring fruit, e.g. apples.", "Go."]),
        ("Bring fruit, e.g. Apples.", ["Bring fruit, e.g. Apples."]),
        # or if it often starts one
        ("It is Acme Inc. However, it is small.", ["It is Acme Inc.", "However, it is small."]),
        ("It is Acme Inc. however small.", ["It is Acme Inc. however small."]),
        ("Non-dr. Smith. However so.", ["Non-dr. Smith.", "However so."]),
        # two words that belong together, and numbers before a small letter
        (
            "In St. Petersburg it is cold. In St. Louis it is not.",
            ["In St. Petersburg it is cold.", "In St.", "Louis it is not."],
        ),
        (
            "On 4. July we met. On 4. Many met. On 4. few met.",
            ["On 4. July we met.", "On 4.", "Many met.", "On 4. few met."],
        ),
        # initials
        ("J. Smith spoke. J. The end. J. few. J. Others.",
         ["J. Smith spoke.", "J.", "The end.", "J. few.", "J. Others."]),
        ("George W. The end.", ["George W. The end."]),
        # marks in a row, and closing ones
        ("Stop!!! Why?! Go.", ["Stop!!!", "Why?!", "Go."]),
        ("?! So. !", ["?", "!", "So.", "!"]),
        ("Wait... and see. Wait... The end.", ["Wait... and see.", "Wait...", "The end."]),
        ("Wait . . . and see.", ["Wait .", ".", ".", "and see."]),
        ('"Stop!" he said. (He did.) Then "go."', ['"Stop!"', "he said.", "(He did.)", 'Then "go."']),
        ("Go. ) (ok) ) Then. -- so. --\"", ["Go. )", "(ok) ) Then.", "-- so.", '--"']),
        ("One.Two. 3.5 is 4. ok", ["One.Two.", "3.5 is 4. ok"]),
        # NLTK 3.10 would end a sentence before a curly quotation mark
        ("He said “stop.” Then he left.", ["He said “stop.” Then he left."]),
        ("\u00a0Yes.\u00a0No.\u2003So.", ["\u00a0Yes.\u00a0No.", "So."]),
    ],
)  # fmt: skip
def test_sentences_end_where_nltk_ends_them(text: str, sentences: list[str], model: Punkt) -> None:
    assert model.split(text) == sentences


@pytest.mark.parametrize("piece", ["a.", ". ", "a.)", "!", "-", "A. ", "e.g. The ", '."', ". . ", "\n"])
def test_the_time_does_not_grow_faster_than_the_text(piece: str, model: Punkt) -> None:
    def seconds(times: int) -> float:
        text = piece * times
        gc.disable()
        started = process_time()
        model.split(text)
        gc.enable()
        return process_time() - started

    model.split(piece * 100)
    assert min(seconds(2_000) for _ in range(3)) < 24 * max(min(seconds(250) for _ in range(3)), 0.001)


@pytest.mark.parametrize("name", ["ortho_context.tab", "collocations.tab", "abbrev_types.txt"])
def test_a_model_that_is_not_whole_is_told_by_its_directory(name: str, tmp_path: Path) -> None:
    directory = write_model(tmp_path / "english")
    (directory / name).write_bytes(b"one\ttwo\tthree\n\xff")
    with pytest.raises(DatasetParseError, match=str(directory)):
        read_punkt(directory)


def test_without_a_model_our_own_splitter_is_used_and_said_to_depart_from_the_protocol(
    tmp_path: Path,
) -> None:
    assert find_splitter(tmp_path) == OWN_SPLITTER_NAME
    for name in ("ifeval", "multi_if"):
        made = make_benchmark(find_about(name), Options(data_dir=tmp_path))
        assert "benchwright fetch ifeval" in made.departures[0]
        assert made.about.protocol.endswith("; sentences split by our own splitter")


def test_a_fetched_model_is_used_and_named(tmp_path: Path) -> None:
    lay_fetched(tmp_path)
    for name in ("ifeval", "multi_if"):
        made = make_benchmark(find_about(name), Options(data_dir=tmp_path))
        assert made.departures == ()
        assert "; sentences split by NLTK's Punkt, English model " in made.about.protocol


def test_a_model_laid_there_by_hand_is_used_and_said_to_be_of_unknown_revision(tmp_path: Path) -> None:
    write_model(tmp_path / "punkt" / "english")
    lay_fetched(tmp_path / "fetched")
    by_hand, fetched = find_splitter(tmp_path), find_splitter(tmp_path / "fetched")
    assert by_hand.departures == (f"the Punkt model in {by_hand.directory} is of no known revision",)
    assert by_hand.fingerprint == fetched.fingerprint


def test_a_fetched_model_that_was_changed_is_refused(tmp_path: Path) -> None:
    (lay_fetched(tmp_path) / "abbrev_types.txt").write_text("dr\n")
    with pytest.raises(DatasetError, match="has changed since it was fetched"):
        make_benchmark(find_about("ifeval"), Options(data_dir=tmp_path))


async def test_answers_are_graded_with_the_splitter_that_is_named(tmp_path: Path) -> None:
    """To our own splitter "St." is an abbreviation, to this model it is none."""
    lay_fetched(tmp_path / "data")
    content = {"instructions": [TWO_SENTENCES]}
    punkt, own = (
        make_benchmark(find_about("ifeval"), Options(data_dir=tmp_path / where))
        for where in ("data", "nothing here")
    )
    answer = "In St. Louis it rains"
    assert (await scored(punkt, content, answer)).value == 1.0
    assert (await scored(own, content, answer)).value == 0.0


@pytest.mark.parametrize("name", ["ifeval", "multi_if"])
def test_scores_by_different_splitters_are_not_the_same_score(name: str, tmp_path: Path) -> None:
    lay_fetched(tmp_path / "data")
    fingerprints = {
        make_benchmark(find_about(name), Options(data_dir=tmp_path / where)).scorers[0].fingerprint
        for where in ("data", "nothing here")
    }
    assert len(fingerprints) == 2
