"""What a user's code imports of its own project belongs to its fingerprint, however it imports it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchwright.agents.loading import import_user_module
from benchwright.runs.local_imports import find_local_imports
from benchwright.runs.source_fingerprints import source_fingerprint, user_source_fingerprint
from benchwright.scorers.exact import Exact

Write = Callable[[str, str], Path]


def fingerprint(path: Path) -> str:
    found = source_fingerprint(path)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("imports", "helper"),
    [
        ("import helper", "helper.py"),
        ("import helper as other", "helper.py"),
        ("from helper import rule", "helper.py"),
        ("from helper import *", "helper.py"),
        ("import kit.inner.helper", "kit/inner/helper.py"),
        ("import kit.inner.helper", "kit/inner/__init__.py"),
        ("import kit.inner.helper", "kit/__init__.py"),
        ("from kit.inner import helper", "kit/inner/helper.py"),
        ("from kit import inner", "kit/inner/__init__.py"),
        ("from space import helper", "space/helper.py"),
        ("def score():\n    import helper", "helper.py"),
        ("def score():\n    from kit.inner.helper import rule", "kit/inner/helper.py"),
        ("try:\n    import helper\nexcept ImportError:\n    helper = None", "helper.py"),
        ("if True:\n    import helper", "helper.py"),
        ("import importlib\nhelper = importlib.import_module('helper')", "helper.py"),
        ("helper = __import__('helper')", "helper.py"),
        ("import importlib\nname = 'hel' + 'per'\nhelper = importlib.import_module(name)", "helper.py"),
        ("import middle", "helper.py"),
        ("import circle_a", "circle_b.py"),
    ],
)
def test_an_edited_helper_changes_the_fingerprint(imports: str, helper: str, project: Write) -> None:
    for name in (
        "kit/__init__.py",
        "kit/inner/__init__.py",
        "kit/inner/helper.py",
        "space/helper.py",
        "helper.py",
    ):
        project(name, "rule = 1\n")
    project("middle.py", "def use():\n    from helper import rule\n    return rule\n")
    project("circle_a.py", "import circle_b\n")
    project("circle_b.py", "import circle_a\n")
    scorer = project("scorer.py", f"{imports}\n")
    before = fingerprint(scorer)
    assert fingerprint(scorer) == before
    project(helper, "rule = 2\n")
    assert fingerprint(scorer) != before


@pytest.mark.parametrize(
    ("imports", "helper"),
    [
        ("from . import helper", "kit/inner/helper.py"),
        ("from .helper import rule", "kit/inner/helper.py"),
        ("from .. import other", "kit/other.py"),
        ("from ..other import rule", "kit/other.py"),
        ("import importlib\nhelper = importlib.import_module('.helper', __package__)", "kit/inner/helper.py"),
        ("", "kit/__init__.py"),
        ("", "kit/inner/__init__.py"),
    ],
)
def test_relative_imports_and_the_packages_around_a_module_belong_to_it(
    imports: str, helper: str, project: Write
) -> None:
    for name in ("kit/__init__.py", "kit/inner/__init__.py", "kit/inner/helper.py", "kit/other.py"):
        project(name, "rule = 1\n")
    scorer = project("kit/inner/scorer.py", f"{imports}\n")
    before = fingerprint(scorer)
    project(helper, "rule = 2\n")
    assert fingerprint(scorer) != before


def test_what_is_not_imported_does_not_belong_to_it(project: Write) -> None:
    project("helper.py", "")
    scorer = project("scorer.py", "import helper\n")
    before = fingerprint(scorer)
    project("other.py", "x = 1")
    project("data.json", "{}")
    assert fingerprint(scorer) == before
    assert list(find_local_imports([scorer]).values()) == ["helper.py"]


def test_installed_modules_and_our_own_do_not_belong_to_it(project: Write) -> None:
    project(".venv/lib/python3.11/site-packages/library.py", "x = 1")
    scorer = project("scorer.py", "import json, numpy, library, benchwright.scorers.exact\n")
    assert find_local_imports([scorer]) == {}


def test_code_of_ours_is_not_a_users_though_the_working_directory_is_a_clone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clone = Path(__file__).parents[2]
    monkeypatch.chdir(clone)
    assert find_local_imports([clone / "src" / "benchwright" / "scorers" / "exact.py"]) == {}
    assert user_source_fingerprint(Exact) is None


def test_folders_in_pythonpath_are_local(
    project: Write, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("shared")
    (elsewhere / "common.py").write_text("rule = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(elsewhere))
    scorer = project("scorer.py", "import common\n")
    before = fingerprint(scorer)
    (elsewhere / "common.py").write_text("rule = 2\n")
    assert fingerprint(scorer) != before


def test_folders_that_code_puts_on_the_path_are_local(
    project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = project("lib/deep.py", "rule = 1\n")
    scorer = project("scorer.py", "import deep\n")
    monkeypatch.setattr(sys, "path", [*sys.path, "lib"])
    before = fingerprint(scorer)
    helper.write_text("rule = 2\n")
    assert fingerprint(scorer) != before


def test_a_moved_project_keeps_its_fingerprint(
    project: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project("here/helper.py", "rule = 1\n")
    scorer = project("here/scorer.py", "import helper\n")
    monkeypatch.chdir(tmp_path / "here")
    before = fingerprint(scorer)
    monkeypatch.chdir(tmp_path)
    shutil.move(tmp_path / "here", tmp_path / "there")
    monkeypatch.chdir(tmp_path / "there")
    assert fingerprint(tmp_path / "there" / "scorer.py") == before


def test_it_is_the_same_before_and_after_a_lazy_import(project: Write) -> None:
    project("helper.py", "rule = 1\n")
    project("scorer.py", "def score():\n    import helper\n    return helper.rule\n")
    module = import_user_module("scorer")
    before = source_fingerprint(module.score)
    module.score()
    assert source_fingerprint(module.score) == before


def test_a_file_that_is_no_python_is_followed_no_further(project: Write) -> None:
    project("helper.py", "this is no Python(")
    scorer = project("scorer.py", "import helper\n")
    before = fingerprint(scorer)
    project("helper.py", "nor is this(")
    assert fingerprint(scorer) != before


def test_code_without_imports_has_the_digest_of_its_file_alone(project: Write) -> None:
    """Fingerprints of earlier runs stay valid where there is nothing more to cover."""
    import xxhash

    content = b"def score(): return 1\n"
    scorer = project("scorer.py", content.decode())
    expected = xxhash.xxh3_128_hexdigest(f"\0{len(content)}\0".encode() + content)
    assert fingerprint(scorer) == expected


SCRIPT = """
import helper
from benchwright.runs.source_fingerprints import source_fingerprint

LEAST = {least}

def own(value):
    return value * {factor}

def score(answer):
    return own(helper.rule) > LEAST

def aside():
    return {aside}

print(source_fingerprint(score))
"""


def printed(folder: Path, **values: int) -> str:
    (folder / "script.py").write_text(SCRIPT.format(**{"least": 1, "factor": 1, "aside": 1, **values}))
    environment = {**os.environ, "PYTHONPATH": ""}
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return ended.stdout


def test_a_function_of_a_script_stands_for_all_that_it_uses_of_it(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("rule = 1\n")
    before = printed(tmp_path)
    assert printed(tmp_path, aside=2) == before
    assert len({before, printed(tmp_path, least=2), printed(tmp_path, factor=2)}) == 3
    (tmp_path / "helper.py").write_text("rule = 2\n")
    assert printed(tmp_path) != before


def test_an_object_stands_for_what_its_class_imports(project: Write) -> None:
    project("helper.py", "rule = 1\n")
    project("scorer.py", "import helper\nclass Kind:\n    def __call__(self): return helper.rule\n")
    instance = import_user_module("scorer").Kind()
    for source in (instance, type(instance), functools.partial(instance)):
        before = source_fingerprint(source)
        project("helper.py", f"rule = '{before}'\n")
        assert source_fingerprint(source) != before
