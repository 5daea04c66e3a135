"""`make release` refuses in one line what cannot become a release, and two builds of a commit are the same bytes."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests import release
from tests.environments import ROOT, programs_of

VERSION = "1.2.0"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A work tree of which version 1.2.0 could be released."""
    root = tmp_path / "project"
    package = root / "src" / "benchwright"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f'"""A package."""\n\n__version__ = "{VERSION}"\n')
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## {VERSION}\n\n- New.\n\n## 1.1.0\n\n- Old.\n")
    git(root, "init", "--quiet")
    commit(root)
    return root


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "a commit")


def refusal(root: Path, version: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line with which the release is refused."""
    assert release.main([version] if version else [], root) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert not (root / "build").exists()
    return line


def test_what_is_ready_is_not_refused(project: Path) -> None:
    release.check(project, VERSION)


def test_a_version_that_the_package_does_not_state_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refusal(project, "1.3.0", capsys) == (
        "Error: src/benchwright/__init__.py states version 1.2.0, not 1.3.0: write it there and commit"
    )


def test_no_version_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "make release VERSION=1.2.0" in refusal(project, "", capsys)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# Changelog\n\n## Unreleased\n\n- New.\n", 'CHANGELOG.md has no section "## 1.2.0"'),
        ("# Changelog\n\n## 1.2.0rc1\n\n- New.\n", 'CHANGELOG.md has no section "## 1.2.0"'),
        (
            "# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\n- Old.\n",
            'the section "## 1.2.0" of CHANGELOG.md is empty',
        ),
    ],
)
def test_a_version_without_a_section_in_the_changelog_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    (project / "CHANGELOG.md").write_text(text)
    commit(project)
    assert refusal(project, VERSION, capsys).startswith(f"Error: {reason}: ")


def test_a_work_tree_that_is_not_clean_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "forgotten.py").write_text("")
    assert refusal(project, VERSION, capsys) == (
        "Error: the work tree is not clean (?? forgotten.py): commit or stash this first"
    )


def test_a_version_that_is_tagged_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(project, "tag", f"v{VERSION}")
    assert refusal(project, VERSION, capsys).startswith("Error: the tag v1.2.0 is set already")


def test_the_notes_of_a_release_are_its_section(project: Path) -> None:
    assert release.changes(project, VERSION) == "- New.\n"


def test_files_with_other_bytes_are_named(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, content in ((first, b"one"), (second, b"two")):
        folder.mkdir()
        (folder / "same").write_bytes(b"same")
        (folder / "other").write_bytes(content)
    (first / "missing").write_bytes(b"")
    assert release.differing(first, second) == ["missing", "other"]


def test_the_version_is_written_once() -> None:
    """Else two places could differ: the file that states it, and no other file of the package or of its build."""
    stated = release.stated_version(ROOT)
    files = [ROOT / "pyproject.toml", *(ROOT / "src" / "benchwright").glob("*.py")]
    statement = re.compile(rf'version(__)? = "{re.escape(stated)}"')
    naming = [file.name for file in files if statement.search(file.read_text(encoding="utf-8"))]
    assert naming == ["__init__.py"]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"expression": "Apache-2.0 OR MIT"}, "Apache-2.0 OR MIT"),
        ({"license": {"id": "MIT"}}, "MIT"),
        ({"license": {"name": "License :: OSI Approved :: BSD License"}}, "BSD License"),
        (
            {"license": {"name": "declared license of 'a'", "text": {"content": "MIT License\n\nText"}}},
            "MIT License",
        ),
    ],
)
def test_a_licence_is_named_however_its_package_states_it(entry: dict[str, object], name: str) -> None:
    bill = {"components": [{"name": "a", "version": "1", "licenses": [entry]}]}
    assert list(release.licences(bill)) == [f"a 1: {name}"]


def test_a_package_without_a_licence_is_refused() -> None:
    with pytest.raises(release.Refused, match="a 1 says nothing of its licence"):
        list(release.licences({"components": [{"name": "a", "version": "1"}]}))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A folder with the sdist and the wheel of the project's last commit."""
    for name in ("release", "all"):
        programs_of(name)
    folder = tmp_path_factory.mktemp("release")
    return folder, release.build_twice(ROOT, folder)


@pytest.mark.slow
@pytest.mark.timeout(900)
class TestTheRealProject:
    """Two builds of the last commit, and what is written of its dependencies."""

    def test_two_builds_have_equal_bytes_and_complete_metadata(self, made: tuple[Path, list[Path]]) -> None:
        _, artifacts = made
        assert [path.suffix for path in artifacts] == [".whl", ".gz"]
        release.check_metadata(artifacts)

    def test_the_artifacts_have_the_package_and_its_licence(self, made: tuple[Path, list[Path]]) -> None:
        _, (wheel, sdist) = made
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        assert "benchwright/py.typed" in names
        assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)
        with tarfile.open(sdist) as packed:
            inside = {name.partition("/")[2] for name in packed.getnames()}
        assert {"LICENSE", "README.md", "src/benchwright/__init__.py", "tests/release.py"} <= inside

    def test_the_bill_of_materials_has_what_the_extras_need_and_no_tool(
        self, made: tuple[Path, list[Path]]
    ) -> None:
        folder, artifacts = made
        release.describe_dependencies(ROOT, "9.9.9", folder, artifacts)
        bill = (folder / "sbom.cdx.json").read_text()
        assert '"bomFormat": "CycloneDX"' in bill
        assert '"version": "9.9.9"' in bill
        packages = {line.split(" ")[0].lower() for line in (folder / "licences.txt").read_text().splitlines()}
        assert {"numpy", "litellm", "aiodocker", "pyarrow"} <= packages
        assert not {"pip", "pytest", "twine"} & packages
        release.write_sums(folder)
        subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True)
