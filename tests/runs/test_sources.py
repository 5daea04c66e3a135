"""Fingerprints of source code."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.loading import import_user_module
from benchwright.runs.source_fingerprints import fingerprint_or_unique, source_fingerprint

Write = Callable[[str, str], Path]

MODULE = """
import functools

def plain(x): return x

@functools.wraps(plain)
def decorated(x): return plain(x)

partial = functools.partial(plain, 1)

class Kind:
    def __call__(self): return 1

instance = Kind()
"""


def test_a_function_a_class_an_instance_and_a_module_stand_for_their_file(project: Write) -> None:
    path = project("mine.py", MODULE)
    module = import_user_module("mine")
    wanted = source_fingerprint(path)
    assert wanted is not None
    for name in ("plain", "decorated", "partial", "Kind", "instance"):
        assert source_fingerprint(getattr(module, name)) == wanted, name
    assert source_fingerprint(module) == wanted


def test_a_decorated_function_stands_for_the_file_that_it_was_written_in(project: Write) -> None:
    project("library.py", "import functools\ndef keep(f):\n    return functools.wraps(f)(lambda *a: f(*a))")
    path = project("mine.py", "from library import keep\n@keep\ndef mine(): return 1")
    assert source_fingerprint(import_user_module("mine").mine) == source_fingerprint(path)


def test_a_package_stands_for_all_its_modules(project: Write) -> None:
    project("kit/__init__.py", "")
    part = project("kit/inner/part.py", "x = 1")
    before = source_fingerprint(import_user_module("kit"))
    part.write_text("x = 2")
    after = source_fingerprint(import_user_module("kit"))
    assert before is not None
    assert after != before


def test_other_files_and_links_of_a_package_do_not_count(project: Write) -> None:
    folder = project("kit/__init__.py", "").parent
    before = source_fingerprint(folder)
    project("kit/notes.txt", "nothing")
    (folder / "link.py").symlink_to(project("elsewhere.py", "x = 1"))
    assert source_fingerprint(folder) == before


def test_renaming_a_module_of_a_package_counts(project: Write) -> None:
    project("kit/__init__.py", "")
    part = project("kit/part.py", "x = 1")
    before = source_fingerprint(part.parent)
    part.rename(part.with_name("piece.py"))
    assert source_fingerprint(part.parent) != before


def test_moving_a_project_does_not_count(project: Write, tmp_path: Path) -> None:
    project("here/kit/__init__.py", "x = 1")
    before = source_fingerprint(tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert source_fingerprint(tmp_path / "there") == before


@given(st.lists(st.binary(max_size=3), min_size=2, max_size=2, unique=True))
def test_different_bytes_have_different_fingerprints(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    prints = set()
    for content in contents:
        (folder / "x.py").write_bytes(content)
        prints.add(source_fingerprint(folder / "x.py"))
    assert len(prints) == 2


@pytest.mark.parametrize("source", [len, functools.partial(len, ""), Path("no_such_file.py"), 3])
def test_what_has_no_source_file_has_none(source: object) -> None:
    assert source_fingerprint(source) is None


def test_what_is_not_known_is_never_the_same_twice() -> None:
    assert fingerprint_or_unique("abc") == "abc"
    assert fingerprint_or_unique(None) != fingerprint_or_unique(None)
