"""AA-LCR: documents found in their order by whatever spelling, the prompt, and the judge."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated
from tests.catalog.conversations import Talk, asked, scored

from benchwright.catalog.aa_lcr.documents import normalize_name
from benchwright.catalog.registry import find_about
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.errors import DatasetError

HEADER = "document_category,document_set_id,question_id,question,answer,data_source_filenames\n"
ROW = "Legal,acts,7,What is the fee?,20,Bob’s second act.txt;first – act.txt\n"


def laid(directory: Path, names: tuple[str, ...], rows: str = ROW) -> Path:
    """The CSV, and an archive with documents of these names, as the hub has them."""
    (directory / "AA-LCR_Dataset.csv").write_text(HEADER + rows, encoding="utf-8")
    (directory / "extracted_text").mkdir()
    with zipfile.ZipFile(directory / "extracted_text" / "AA-LCR_extracted-text.zip", "w") as archive:
        for name in names:
            archive.writestr(f"lcr/Legal/acts/{name}", f"This is {normalize_name(name)}")
    return directory


async def test_made_up_questions_pass_with_and_without_a_judge(real_rows: Path) -> None:
    path = real_rows / "aa_lcr"
    judged = benchmark("aa_lcr", {"judge_model": "some-judge"}, ["judge"])
    played = await validate_benchmark(judged, source("aa_lcr", path))
    assert (played.samples, played.failures) == (2, [])
    assert (await validated("aa_lcr", path)).failures == []


async def test_the_documents_come_in_the_order_of_the_row_and_no_others(real_rows: Path) -> None:
    first, _ = samples("aa_lcr", real_rows / "aa_lcr")
    (message,), _ = await asked(benchmark("aa_lcr"), first)
    german, report = first.content["documents"]
    assert message["content"] == (
        f"BEGIN INPUT DOCUMENTS\n\nBEGIN DOCUMENT 1:\n{german}\nEND DOCUMENT 1\n\n"
        f"BEGIN DOCUMENT 2:\n{report}\nEND DOCUMENT 2\n\nEND INPUT DOCUMENTS\n\n"
        "Answer the following question using the input documents provided above.\n\n"
        "START QUESTION\n\nBy how many percent did the revenue of Alpha grow?\n\nEND QUESTION\n"
    )
    assert (first.labels["category"], first.target) == ("Company_Documents", "20%")


@pytest.mark.parametrize(
    "names",
    [
        ("first – act.txt", "Bob’s second act.txt"),
        ("first - act.txt", "Bob's second act.txt"),
        # UTF-8 that was taken for code page 437, as in the archive on the hub
        ("first ΓÇô act.txt", "BobΓÇÖs second act.txt"),
    ],
)
def test_a_document_is_found_by_any_spelling_of_its_name(tmp_path: Path, names: tuple[str, ...]) -> None:
    (sample,) = samples("aa_lcr", laid(tmp_path, names))
    assert sample.content["documents"] == ["This is Bob's second act.txt", "This is first - act.txt"]


def test_letters_with_a_mark_of_their_own_are_one_letter() -> None:
    assert normalize_name("s╠º") == normalize_name("ş")


def test_a_document_that_is_not_there_is_an_error_and_never_left_out(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"'first – act\.txt' of the set Legal/acts is not there"):
        samples("aa_lcr", laid(tmp_path, ("Bob’s second act.txt",)))


def test_an_archive_that_is_none_is_named(tmp_path: Path) -> None:
    path = laid(tmp_path, ())
    (path / "extracted_text" / "AA-LCR_extracted-text.zip").write_bytes(b"no archive")
    with pytest.raises(DatasetError, match=r"AA-LCR_extracted-text\.zip is not a zip archive"):
        samples("aa_lcr", path)


@pytest.mark.parametrize(("said", "value"), [("CORRECT", 1.0), ("INCORRECT", 0.0), ("Incorrect.", 0.0)])
async def test_the_judge_compares_with_the_right_answer_and_sees_no_document(said: str, value: float) -> None:
    task = benchmark("aa_lcr", {"judge_model": "some-judge"}, ["judge"])
    talk = Talk(judge=[said])
    content = {"question": "What is the fee?", "answer": "20", "documents": ["secret"]}
    assert (await scored(task, content, "20 crowns", talk)).value == value
    ((_, (message,), _),) = talk.asked
    assert message["content"] == (
        "Assess whether the following CANDIDATE ANSWER is CORRECT or INCORRECT. For the CANDIDATE ANSWER to be "
        "correct, it must be consistent with the OFFICIAL ANSWER.\n\nThe question, for reference only: "
        "What is the fee?\n"
        "The OFFICIAL ANSWER: 20\nCANDIDATE ANSWER TO ASSESS: 20 crowns\n\nReply only with CORRECT or INCORRECT."
    )


def test_its_mean_is_of_three_answers() -> None:
    assert (find_about("aa_lcr").repeats, find_about("aa_lcr").items) == (3, 100)
