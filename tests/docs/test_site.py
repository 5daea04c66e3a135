"""`make docs` builds all pages, and finds dead links, pages without a place and public names without a docstring."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import site
from tests.environments import ROOT, programs_of

CONFIGURATION = ROOT / "mkdocs.yml"


def test_every_page_has_one_place_in_the_order_of_reading() -> None:
    placed = re.findall(r"^ +- [^:]+: ([\w-]+\.md)$", CONFIGURATION.read_text(encoding="utf-8"), re.M)
    assert sorted(placed) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def test_the_reference_has_every_public_name_and_each_has_a_docstring() -> None:
    assert list(site.faults()) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestBuilding:
    def build(self, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(programs_of("docs") / "mkdocs"), "build", "--strict", "--site-dir", str(folder / "site")],
            cwd=folder,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
        )

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        shutil.copy(CONFIGURATION, tmp_path)
        shutil.copytree(ROOT / "docs", tmp_path / "docs")
        (tmp_path / "src").symlink_to(ROOT / "src")
        return tmp_path

    def test_the_site_has_a_page_for_each_and_the_reference_has_the_names(self, folder: Path) -> None:
        built = self.build(folder)
        assert built.returncode == 0, built.stderr
        pages = {page.stem for page in (folder / "site").glob("*.html")}
        assert pages >= {page.stem for page in (ROOT / "docs").glob("*.md")}
        scale = (folder / "site" / "scale.html").read_text(encoding="utf-8")
        assert "<!-- not run" in scale, "a mark for tests, which nobody sees"
        assert "&lt;!--" not in scale
        reference = (folder / "site" / "reference.html").read_text(encoding="utf-8")
        assert all(f'id="{address}"' in reference for address, _ in site.public_names())
        assert (folder / "site" / "search" / "search_index.json").stat().st_size > 100_000

    def test_faults_are_refused(self, folder: Path) -> None:
        docs = folder / "docs"
        for name, text in (
            ("start.md", "[gone](gone.md) [gone](eval.md#not-there)"),
            ("orphan.md", "# A page without a place"),
        ):
            page = docs / name
            page.write_text((page.read_text() if page.exists() else "") + f"\n{text}\n")
        built = self.build(folder)
        assert built.returncode != 0
        assert all(word in built.stderr for word in ("'gone.md'", "#not-there", "orphan.md")), built.stderr

    def test_a_name_that_is_not_there_is_refused(self, folder: Path) -> None:
        page = folder / "docs" / "reference.md"
        page.write_text(f"{page.read_text()}\n::: benchwright.api.evaluating.gone\n")
        assert self.build(folder).returncode != 0
