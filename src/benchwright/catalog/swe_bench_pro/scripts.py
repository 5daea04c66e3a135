"""The run scripts. Each instance has one script that runs its tests, and one that parses their log.

These scripts run only in containers.
"""

from __future__ import annotations

from pathlib import Path

from benchwright.catalog.swe_bench_pro.about import SCRIPTS_DATASET
from benchwright.data.errors import DatasetNotFound, DatasetParseError
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.user_paths import expand_user_path

SCRIPTS_FOLDER = "run_scripts"
DOCKERFILE_NAMES = ("base_dockerfile", "instance_dockerfile")


class InstanceScripts(Record, frozen=True):
    """The scripts of an instance.

    `environment`: shell lines that set the variables of the instance's Dockerfiles.
    """

    run_script: str
    parser: str
    environment: list[str] = []


def find_scripts(root: Path, named: str = "") -> Path:
    """Return the directory that has a folder of scripts per instance.

    `named`: that directory, or a checkout of the official repository that contains it. If `named` is empty, the
    folder `run_scripts` is searched in `root`, the directory of the rows. Then the download
    `swe_bench_pro_scripts` is searched in the two directories above.

    Raises:
        UserError: If the named directory holds no scripts.
        DatasetNotFound: If there are no scripts. The message states how to get them.
    """
    if named:
        given = expand_user_path(named)
        for place in (given / SCRIPTS_FOLDER, given):
            if any(place.glob("*/run_script.sh")):
                return place
        raise UserError(
            f"--option run_scripts={named} holds no */run_script.sh, and neither does {SCRIPTS_FOLDER} in it."
        )
    places = [
        root / SCRIPTS_FOLDER,
        *(above / SCRIPTS_DATASET.name / SCRIPTS_FOLDER for above in (root.parent, root.parent.parent)),
    ]
    for place in places:
        if place.is_dir():
            return place
    origin = SCRIPTS_DATASET.origin
    raise DatasetNotFound(
        f"swe_bench_pro needs its run scripts, which are not in {places[1].parent}. To fetch them, run: "
        f"benchwright fetch swe_bench_pro. Or check out {getattr(origin, 'url', '')} and name it: "
        "--option run_scripts=DIRECTORY"
    )


def read_scripts(directory: Path, instance: str) -> InstanceScripts:
    """Read the scripts of an instance.

    Raises:
        DatasetError: If a file is missing, or is not text.
    """
    folder = directory / instance
    return InstanceScripts(
        run_script=_text(folder / "run_script.sh"),
        parser=_text(folder / "parser.py"),
        environment=_environment(directory.parent / "dockerfiles", instance),
    )


def _environment(dockerfiles: Path, instance: str) -> list[str]:
    """Return the ENV lines of both Dockerfiles as `export` lines, as the official harness does.

    Images contain these variables, too.
    """
    files = (dockerfiles / kind / instance / "Dockerfile" for kind in DOCKERFILE_NAMES)
    lines = (line.strip() for file in files if file.is_file() for line in _text(file).split("\n"))
    return [line.replace("ENV", "export", 1) for line in lines if line.startswith("ENV")]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        raise DatasetNotFound(f"There is no {file}, which swe_bench_pro needs") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetParseError(f"{file} cannot be read: {error}") from None
