"""Files, data and runs that stand in for what a reader has."""

from __future__ import annotations

import base64
import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.app.compare_kit import made, write_run
from tests.catalog.made_up_rows import write_all
from tests.catalog.punkt_model import lay_fetched
from tests.data.loopback_hub import LoopbackHub, serving
from tests.docs.documented_lines import ROOT, read_blocks
from tests.docs.page_setting import Setting, SetUp
from tests.interop import foreign_kit

from benchwright.catalog.registry import find_about
from benchwright.data.dataset_spec import HubRepository
from benchwright.records import Target

SAMPLES = 40

BENCHMARKS = ("mmlu", "mmlu_pro", "humaneval", "ifeval", "hle", "bfcl", "tau_bench", "tau2_bench", "gpqa_diamond",
              "math_500", "mmmu_pro")  # fmt: skip
"""The benchmarks that the pages run, with data that is laid or fetched here."""

HUB_FILES = {
    "ifeval": {"ifeval_input_data.jsonl": "train.jsonl"},
    "mmlu": {"all/test-00000-of-00001.parquet": "test.jsonl", "all/dev-00000-of-00001.parquet": "dev.jsonl"},
    "mmmu_pro": {
        "standard (10 options)/test-00000-of-00001.parquet": "standard.jsonl",
        "vision/test-00000-of-00001.parquet": "vision.jsonl",
    },
}
"""The files of repositories on the hub, and which made-up rows are in them."""


def write_file(name: str, text: str) -> SetUp:
    """Write a file."""
    return lambda setting: setting.write(name, text)


def write_block(name: str, language: str, sign: str) -> SetUp:
    """Write a block of the page into a file."""
    return lambda setting: setting.write(name, setting.block(language, sign))


def json_lines(*rows: Mapping[str, Any]) -> str:
    """Return the text of a file of JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def lay_benchmarks(setting: Setting) -> None:
    """Lay made-up rows of every benchmark into `data`, but of those that the page fetches."""
    if (setting.directory / "data").exists():
        return
    lines = " ".join(line.command for block in read_blocks(setting.page) for line in block.lines)
    write_all(setting.directory / "data", [name for name in BENCHMARKS if f"fetch {name}" not in lines])
    lay_fetched(setting.directory / "data")


def serve_hub(setting: Setting) -> None:
    """Serve the benchmarks that the page fetches, at their pinned revisions, as the Hugging Face Hub does."""
    lines = " ".join(line.command for block in read_blocks(setting.page) for line in block.lines)
    hubs = []
    for name in (name for name in HUB_FILES if f"fetch {name}" in lines):
        origin = find_about(name).dataset.origin
        assert isinstance(origin, HubRepository)
        rows = write_all(setting.directory / "on-the-hub", [name]) / name
        files = {there: _file_of_hub(rows / here, there) for there, here in HUB_FILES[name].items()}
        commits = {"commit": origin.revision} if origin.revision else {}
        hubs.append(LoopbackHub(files, repository=origin.repository, **commits))
    setting.variables["HF_ENDPOINT"] = setting.ending.enter_context(serving(*hubs)).endpoint


def _file_of_hub(rows: Path, name: str) -> bytes:
    if not name.endswith(".parquet"):
        return rows.read_bytes()
    written = io.BytesIO()
    found = [json.loads(line, object_hook=_as_in_parquet) for line in rows.read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(found), written)
    return written.getvalue()


def _as_in_parquet(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a JSON row with its picture as bytes."""
    return {**value, "bytes": base64.b64decode(value["bytes"])} if "bytes" in value else value


def write_finished_run(started: str, right: int, **changes: Any) -> SetUp:
    """Write a finished run: of SAMPLES samples, the first `right` ones are right."""

    def set_up(setting: Setting) -> None:
        model = changes.get("model", "my-model")
        values = [float(number < right) for number in range(SAMPLES)]
        trials = [one for repeat in range(changes.get("repeats", 1)) for one in made(values, repeat=repeat)]
        write_run(
            setting.home / "runs" / f"{started}0000-questions-{model}-{right:08}",
            trials,
            name=f"questions-{model}",
            targets=[Target("primary", model, "http://localhost:8000/v1")],
        )

    return set_up


def write_result_file(name: str) -> SetUp:
    """Run a benchmark with a model of this name, and name its result file after it."""

    def set_up(setting: Setting) -> None:
        rows = write_all(setting.directory / "rows", ["mmlu"]) / "mmlu"
        setting.run("run", "mmlu", "--option", f"path={rows}", "--model", name, "--base-url", setting.model, "-q",
                    *("--output-dir", f"results of {name}"))  # fmt: skip
        (written,) = (setting.directory / f"results of {name}").glob("*.json")
        shutil.copy(written, setting.directory / f"{name}.json")

    return set_up


def run_other_model(setting: Setting) -> None:
    """Write the result file of another model."""
    setting.run("run", "mmlu", "--model", "other-model", "--base-url", setting.model, "-q")


def measure(documented: str) -> SetUp:
    """Measure a server; the tag of the measurement replaces the one on the page."""

    def set_up(setting: Setting) -> None:
        setting.run("load", "--synthetic-input", "16", "--synthetic-output", "4", "--model", documented[5:13],
                    *("--base-url", setting.model, "--concurrency", "1,2", "--requests", "20", "-q"),
                    *("-o", f"{documented}.json"))  # fmt: skip
        report = json.loads((setting.directory / f"{documented}.json").read_text())
        setting.replacements[documented] = report["id"]

    return set_up


def write_foreign_results(kind: str, documented: str) -> SetUp:
    """Write results of another program and move them to where the page has them."""

    def set_up(setting: Setting) -> None:
        folder = setting.directory / "foreign" / documented
        folder.mkdir(parents=True)
        written = foreign_kit.WRITERS[kind](folder, "my-model", [float(n < 30) for n in range(SAMPLES)])
        (setting.directory / documented).parent.mkdir(parents=True, exist_ok=True)
        written.rename(setting.directory / documented)

    return set_up


def write_nightly(setting: Setting) -> None:
    """Write the page's suite, and the data that it names."""
    setting.write("nightly.toml", setting.block("toml", "# nightly.toml"))
    lay_benchmarks(setting)


def run_nightly(setting: Setting) -> None:
    """Run a suite called `nightly`, and tag its run as a release."""
    lay_benchmarks(setting)
    setting.write("before/nightly.toml", '[[models]]\nmodel = "my-model"\n[[benchmarks]]\nname = "mmlu"\n')
    setting.run("run", "--suite", "before/nightly.toml", "--base-url", setting.model, "-q")
    (run,) = (setting.home / "runs").glob("*mmlu-my-model*")
    setting.run("runs", "tag", run.name, "release")


def run_judged(setting: Setting) -> None:
    """Evaluate with a judge, and name the run `RUN`."""
    setting.run("eval", "-d", str(ROOT / "examples" / "questions.jsonl"), "--scorer", "judge", "--n", "2", "-q",
                *("--judge-model", "my-judge", "--judge-base-url", setting.judge),
                *("--model", "judged-model", "--base-url", setting.model))  # fmt: skip
    setting.replacements[" RUN"] = " questions-judged-model"


def run_mmlu_pro(setting: Setting) -> None:
    """Run mmlu_pro with the old model, under the id of the page."""
    setting.run("run", "mmlu_pro", "--model", "old", "--base-url", setting.model, "-q")
    (run,) = (setting.home / "runs").glob("*mmlu-pro-old-*")
    setting.replacements["20261121T10"] = run.name
