"""`make release VERSION=…`: makes a release in build/release and tries it; all but the tag and the upload.

It is a program beside the tests, as other_versions.py is: it ships with nothing, and uses their kits. It refuses in one
line what cannot become a release. docs/releasing.md says what comes before and after.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.environments import installed  # noqa: E402 -- found beside this file however it is started

VERSION_FILE = "src/benchwright/__init__.py"
PLACES = (("first", "UTC", 0o022), ("second", "Asia/Kathmandu", 0o077))
"""Name of the folder, time zone and umask of each of the two builds: none of them may show in the files."""


class Refused(Exception):
    """A reason, in one line, why there can be no such release."""


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Make the release; return 1 if it is refused or if something in it does not work."""
    parser = argparse.ArgumentParser(description="Makes a release in build/release, up to the upload.")
    parser.add_argument("version", nargs="?", default="", help="the version that the release shall have")
    version = parser.parse_args(arguments).version
    try:
        check(root, version)
        folder = root / "build" / "release"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        artifacts = build_twice(root, folder)
        check_metadata(artifacts)
        (folder / "notes.md").write_text(changes(root, version), encoding="utf-8")
        describe_dependencies(root, version, folder, artifacts)
        write_sums(folder)
        for artifact in artifacts:
            try_as_newcomer(artifact)
    except Refused as refused:
        print(f"Error: {refused}", flush=True)
        return 1
    print(f"The release is in {folder.relative_to(root)}: {', '.join(sorted(os.listdir(folder)))}")
    print(f"Its tag is {tag(version)}. docs/releasing.md says how to set it and how to upload.", flush=True)
    return 0


def tag(version: str) -> str:
    """Return the name of a version's tag."""
    return f"v{version}"


def check(root: Path, version: str) -> None:
    """Refuse a version that the files do not state, or a work tree that is not what a commit has.

    Raises:
        Refused: If there can be no release of this version now.
    """
    if not version:
        raise Refused(f"no version was given: make release VERSION={stated_version(root)}")
    if (stated := stated_version(root)) != version:
        raise Refused(f"{VERSION_FILE} states version {stated}, not {version}: write it there and commit")
    changes(root, version)
    if changed := git(root, "status", "--porcelain").splitlines():
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise Refused(f"the work tree is not clean ({changed[0].strip()}{more}): commit or stash this first")
    if git(root, "tag", "--list", tag(version)):
        raise Refused(
            f"the tag {tag(version)} is set already: a released version is never changed, take a new one"
        )


def stated_version(root: Path) -> str:
    """Return the version that the package states, in the only place that does."""
    text = (root / VERSION_FILE).read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "([^"]+)"$', text, re.M)
    return str(version)


def changes(root: Path, version: str) -> str:
    """Return the text of the version's section in CHANGELOG.md.

    Raises:
        Refused: If there is no such section, or if it is empty.
    """
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = f"## {version}"
    sections = re.findall(rf"^{re.escape(heading)}(?: .*)?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not sections:
        raise Refused(f'CHANGELOG.md has no section "{heading}": give "## Unreleased" this name and commit')
    if not sections[0].strip():
        raise Refused(f'the section "{heading}" of CHANGELOG.md is empty: say what changed and commit')
    return f"{sections[0].strip()}\n"


def git(root: Path, *arguments: str) -> str:
    """Return what git prints for the work tree."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.rstrip()


def build_twice(root: Path, folder: Path) -> list[Path]:
    """Build the last commit in two places, and return the sdist and the wheel in the folder.

    The wheel is built from the sdist.

    Raises:
        Refused: If the two builds have different bytes.
    """
    with tempfile.TemporaryDirectory(prefix="benchwright-release-") as temporary:
        builds = [build(root, Path(temporary, name), zone, mask) for name, zone, mask in PLACES]
        if different := differing(*builds):
            raise Refused(f"two builds of one commit have different bytes: {', '.join(different)}")
        artifacts = [Path(shutil.copy(path, folder)) for path in sorted(builds[0].iterdir())]
    said("built twice with equal bytes", *(path.name for path in artifacts))
    return artifacts


def build(root: Path, place: Path, zone: str, mask: int) -> Path:
    """Build a clone of the last commit, and return the folder with what came of it."""
    before = os.umask(mask)
    try:
        subprocess.run(["git", "clone", "--quiet", str(root), str(place / "clone")], check=True)
        time = git(root, "log", "-1", "--format=%ct")
        environment = {**without_our_paths(), "SOURCE_DATE_EPOCH": time, "TZ": zone}
        command = [
            str(installed("release") / "pyproject-build"),
            "--no-isolation",
            "--outdir",
            str(place / "dist"),
        ]
        ended = subprocess.run(command, cwd=place / "clone", env=environment, capture_output=True, text=True)
    finally:
        os.umask(before)
    if ended.returncode:
        raise Refused(f"the build failed: {last_line(ended)}")
    return place / "dist"


def differing(first: Path, second: Path) -> list[str]:
    """Return the names of the files that two folders do not have with the same bytes."""
    names = sorted({path.name for folder in (first, second) for path in folder.iterdir()})
    _, different, missing = filecmp.cmpfiles(first, second, names, shallow=False)
    return sorted([*different, *missing])


def check_metadata(artifacts: list[Path]) -> None:
    """Check what an index would refuse or could not show.

    Raises:
        Refused: If the metadata are wrong.
    """
    command = [str(installed("release") / "twine"), "--no-color", "check", "--strict", *map(str, artifacts)]
    ended = subprocess.run(command, env=without_our_paths(), capture_output=True, text=True)
    if ended.returncode:
        raise Refused(f"the metadata are wrong: {' '.join(ended.stdout.split())}")
    said("metadata", "twine check --strict")


def describe_dependencies(root: Path, version: str, folder: Path, artifacts: list[Path]) -> None:
    """Write the bill of materials (CycloneDX JSON) and the licences of all that `[all]` needs.

    Versions are those of requirements/all.txt, with which the tests ran.

    Raises:
        Refused: If a package says nothing of its licence.
    """
    bill = only_locked(bill_of_materials(root, version), root)
    bill["metadata"]["component"]["externalReferences"] = [
        {"type": "distribution", "url": path.name, "hashes": [{"alg": "SHA-256", "content": digest(path)}]}
        for path in artifacts
    ]
    (folder / "sbom.cdx.json").write_text(f"{json.dumps(bill, indent=2)}\n", encoding="utf-8")
    lines = list(licences(bill))
    (folder / "licences.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    said("licences and bill of materials", f"{len(lines)} packages")


def only_locked(bill: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return the bill without what every environment has beside the locked requirements, such as pip.

    The tool counts the extras of each package as its needs, and with them pip.
    """
    text = (root / "requirements" / "all.txt").read_text(encoding="utf-8")
    locked = {normal(name) for name in re.findall(r"^([\w.-]+)", text, re.M)}
    components = [each for each in bill["components"] if normal(each["name"]) in locked]
    kept = {bill["metadata"]["component"]["bom-ref"], *(each["bom-ref"] for each in components)}
    needs = [
        {**each, "dependsOn": [ref for ref in each.get("dependsOn", ()) if ref in kept]}
        for each in bill["dependencies"]
        if each["ref"] in kept
    ]
    return {**bill, "components": components, "dependencies": needs}


def normal(name: str) -> str:
    """Return the one spelling of a package's name that indexes use."""
    return re.sub(r"[-_.]+", "-", name).lower()


def bill_of_materials(root: Path, version: str) -> dict[str, Any]:
    """Return the CycloneDX bill of an environment with exactly requirements/all.txt.

    The tool reads the root's version from a static field, so it gets a copy of pyproject.toml with one.
    """
    with tempfile.TemporaryDirectory(prefix="benchwright-release-") as temporary:
        project = Path(temporary, "pyproject.toml")
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
        project.write_text(text.replace('dynamic = ["version"]', f'version = "{version}"'), encoding="utf-8")
        command = [
            *(str(installed("release") / "cyclonedx-py"), "environment", "--gather-license-texts"),
            *("--output-reproducible", "--pyproject", str(project), str(installed("all").parent)),
        ]
        ended = subprocess.run(command, env=without_our_paths(), check=True, capture_output=True, text=True)
    bill: dict[str, Any] = json.loads(ended.stdout)
    return bill


def licences(bill: dict[str, Any]) -> Iterator[str]:
    """Yield one line for each package: name, version, licence.

    Raises:
        Refused: If a package says nothing of its licence.
    """
    for component in sorted(bill["components"], key=lambda each: str(each["name"]).lower()):
        found = dict.fromkeys(licence_name(entry) for entry in component.get("licenses", ()))
        if not found:
            raise Refused(f"{component['name']} {component['version']} says nothing of its licence")
        yield f"{component['name']} {component['version']}: {', '.join(found)}"


def licence_name(entry: dict[str, Any]) -> str:
    """Return the name of a licence: its SPDX expression or id, its classifier, or the first line of its text."""
    if "expression" in entry:
        return str(entry["expression"])
    licence = entry["license"]
    if "id" in licence:
        return str(licence["id"])
    text = str(licence.get("text", {}).get("content", "")).strip()
    if licence["name"].startswith("declared license of") and text:
        return text.splitlines()[0]
    return str(licence["name"]).removeprefix("License :: OSI Approved :: ")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_sums(folder: Path) -> None:
    """Write the SHA-256 of each file, as `sha256sum --check` reads them."""
    paths = sorted(path for path in folder.iterdir())
    lines = [f"{digest(path)}  {path.name}\n" for path in paths]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def try_as_newcomer(artifact: Path) -> None:
    """Install an artifact in an empty environment, and run the README's commands and those of docs/start.md with it.

    Raises:
        Refused: If one of them fails.
    """
    print(f"Installed from {artifact.name}, as README.md and docs/start.md say:", flush=True)
    command = [sys.executable, str(ROOT / "tests" / "newcomer.py"), str(artifact)]
    if subprocess.run(command, env=without_our_paths()).returncode:
        raise Refused(f"a command of the documentation does not work with {artifact.name}")


def without_our_paths() -> dict[str, str]:
    """Return the environment without this process's own Python settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def last_line(ended: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that a program printed."""
    lines = (ended.stdout + ended.stderr).strip().splitlines()
    return lines[-1] if lines else f"it ended with {ended.returncode}"


def said(what: str, *details: str) -> None:
    """Print that a step is done."""
    print(f"ok: {what} ({', '.join(details)})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
