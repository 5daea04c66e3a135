"""Whatever the pages name and a reader has at hand: models and judges at addresses, files, runs, other programs.

`STAND_INS` is the list of all of them. Those that the lines of a page name are set up before the page is read.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from tests.app.app_kit import Program
from tests.app.compare_kit import made, write_run
from tests.app.pack_kit import served
from tests.app.test_foreign_tasks import STAND_IN as INSPECT
from tests.app.thinking_kit import thinking_server
from tests.catalog.made_up_rows import write_all
from tests.catalog.punkt_model import lay_fetched
from tests.data.loopback_hub import LoopbackHub, serving
from tests.docs.documented_lines import ROOT, Line, read_blocks
from tests.http_server import QuietHandler, served_by
from tests.interop import foreign_kit
from tests.programs import run_benchwright
from tests.recipes.recipe_kit import PROGRAM, write_recipe
from tests.server_process import free_port
from tests.simulated import simulated_endpoint
from tests.web.web_pack_kit import WebPacks

from benchwright.catalog.registry import find_about
from benchwright.data.dataset_spec import HubRepository
from benchwright.records import Target

SAMPLES = 40


@dataclass
class Setting:
    """Where a page is read: its directory, the model's and the judge's addresses, and what is to be ended after it."""

    page: str
    directory: Path
    variables: dict[str, str]
    model: str
    judge: str
    ending: ExitStack
    replacements: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The directory of runs."""
        return Path(self.variables["BENCHWRIGHT_HOME"])

    def block(self, language: str, sign: str) -> str:
        """Return the text of the first block of the page in a language that contains a text."""
        return next(
            one.text for one in read_blocks(self.page) if one.language == language and sign in one.text
        )

    def write(self, name: str, text: str) -> None:
        """Write a file of the reader's; addresses in it are the ones here."""
        for documented, here in self.replacements.items():
            text = text.replace(documented, here)
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> None:
        """Run `benchwright` as the reader did before the page."""
        ended = run_benchwright(arguments, directory=self.directory, environment=self.variables)
        assert ended.returncode == 0, ended.stderr


SetUp = Callable[[Setting], None]


class StandIn(NamedTuple):
    """A placeholder: the pattern by which lines name it, what stands in for it, and what sets that up."""

    pattern: str
    meaning: str
    set_up: SetUp

    def is_in(self, line: Line) -> bool:
        """Return True if a line names the placeholder."""
        return re.search(self.pattern, line.command) is not None


def _nothing(_: Setting) -> None:
    """Set nothing up: any text is right here."""


def _address(documented: str, which: str) -> SetUp:
    def set_up(setting: Setting) -> None:
        setting.replacements.setdefault(documented, getattr(setting, which))

    return set_up


def _port(setting: Setting, documented: str) -> None:
    """Replace the port of a server that the page starts."""
    setting.replacements.setdefault(f"--port {documented}", f"--port {free_port()}")


def _server(setting: Setting, documented: str) -> None:
    """Replace the port and the address of a server that the page starts and leaves running."""
    port = free_port()
    setting.replacements |= {
        f"--port {documented}": f"--port {port}",
        f"http://localhost:{documented}/v1": f"http://127.0.0.1:{port}/v1",
    }


def _measured(setting: Setting) -> None:
    """Serve a model that can be saturated; a level takes half a second where its line sets no duration, not 30."""
    setting.variables["BENCHWRIGHT_DURATION"] = "0.5"
    setting.replacements["--rate 2,4,8"] = "--rate 2,4,8 --duration 2"  # in which a request arrives
    setting.model = setting.ending.enter_context(simulated_endpoint("--ttft", "30ms", "--slots", "8"))
    setting.variables["BENCHWRIGHT_BASE_URL"] = setting.model


def _viewer(setting: Setting) -> None:
    setting.replacements["benchwright view"] = f"benchwright view --no-open --port {free_port()}"


def _write(name: str, text: str) -> SetUp:
    return lambda setting: setting.write(name, text)


def _from_page(name: str, language: str, sign: str) -> SetUp:
    """Return what writes a block of the page into a file."""
    return lambda setting: setting.write(name, setting.block(language, sign))


def _json_lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _with_copy(source: str, name: str) -> SetUp:
    return lambda setting: shutil.copy(ROOT / "examples" / source, setting.directory / name) and None


def _run(started: str, right: int, **changes: Any) -> SetUp:
    """Return what writes a finished run: of SAMPLES samples, the first `right` ones are right."""

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


def _result_file(name: str) -> SetUp:
    """Return what runs a benchmark with a model of this name, and names its result file after it."""

    def set_up(setting: Setting) -> None:
        rows = write_all(setting.directory / "rows", ["mmlu"]) / "mmlu"
        setting.run("run", "mmlu", "--option", f"path={rows}", "--model", name, "--base-url", setting.model, "-q",
                    *("--output-dir", f"results of {name}"))  # fmt: skip
        (written,) = (setting.directory / f"results of {name}").glob("*.json")
        shutil.copy(written, setting.directory / f"{name}.json")

    return set_up


def _load(documented: str) -> SetUp:
    """Return what measures a server; the tag of the measurement replaces the one on the page."""

    def set_up(setting: Setting) -> None:
        setting.run("load", "--synthetic-input", "16", "--synthetic-output", "4", "--model", documented[5:13],
                    *("--base-url", setting.model, "--concurrency", "1,2", "--requests", "20", "-q"),
                    *("-o", f"{documented}.json"))  # fmt: skip
        report = json.loads((setting.directory / f"{documented}.json").read_text())
        setting.replacements[documented] = report["id"]

    return set_up


def _results_of(kind: str, documented: str) -> SetUp:
    """Return what writes results of another program and moves them to where the page has them."""

    def set_up(setting: Setting) -> None:
        folder = setting.directory / "foreign" / documented
        folder.mkdir(parents=True)
        written = foreign_kit.WRITERS[kind](folder, "my-model", [float(n < 30) for n in range(SAMPLES)])
        (setting.directory / documented).parent.mkdir(parents=True, exist_ok=True)
        written.rename(setting.directory / documented)

    return set_up


def _benchmarks(setting: Setting) -> None:
    """Lay made-up rows of every benchmark into `data`, but of those that the page fetches."""
    if (setting.directory / "data").exists():
        return
    lines = " ".join(line.command for block in read_blocks(setting.page) for line in block.lines)
    write_all(setting.directory / "data", [name for name in BENCHMARKS if f"fetch {name}" not in lines])
    lay_fetched(setting.directory / "data")


def _hub(setting: Setting) -> None:
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


def _other_model(setting: Setting) -> None:
    """Write the result file of another model."""
    setting.run("run", "mmlu", "--model", "other-model", "--base-url", setting.model, "-q")


NPM = """#!/bin/sh
if [ "$1" = view ]; then
    echo 9.9.9
    exit
fi
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/codex"
{ echo '#!/usr/bin/env python3'; cat "$BENCHWRIGHT_HOME/recipes/codex.py"; } >"$2/node_modules/codex/program"
chmod +x "$2/node_modules/codex/program"
echo '{"packages": {"node_modules/codex": {"version": "1"}}}' >"$2/node_modules/.package-lock.json"
"""
"""Takes the arguments of npm: tells a version, and installs the program beside the recipe of codex."""


def _agent(name: str, **changes: Any) -> SetUp:
    """Return what puts a recipe into the home: a small program that asks once takes the agent's place."""
    asks = "print(ask([{'role': 'user', 'content': prompt}])['content'])"
    from_home = {"command": ["python3", "{home}/agent.py", "{prompt}"], "files": {"agent.py": PROGRAM + asks}}
    changes = changes or from_home
    return lambda setting: write_recipe(setting.home / "recipes", asks, name, **changes) and None


def _npm(setting: Setting) -> None:
    """Put a program on PATH that takes the arguments of npm; pip finds no index."""
    _put_on_path(setting, "npm", NPM)
    setting.variables |= {"PIP_NO_INDEX": "1"}


class _Collector(QuietHandler):
    """Takes what OpenTelemetry sends."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, b"", "application/x-protobuf")


def _inspect(setting: Setting) -> None:
    """Put a program on PATH that takes the arguments of Inspect, asks as Inspect does and leaves such a log."""
    _put_on_path(setting, "inspect", INSPECT.format(python=sys.executable))


def _put_on_path(setting: Setting, name: str, text: str) -> None:
    programs = setting.directory.parent / f"program {name}"
    programs.mkdir()
    (programs / name).write_text(text)
    (programs / name).chmod(0o755)
    setting.variables["PATH"] = f"{programs}:{setting.variables['PATH']}"


LM_EVAL = """#!{python}
import json, os, pathlib, sys, urllib.request
sys.path.insert(0, {root!r})
from tests.interop.foreign_kit import lm_eval, question
given = dict(zip(sys.argv[1:], sys.argv[2:]))
about = dict(pair.split("=", 1) for pair in given["--model_args"].split(","))
for number in range(3):
    body = {{"model": about["model"], "messages": [{{"role": "user", "content": question(number)}}]}}
    headers = {{"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}}
    request = urllib.request.Request(about["base_url"], json.dumps(body).encode(), headers)
    urllib.request.urlopen(request).read()
lm_eval(pathlib.Path(given["--output_path"]), "m", [1.0, 0.0, 1.0])
"""
"""Takes the arguments of lm-evaluation-harness, asks as it does and leaves such results."""


def _lm_eval(setting: Setting) -> None:
    _put_on_path(setting, "lm_eval", LM_EVAL.format(python=sys.executable, root=str(ROOT)))


def _thinking_server(setting: Setting) -> None:
    """Make the default server one that takes thinking options."""
    setting.variables["BENCHWRIGHT_BASE_URL"] = setting.ending.enter_context(thinking_server()).base_url


def _nightly(setting: Setting) -> None:
    """Write the page's suite, and the data that it names."""
    setting.write("nightly.toml", setting.block("toml", "# nightly.toml"))
    _benchmarks(setting)


def _suite_run_before(setting: Setting) -> None:
    """Run a suite called `nightly`, and tag its run as a release."""
    _benchmarks(setting)
    setting.write("before/nightly.toml", '[[models]]\nmodel = "my-model"\n[[benchmarks]]\nname = "mmlu"\n')
    setting.run("run", "--suite", "before/nightly.toml", "--base-url", setting.model, "-q")
    (run,) = (setting.home / "runs").glob("*mmlu-my-model*")
    setting.run("runs", "tag", run.name, "release")


def _web_pack(setting: Setting) -> None:
    """Serve a page and its manifest, and show it on a free port without a browser."""
    folder = setting.directory / "web-pack"
    folder.mkdir()
    pages = setting.ending.enter_context(served(folder))
    WebPacks(Program(folder), pages, folder).write()
    setting.replacements |= {
        "http://127.0.0.1:5177": pages,
        "benchwright pack open": f"benchwright pack open --no-open --port {free_port()}",
    }


def _collector(setting: Setting) -> None:
    setting.replacements["http://localhost:4318"] = setting.ending.enter_context(served_by(_Collector))


def _judged_run(setting: Setting) -> None:
    """Evaluate with a judge, and name the run `RUN`."""
    setting.run("eval", "-d", str(ROOT / "examples" / "questions.jsonl"), "--scorer", "judge", "--n", "2", "-q",
                *("--judge-model", "my-judge", "--judge-base-url", setting.judge),
                *("--model", "judged-model", "--base-url", setting.model))  # fmt: skip
    setting.replacements[" RUN"] = " questions-judged-model"


def _run_of_mmlu_pro(setting: Setting) -> None:
    """Run mmlu_pro with the old model, under the id of the page."""
    setting.run("run", "mmlu_pro", "--model", "old", "--base-url", setting.model, "-q")
    (run,) = (setting.home / "runs").glob("*mmlu-pro-old-*")
    setting.replacements["20261121T10"] = run.name


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

TURN = {"t": 0, "type": "s", "in": 70, "out": 9, "hash_ids": [1], "think_time": 0.1}
MOONCAKE = {"timestamp": 0, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}

CODEX = {"npm": ["codex@1"], "program": "node_modules/codex/program"}

STAND_INS = (
    StandIn(r"benchwright load\b", "a server that can be saturated, and short levels", _measured),
    StandIn(r"simulate .*--port 8000.*&$", "a free port", partial(_server, documented="8000")),
    StandIn(r"simulate .*--port 9000.*&$", "a free port", partial(_server, documented="9000")),
    StandIn(r"simulate .*--port 8000", "a free port", partial(_port, documented="8000")),
    StandIn(r"http://localhost:8000/v1", "a simulated model that knows the answers", _address("http://localhost:8000/v1", "model")),
    StandIn(r"http://localhost:9000/v1", "a simulated judge and customer", _address("http://localhost:9000/v1", "judge")),
    StandIn(r"http://localhost:8080/v1", "a simulated model that knows the answers", _address("http://localhost:8080/v1", "model")),
    StandIn(r"https://gateway\.example/v1", "a simulated model that knows the answers", _address("https://gateway.example/v1", "model")),
    StandIn(r"localhost:4318", "a collector that takes everything", _collector),
    StandIn(r"GATEWAY_TOKEN", "a variable", lambda setting: setting.variables.update(GATEWAY_TOKEN="a-token")),
    StandIn(r"\b(my|other|another|older|written)-(model|judge|user)|\bmodel-[ab]\b|smollm2|--model (old|new)\b|gpt-4o|Qwen/",
            "names that any simulated server takes", _nothing),
    StandIn(rf"\b({'|'.join(BENCHMARKS)})\b", "made-up rows in the layout of the hub", _benchmarks),
    StandIn(r"benchwright fetch", "a hub on this machine", _hub),
    StandIn(r"other-model_\*", "a result file", _other_model),
    StandIn(r"benchwright view", "a free port, and no browser", _viewer),
    StandIn(r"\brows\.csv", "two sums", _write("rows.csv", "task,gold\nHow much is 6 times 7?,42\nWhat is 9 minus 4?,5\n")),
    StandIn(r"\btasks\.jsonl", "a question", _write("tasks.jsonl", _json_lines({"question": "How much is 6 times 7?", "answer": "42"}))),
    StandIn(r"my_scorers:", "the page's function", _from_page("my_scorers.py", "python", "def mentions")),
    StandIn(r"eval\.toml", "the page's file", _from_page("eval.toml", "toml", "# eval.toml")),
    StandIn(r"nightly\.toml", "the page's file", _nightly),
    StandIn(r"table --suite nightly(?!\.)", "a suite that was run", _suite_run_before),
    StandIn(r"--reasoning-effort", "a server that says that it is vLLM", _thinking_server),
    StandIn(r"http://127.0.0.1:5177", "a server of a web pack", _web_pack),
    StandIn(r"--suite quick", "made-up rows in the layout of the hub", _benchmarks),
    StandIn(r"\b20261125T10\b", "a finished run", _run("20261125T10", 20, model="another-model")),
    StandIn(r"lm-eval:", "a program that takes the arguments of lm-evaluation-harness", _lm_eval),
    StandIn(r"key\.jsonl", "the page's answer key", _from_page("key.jsonl", "json", '"answer"')),
    StandIn(r"conversations\.jsonl", "the page's scripts", _from_page("conversations.jsonl", "json", '"replies"')),
    StandIn(r"mooncake\.jsonl", "a trace of two requests", _write("mooncake.jsonl", _json_lines(MOONCAKE, MOONCAKE | {"timestamp": 300}))),
    StandIn(r"agents\.jsonl", "a trace of two turns", _write("agents.jsonl", _json_lines({"id": "c", "requests": [TURN, TURN]}))),
    StandIn(r"\b20261120T09\b", "a finished run", _run("20261120T09", 24, model="old-model")),
    StandIn(r"--against 20261121T10\b", "a finished run of mmlu_pro", _run_of_mmlu_pro),
    StandIn(r"(?<!against )\b20261121T10\b", "a finished run", _run("20261121T10", 36)),
    StandIn(r"\b20261122T10\b", "a finished run with repeats", _run("20261122T10", 30, repeats=3)),
    StandIn(r"\bmain\.json", "the result file of an eval", _result_file("main")),
    StandIn(r"\bbranch\.json", "the result file of an eval", _result_file("branch")),
    StandIn(r"\bload-20261122T18\b", "a measurement", _load("load-20261122T18")),
    StandIn(r"\bload-20261123T18\b", "a measurement", _load("load-20261123T18")),
    StandIn(r"harbor-job", "a job of Harbor", _results_of("harbor", "harbor-job")),
    StandIn(r"arithmetic\.eval", "a log of Inspect", _results_of("inspect", "logs/2026-11-22_arithmetic.eval")),
    StandIn(r"\bold\.eval", "a log of Inspect", _results_of("inspect", "old.eval")),
    StandIn(r"\bnew\.eval", "a log of Inspect", _results_of("inspect", "new.eval")),
    StandIn(r"lm-eval-output", "results of lm-evaluation-harness", _results_of("lm-eval", "lm-eval-output/my-model")),
    StandIn(r"promptfoo\.json", "results of promptfoo", _results_of("promptfoo", "promptfoo.json")),
    StandIn(r"inspect:", "a program that takes the arguments of Inspect", _inspect),
    StandIn(r"\bcodex\b", "an agent that asks once", _agent("codex", command=["{agent}", "{prompt}"], install=CODEX)),
    StandIn(r"claude-code\b", "an agent that asks once", _agent("claude-code")),
    StandIn(r"agents (install|list)", "an npm that installs a file, and a pip without an index", _npm),
    StandIn(r"\bopencode\b", "an agent that asks once", _agent("opencode")),
    StandIn(r"judge \w+ RUN\b", "a run that was judged", _judged_run),
)  # fmt: skip


def _label(directory: Path) -> None:
    """Fill in the labels as a person does."""
    with (directory / "my-labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (directory / "my-labels.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "label": 1} for row in rows)


BY_HAND = {"judge labels RUN": _label}
"""What the reader does by hand before a line, by a text in the line."""

UNDECIDED = 5
OUTCOMES = {"--until ": UNDECIDED}
"""The exit codes with which lines may end besides 0, by a text in the line: the few rows here decide nothing."""

TYPED = {"--interactive": "n\nq\n"}
"""What the reader types into a command, by a text in its line."""
