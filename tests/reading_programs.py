"""What other programs read in files that `benchwright export` wrote, as one line of JSON for each trial.

Run by tests/readers.py in an environment that has these programs (`.venv-readers`), on one folder for each of its runs:
inspect/, eee/, atif/, hf/. Whatever a program warns of ends it, but for what it warns itself of.
"""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main(folder: Path) -> int:
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", DeprecationWarning)
    logging.getLogger().addHandler(Warned(logging.WARNING))
    for program in (inspect_logs, scout, every_eval_ever, harbor, hub):
        for line in program(folder):
            print(json.dumps({"program": program.__name__, **line}))
    return 0


class Warned(logging.Handler):
    """A warning that is logged is an error."""

    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError(record.getMessage())


def inspect_logs(folder: Path) -> Iterator[dict[str, Any]]:
    """Inspect's Python API reads the samples, its data frames the list of them and the messages."""
    from inspect_ai.analysis import messages_df, samples_df
    from inspect_ai.log import read_eval_log

    for path in sorted((folder / "inspect").rglob("*.eval")):
        log = read_eval_log(str(path))
        samples = log.samples or []
        rows = samples_df(str(path), quiet=True)
        assert set(rows["sample_id"]) == {one.uuid for one in samples}
        assert len(messages_df(str(path), quiet=True)) >= len(samples)
        for sample in samples:
            yield {
                "trial": sample.uuid,
                "sample": sample.id,
                "repeat": sample.epoch - 1,
                "scores": {name: score.value for name, score in (sample.scores or {}).items()},
                "failed": sample.error is not None,
            }


def scout(folder: Path) -> Iterator[dict[str, Any]]:
    """Scout lists a transcript for each sample."""
    import asyncio

    from inspect_scout import transcripts_from

    async def listed(logs: str) -> list[str]:
        transcripts = transcripts_from(logs)
        async with transcripts.reader() as reader:
            return [info.transcript_id async for info in reader.index()]

    for logs in sorted({path.parent for path in (folder / "inspect").rglob("*.eval")}):
        for trial in asyncio.run(listed(str(logs))):
            yield {"trial": trial}


def every_eval_ever(folder: Path) -> Iterator[dict[str, Any]]:
    """Its validator finds nothing to warn of, its types hold the rows."""
    from every_eval_ever.instance_level_types import InstanceLevelEvaluationLog

    program = Path(sys.executable).with_name("every_eval_ever")
    datastore = folder / "datastore"  # the validator wants to stand beside data/
    for run in (folder / "eee").iterdir():
        shutil.copytree(run, datastore, dirs_exist_ok=True)
    files = [str(path.relative_to(datastore)) for path in sorted(datastore.rglob("*.json*"))]
    ended = subprocess.run(
        [program, "validate", *files], cwd=datastore, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout
    for path in sorted(datastore.rglob("*_samples.jsonl")):
        for line in path.read_text().splitlines():
            row = InstanceLevelEvaluationLog.model_validate_json(line)
            metadata = row.metadata or {}
            failed = row.error is not None
            name = row.evaluation_name.partition("/")[2]
            yield {
                "trial": metadata["trial"],
                "sample": row.sample_id,
                "repeat": int(metadata["repeat"]),
                "scores": {} if failed else {name: row.evaluation.score},
            }


def harbor(folder: Path) -> Iterator[dict[str, Any]]:
    """Harbor's validator takes each trajectory, and the package of the format reads it."""
    from atif import Trajectory
    from harbor.utils.trajectory_validator import TrajectoryValidator

    for path in sorted((folder / "atif").rglob("*.json")):
        validator = TrajectoryValidator()
        assert validator.validate(path), validator.get_errors()
        found = Trajectory.model_validate_json(path.read_bytes())
        if found.agent.name in ("claude-code", "codex", "opencode"):
            acted = [step for step in found.steps if step.source == "agent"]
            assert all(step.reasoning_content == "First the file." for step in acted), path
            assert [len(step.tool_calls or []) for step in acted] == [1, 0], path
        extra = found.extra or {}
        yield {
            "trial": found.session_id,
            "sample": extra["sample"],
            "repeat": extra["repeat"],
            "scores": {name: value for name, value in extra["scores"].items() if value is not None},
        }


def hub(folder: Path) -> Iterator[dict[str, Any]]:
    """The Hub's own client reads the entries of a model's page."""
    import yaml  # type: ignore[import-untyped]
    from huggingface_hub import parse_eval_result_entries

    for path in sorted((folder / "hf").rglob("*.yaml")):
        for entry in parse_eval_result_entries(yaml.safe_load(path.read_text())):
            yield {"dataset": entry.dataset_id, "task": entry.task_id, "value": entry.value}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
