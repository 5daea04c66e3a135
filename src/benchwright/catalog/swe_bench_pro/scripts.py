"""The run scripts: per instance what runs the tests and what reads their log. They are only ever run in containers."""

from __future__ import annotations

from pathlib import Path

from benchwright.catalog.swe_bench_pro.about import SCRIPTS
from benchwright.data.errors import DatasetNotFound, DatasetParseError
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.typed_paths import typed_path

FOLDER = "run_scripts"
DOCKERFILES = ("base_dockerfile", "instance_dockerfile")


class Scripts(Record, frozen=True):
    """The scripts of an instance; `environment` are lines of shell that set what its Dockerfiles set."""

    run_script: str
    parser: str
    environment: list[str] = []


def find_scripts(root: Path, named: str = "") -> Path:
    """The directory that holds a folder per instance.

    `named` is that directory, or a checkout of the official repository that holds it. Else it lies beside the
    rows, whose directory is `root`, or is what was fetched: `swe_bench_pro_scripts` in the data directory.

    Raises:
        UserError: what was named holds no scripts.
        DatasetNotFound: there are none; says how to get them.
    """
    if named:
        given = typed_path(named)
        for place in (given / FOLDER, given):
            if any(place.glob("*/run_script.sh")):
                return place
        raise UserError(
            f"--option run_scripts={named} holds no */run_script.sh, and neither does {FOLDER} in it."
        )
    places = [root / FOLDER, *(above / SCRIPTS.name / FOLDER for above in (root.parent, root.parent.parent))]
    for place in places:
        if place.is_dir():
            return place
    origin = SCRIPTS.origin
    raise DatasetNotFound(
        f"swe_bench_pro needs its run scripts, which are not in {places[1].parent}. To fetch them, run: "
        f"benchwright fetch swe_bench_pro. Or check out {getattr(origin, 'url', '')} and name it: "
        "--option run_scripts=DIRECTORY"
    )


def scripts_of(directory: Path, instance: str) -> Scripts:
    """The scripts of an instance.

    Raises:
        DatasetError: a file is missing, or is not text.
    """
    folder = directory / instance
    return Scripts(
        run_script=_text(folder / "run_script.sh"),
        parser=_text(folder / "parser.py"),
        environment=_environment(directory.parent / "dockerfiles", instance),
    )


def _environment(dockerfiles: Path, instance: str) -> list[str]:
    """The ENV lines of both Dockerfiles as the official harness exports them; images hold them too."""
    files = (dockerfiles / kind / instance / "Dockerfile" for kind in DOCKERFILES)
    lines = (line.strip() for file in files if file.is_file() for line in _text(file).split("\n"))
    return [line.replace("ENV", "export", 1) for line in lines if line.startswith("ENV")]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        raise DatasetNotFound(f"There is no {file}, which swe_bench_pro needs") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetParseError(f"{file} cannot be read: {error}") from None
