"""MMMU-Pro: which images are sent in which order, what is asked, and which letter an answer means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored
from tests.drawn import gif, hub, png, shown, url

from benchwright.catalog.mmmu_pro.grading import find_letter
from benchwright.data.errors import DatasetError
from benchwright.records import Status

CHATGPT = "You are ChatGPT, a large language model trained by OpenAI, based on the GPT-4 architecture."
LAST_LINE = (
    "The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) where LETTER "
    "is one of options."
)

ROW: dict[str, Any] = {
    "id": "test_Art_1",
    "question": "Which is darker than <image 1>, and lighter than <image  1>?",
    "options": "['<image 3>', \"<image 2>\", 'none']",
    "explanation": "?",
    "image_1": hub(png(1)),
    "image_2": hub(gif(20, 10)),
    "image_3": hub(png(3)),
    "image_4": None,
    "img_type": "['Paintings']",
    "answer": "B",
    "topic_difficulty": "Hard",
    "subject": "Art",
}
SEEN = {"id": "test_Art_1", "image": hub(png(9)), "options": ROW["options"], "answer": "B", "subject": "Art"}


def standard(path: Path, **changed: Any) -> Path:
    return write_rows(path / "standard.jsonl", [ROW | changed])


async def test_images_follow_the_text_in_the_order_in_which_it_names_them(tmp_path: Path) -> None:
    (sample,) = samples("mmmu_pro", standard(tmp_path))
    assert sample.labels == {"domain": "Art and Design", "subject": "Art", "difficulty": "Hard"}
    messages, _ = await asked(benchmark("mmmu_pro"), sample)
    text = (
        "Which is darker than <image>, and lighter than <image>?\nA. <image>\nB. <image>\nC. none\n"
        f"Answer the preceding multiple choice question. {LAST_LINE} Think step by step before answering."
    )
    first, second, third = shown(url(png(1))), shown(url(gif(20, 10), "image/gif")), shown(url(png(3)))
    assert messages == [
        {"role": "system", "content": CHATGPT},
        {"role": "user", "content": [{"type": "text", "text": text}, first, first, third, second]},
    ]


async def test_in_the_variant_vision_the_question_is_the_image(tmp_path: Path) -> None:
    (sample,) = samples("mmmu_pro:vision", write_rows(tmp_path / "vision.jsonl", [SEEN]))
    task = benchmark("mmmu_pro:vision", {"system_message": "no", "prompt": "direct"})
    messages, _ = await asked(task, sample)
    text = f"Answer with the option letter from the given choices directly. {LAST_LINE}"
    assert messages == [{"role": "user", "content": [{"type": "text", "text": text}, shown(url(png(9)))]}]
    assert task.departures == ("no system message",)


async def test_the_authors_other_prompts(tmp_path: Path) -> None:
    (sample,) = samples("mmmu_pro", standard(tmp_path))
    (_, message), _ = await asked(benchmark("mmmu_pro", {"prompt": "direct"}), sample)
    assert message["content"][0]["text"].endswith(
        "C. none\nAnswer with the option letter from the given choices directly."
    )
    (_, message), _ = await asked(benchmark("mmmu_pro:vision"), sample)
    assert message["content"][0]["text"] == (
        f"Write out the multiple-choice question in the image and then solve it. {LAST_LINE} "
        "Think step by step before answering."
    )


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"image_3": None}, "the text names image 3, which is not there"),
        ({"question": "<image 8>"}, "the text names image 8, which is not there"),
        ({"image_2": hub(b"<svg/>")}, r"no PNG, JPEG, GIF or WebP image - at `\$.image_2`"),
        ({"options": "__import__('os').getcwd()"}, "`options` is not a list of 1 to 26 options"),
        ({"options": "[" * 5000}, "`options` is not a list"),
        ({"answer": "b"}, "answer"),
    ],
)
def test_a_row_that_cannot_be_asked_is_named(changed: dict[str, Any], wrong: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=f"standard.jsonl, line 1: Row 0: .*{wrong}"):
        samples("mmmu_pro", standard(tmp_path, **changed))


def test_a_nested_list_is_one_option_and_its_row_cannot_be_solved(tmp_path: Path) -> None:
    """validation_Accounting_29 of the hub is such a row."""
    (sample,) = samples("mmmu_pro", standard(tmp_path, options="[['A', 'B']]"))
    assert sample.content["choices"] == ["['A', 'B']"]
    gold = next(benchmark("mmmu_pro").checks(sample))
    assert gold.reason == "the data's answer is none of its options"


@pytest.mark.parametrize("name", ["mmmu_pro", "mmmu_pro:vision"])
async def test_rows_as_the_hub_lays_them_out_pass_with_their_letters(name: str, real_rows: Path) -> None:
    played = await validated(name, real_rows / "mmmu_pro")
    assert (played.samples, played.failures) == (19, [])


CHOICES = ["in Oslo", "in Rome", "neither", "both of them", "Decreases"]


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("Answer: B", "B"),
        ("Answer: A\nNo, wait.\nAnswer: B", "B"),
        ("Answer: increase", None),  # no capital at all
        ("Answer: Decreases", "D"),  # a letter within a word
        ("answer: B", "B"),  # at the end, as if a blank followed
        ("answer: B, surely", None),
        ("I say (B) or (A), rather (B).", "B"),
        ("B is it, not A as some say", "A"),
        ("It is B.\nNothing else", "B"),
        ("Answer: A or B, so B it is", "B"),
        ("I think that it was in Rome, and not in Oslo at all", "A"),
        ("it was in rome, as all of us know", "B"),
        ("in Rome", None),  # too short for texts of options
        ("", None),
    ],
)
def test_letters_are_found_as_the_authors_find_them(answer: str, letter: str | None) -> None:
    """Each case as their code gives it, which guesses where there is None."""
    assert find_letter(answer, CHOICES) == letter


async def test_an_answer_without_a_letter_is_wrong_and_counts_in_the_figure_by_the_chance_of_a_guess() -> (
    None
):
    content = {"choices": CHOICES, "answer": "B"}
    score = await scored("mmmu_pro", content, "hard to say")
    assert (score.value, score.status) == (None, Status.UNPARSED)
    right = await scored("mmmu_pro", content, "Answer: B")
    scores = [graded(one.value, one.detail) for one in (score, right)]
    assert figures(benchmark("mmmu_pro"), scores) == {"accuracy_random_guess": (1 + 1 / 5) / 2}
    assert figures(benchmark("mmmu_pro"), []) == {"accuracy_random_guess": None}


def test_one_folder_holds_both_variants(tmp_path: Path) -> None:
    standard(tmp_path)
    write_rows(tmp_path / "vision.jsonl", [SEEN])
    for name, sides in (("mmmu_pro", 4), ("mmmu_pro:vision", 1)):
        task = benchmark(name)
        (sample,) = task.samples(source(name, tmp_path))
        assert len(sample.content["images"]) == sides
