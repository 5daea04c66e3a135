"""The rows of SWE-bench Pro, and their samples."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from benchwright.catalog.containers.instances import COMMIT_PATTERN, INSTANCE_ID_PATTERN, Instance
from benchwright.catalog.swe_bench_pro.scripts import find_scripts, read_scripts
from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetValidationError
from benchwright.records import Sample

IMAGE_REPOSITORY = "jefzda/sweap-images"

_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)


class ProRow(Instance, frozen=True):
    """One instance in the format of the Hugging Face hub.

    Its lists are strings with a Python literal. In later copies of the data they are real lists.
    """

    fail_to_pass: str | list[str]
    pass_to_pass: str | list[str]
    selected_test_files_to_run: str | list[str]
    dockerhub_tag: str
    before_repo_set_cmd: str | None = None
    requirements: str | None = None
    interface: str | None = None
    repo_language: str | None = None

    def __post_init__(self) -> None:
        for field, shape in (
            ("instance_id", INSTANCE_ID_PATTERN),
            ("base_commit", COMMIT_PATTERN),
            ("dockerhub_tag", _TAG),
        ):
            if not shape.fullmatch(getattr(self, field)):
                raise ValueError(f"`{field}` is invalid: {getattr(self, field)!r}")


def samples(
    source: Source, run_scripts: str = "", predictions: Mapping[str, str] | None = None
) -> Iterator[Sample]:
    """Yield one sample per instance, with the instance's id, its run script and its parser.

    `scripts.find_scripts` finds the scripts. Predictions become part of the samples, so that results are not
    reused between different predictions.

    Raises:
        DatasetError: If a row is invalid, or has no scripts.
    """
    directory: Path | None = None
    for row in source.read(ProRow, "test"):
        directory = directory or find_scripts(source.root, run_scripts)
        try:
            sample = build_sample(row, directory)
        except ValueError as error:
            raise DatasetValidationError(f"{source.root}: {row.instance_id}: {error}") from None
        if predictions is not None:
            content = {**sample.content, "prediction": predictions.get(sample.id)}
            sample = msgspec.structs.replace(sample, content=content)
        yield sample


def build_sample(row: ProRow, run_scripts: Path) -> Sample:
    """Build the sample of a row.

    Raises:
        ValueError: If a list is invalid.
    """
    scripts = read_scripts(run_scripts, row.instance_id)
    content = {
        "repo": row.repo,
        "base_commit": row.base_commit,
        "image": f"{IMAGE_REPOSITORY}:{row.dockerhub_tag}",
        "issue": issue_text(row),
        "patch": row.patch,
        "test_patch": row.test_patch,
        "before": row.before_repo_set_cmd or "",
        **{
            field: parse_list_literal(field, getattr(row, field))
            for field in ("selected_test_files_to_run", "fail_to_pass", "pass_to_pass")
        },
        **msgspec.structs.asdict(scripts),
    }
    return Sample(
        row.instance_id,
        content,
        labels={"repo": row.repo, "language": row.repo_language or "unknown"},
        input=content["issue"],
        target=row.patch,
    )


def issue_text(row: ProRow) -> str:
    """Return the issue as the official scaffolds show it: statement, requirements and interface."""
    statement, requirements, interface = (
        _plain(text or "") for text in (row.problem_statement, row.requirements, row.interface)
    )
    return f"{statement}\n\nRequirements:\n{requirements}\n\nNew interfaces introduced:\n{interface}"


def parse_list_literal(field: str, value: str | list[str]) -> list[str]:
    """Parse a list of strings that is written as a Python literal. The text is never evaluated as code.

    Raises:
        ValueError: If the text is not a list of strings.
    """
    found = value if isinstance(value, list) else _literal(value)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"`{field}` is not a list of strings: {str(value)[:80]!r}")
    return found


def _literal(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about backslashes in test names
        try:
            return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None


def _plain(text: str) -> str:
    """Return a text of a row. If the text is a JSON string, with quotes and escaped line ends, decode it."""
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        try:
            return msgspec.json.decode(text, type=str)
        except msgspec.MsgspecError:
            pass
    return text
