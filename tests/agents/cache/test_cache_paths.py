"""Where cache files lie, and how names become directories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.cache.paths import RESERVED_NAMES, cache_root, entry_directory, sanitize_path_part

HOME = Path("~").expanduser()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my-model", "my-model"),
        ("org/My_Model", "org-my_model"),
        ("openai/gpt-4o", "openai-gpt-4o"),
        ("Modèl Été", "model-ete"),
        ("a//b  c..d", "a-b-c-d"),
        ("-- x --", "x"),
        ("日本語", "日本語"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "_con"),
        ("Lpt9", "_lpt9"),
        ("con-", "_con"),
        ("a" * 60, "a" * 60),
    ],
)
def test_names_become_plain(text: str, name: str) -> None:
    assert sanitize_path_part(text) == name


def test_long_names_keep_their_beginning_and_stay_apart() -> None:
    first, second = (sanitize_path_part("a" * 60 + end) for end in ("1", "2"))
    assert first != second
    for name in (first, second):
        assert re.fullmatch(r"a{55}_[0-9a-f]{4}", name)


def test_names_of_nothing_are_told_apart_too() -> None:
    names = {sanitize_path_part(text) for text in ("", "...", "///", "😀")}
    assert len(names) == 4
    assert all(re.fullmatch(r"eval-[0-9a-f]{8}", name) for name in names)


@given(st.text())
def test_any_name_is_one_safe_part_of_a_path(text: str) -> None:
    name = sanitize_path_part(text)
    assert re.fullmatch(r"[\w-]{1,60}", name)
    assert name == name.lower()
    assert name not in RESERVED_NAMES
    assert Path(name).name == name


@given(st.text(st.characters(codec="ascii")))
def test_a_safe_name_is_left_as_it_is(text: str) -> None:
    name = sanitize_path_part(text)
    assert sanitize_path_part(name) == name


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({}, HOME / ".cache/osmosis/eval"),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/osmosis/eval")),
        ({"XDG_CACHE_HOME": "/x", "BENCHWRIGHT_HOME": "/b"}, Path("/b/cache/eval")),
        ({"XDG_CACHE_HOME": "/x", "BENCHWRIGHT_HOME": "/b", "OSMOSIS_CACHE_DIR": "/o"}, Path("/o/eval")),
        ({"OSMOSIS_CACHE_DIR": "~/o"}, HOME / "o/eval"),
        ({"OSMOSIS_CACHE_DIR": "", "XDG_CACHE_HOME": "/x"}, Path("/x/osmosis/eval")),
        ({"OSMOSIS_CACHE_DIR": "here"}, Path.cwd() / "here/eval"),
    ],
)
def test_the_environment_says_where_the_root_is(environ: dict[str, str], root: Path) -> None:
    assert cache_root(environ) == root.resolve()


def test_an_entry_lies_below_its_model_and_the_stem_of_its_dataset() -> None:
    directory = entry_directory(Path("/somewhere"), "org/Model", "data/GSM8K.test.jsonl")
    assert directory == Path("/somewhere/org-model/gsm8k-test")
