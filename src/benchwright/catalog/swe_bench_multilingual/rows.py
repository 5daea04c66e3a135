"""The rows of SWE-bench Multilingual. Each row names its own image, test script and log parser."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.catalog.swe_bench.instance_script import END_MARK, START_MARK, official_image_name
from benchwright.catalog.swe_bench.rows import FullRow, check_safe_names, row_content
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner_registry import find_runner
from benchwright.catalog.swe_bench_multilingual.projects import PROJECT_LANGUAGES
from benchwright.data.datasets import Source
from benchwright.records import Sample


class MultilingualRow(FullRow, frozen=True):
    """One instance, in the dataset revision that swebench 5.0 reads."""

    image: str = ""
    eval_script: str = ""
    log_parser: str = ""
    eval_type: str = "pass_and_fail"

    def __post_init__(self) -> None:
        if self.repo.lower() not in PROJECT_LANGUAGES:
            raise ValueError(f"`repo` is none of SWE-bench Multilingual's: {self.repo!r}")
        check_safe_names(self)
        if not self.eval_script:
            raise ValueError(
                "`eval_script` is missing: the row is of a revision before swebench 5.0; fetch the newest one"
            )
        self._check_how()
        super().__post_init__()

    def _check_how(self) -> None:
        official = official_image_name(self.instance_id)
        if self.image.partition(":")[0] != official.partition(":")[0]:
            raise ValueError(f"`image` is not the official one, {official}: {self.image!r}")
        if END_MARK not in self.eval_script.partition(START_MARK)[2]:
            raise ValueError("`eval_script` does not print the marks between which results stand")
        if find_runner(self.log_parser, self.instance_id) is None:
            raise ValueError(f"`log_parser` is unknown for {self.instance_id}: {self.log_parser!r}")
        if self.eval_type != "pass_and_fail":
            raise ValueError(f"`eval_type` is not pass_and_fail: {self.eval_type!r}")


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per instance, with the instance's id."""
    for row in source.read(MultilingualRow, "test"):
        labels = {"language": PROJECT_LANGUAGES[row.repo.lower()], "repo": row.repo}
        content = row_content(row)
        del content["eval_type"]
        yield Sample(row.instance_id, content, labels=labels, input=row.problem_statement, target=row.patch)
