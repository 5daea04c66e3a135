"""Pictures of a run lie once beside its journal, and come back with every body that had them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.drawn import png, shown, url
from tests.journals import read_lines

from benchwright.records import Message, Status, TrialRecord
from benchwright.runs.journal import (
    BODIES_FILE,
    Journal,
    TrialBody,
    encode_json,
    read_body,
    read_encoded_body,
)
from benchwright.runs.pictures import PICTURES_FOLDER, picture_name, read_picture

NOISE = png(7) + random.Random(0).randbytes(100_000)


def asked(*parts: Any) -> list[Message]:
    return [{"role": "user", "content": list(parts)}]


def write(run: Path, *conversations: list[Message]) -> list[TrialRecord]:
    """Writes a trial for each conversation; returns their lines."""
    journal = Journal(run)
    for number, messages in enumerate(conversations):
        record = TrialRecord(f"{number:032x}", "s", "primary", Status.ANSWERED)
        journal.write_trial(record, encode_json(TrialBody(record.key, messages=messages)))
    journal.close()
    return [line for line in read_lines(run) if isinstance(line, TrialRecord)]


def test_twenty_trials_of_one_picture_keep_it_once(tmp_path: Path) -> None:
    messages = asked({"type": "text", "text": "What is it?"}, shown(url(NOISE)), shown(url(png(1))))
    lines = write(tmp_path, *[messages] * 20)
    assert sorted(path.read_bytes() for path in (tmp_path / PICTURES_FOLDER).iterdir()) == sorted(
        [png(1), NOISE]
    )
    assert (tmp_path / BODIES_FILE).stat().st_size < 20 * 500
    assert all(read_body(tmp_path, line).messages == messages for line in lines)
    (twentieth,) = lines[19:]
    assert read_encoded_body(tmp_path, twentieth) == encode_json(TrialBody(twentieth.key, messages=messages))


@pytest.mark.parametrize(
    "address",
    [
        url(png(1), "image/jpeg"),  # another type than it is
        "https://example.org/a.png",
        "data:image/png;base64,not a picture",
        url(b"<svg/>", "image/png"),
        url(png(1)) + "\n",
        "picture:image/png;" + "0" * 64 + ".png",
        "picture:image/png;../../run.json",
    ],
)
def test_whatever_stands_in_the_place_of_a_picture_comes_back_as_it_was(address: str, tmp_path: Path) -> None:
    messages = asked({"type": "image_url", "image_url": {"detail": "low", "url": address}})
    (line,) = write(tmp_path, messages)
    assert read_body(tmp_path, line).messages == messages


def test_what_only_looks_like_a_reference_is_none(tmp_path: Path) -> None:
    """Else a few words of an agent's could stand for gigabytes."""
    false = shown(f"picture:image/png;{picture_name(url(png(1)))}")
    messages = asked(shown(url(png(1))), false)
    (line,) = write(tmp_path, messages)
    assert read_body(tmp_path, line).messages == messages
    (again,) = write(tmp_path / "again", read_body(tmp_path, line).messages)
    assert read_body(tmp_path / "again", again).messages == messages


def test_texts_are_left_alone_whatever_they_say(tmp_path: Path) -> None:
    text = f'{{"url":"{url(png(1))}"}} and "url":"picture:image/png;{picture_name(url(png(1)))}"'
    (line,) = write(tmp_path, [{"role": "assistant", "content": text}])
    assert read_body(tmp_path, line).messages == [{"role": "assistant", "content": text}]
    assert not (tmp_path / PICTURES_FOLDER).exists()


def test_a_picture_that_is_lost_or_replaced_leaves_the_rest_readable(tmp_path: Path) -> None:
    (line,) = write(tmp_path, asked({"type": "text", "text": "this"}, shown(url(png(1)))))
    (path,) = (tmp_path / PICTURES_FOLDER).iterdir()
    path.write_bytes(png(2))
    text, picture = read_body(tmp_path, line).messages[0]["content"]
    assert text == {"type": "text", "text": "this"}
    assert picture == shown(f"picture:image/png;{path.name}")
    assert read_picture(tmp_path, path.name) is None
    path.write_bytes(b"")
    write(tmp_path, asked(shown(url(png(1)))))
    assert read_picture(tmp_path, path.name) == png(1)


def test_names_lead_to_pictures_only(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert read_picture(tmp_path, "../run.json") is None
    assert read_picture(tmp_path, f"{'0' * 64}.png") is None
