"""Make the archive of a store that an earlier version wrote: `python tests/runs/old_stores/make_archive.py COMMIT`.

The version's own code runs everything: evaluations, a benchmark, a load measurement, a pack, a run that is killed, and
all exports, with its own simulated server. Beside COMMIT.tar.gz lies COMMIT.json, which has what that version showed of
each run.

It runs in `FOLDER`, so that no path of this machine is in the archive, with the libraries of this environment.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = Path("/tmp/store")
HOST, PORT = "127.44.0.1", 8044
"""Address of the simulated server: one of the loopback at which no other program listens."""

MAX_BYTES = 60_000

QUESTIONS = [
    {
        "system_prompt": "Answer with a number.",
        "user_prompt": f"Simulated: how many is {number} and {number}?",
        "ground_truth": str(2 * number),
        "topic": "small" if number < 4 else "large",
    }
    for number in range(1, 7)
]

AGENT = '''"""The agent of the old store: one question, one answer."""

import asyncio
import json
import urllib.request


async def answer(row, *, base_url, api_key, model):
    messages = [{"role": role, "content": row[f"{role}_prompt"]} for role in ("system", "user")]
    body = json.dumps({"model": model, "messages": messages}).encode()
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{base_url}/chat/completions", body, headers)
    return await asyncio.to_thread(ask, request)


def ask(request):
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]
'''

EVAL_FUNCTIONS = '''"""Eval functions of the old store."""

import os
import time


def right(solution_str, ground_truth, extra_info=None, **more):
    time.sleep(float(os.environ.get("OLD_STORE_PAUSE", "0")))
    return float(solution_str.strip() == ground_truth)


def length(messages, ground_truth, metadata, **more):
    return len(ground_truth) / 2
'''

BENCHMARK_ROWS = [
    {
        "question_id": number,
        "question": f"Simulated: which of the ten is it, {number}?",
        "category": "law" if number % 2 else "history",
        "options": [f"{number} with {place}" for place in range(10)],
        "answer": "ABCDEFGHIJ"[number],
        "answer_index": number,
        "cot_content": "",
    }
    for number in range(4)
]

SERVER = ("--base-url", f"http://{HOST}:{PORT}/v1")
EVALUATION = ("eval", "-d", "questions.jsonl", "--scorer", "exact", "--group-by", "topic", *SERVER)
AGENT_EVALUATION = (
    "eval",
    "-d",
    "questions.jsonl",
    "-m",
    "agent:answer",
    "--eval-fn",
    "rewards:right",
    *SERVER,
)


def main(commit: str) -> None:
    """Write the archive of a commit into this folder."""
    if FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there already; remove it.")
    with tempfile.TemporaryDirectory() as code:
        listed = subprocess.run(
            ["git", "archive", commit, "src"], cwd=HERE.parents[2], capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(listed.stdout)) as files:
            files.extractall(code, filter="data")
        try:
            write_project(FOLDER)
            shown = use(OldProgram(Path(code, "src")))
            (FOLDER / "shown.json").write_text(json.dumps(shown))
            write_archive(HERE / f"{commit}.tar.gz", forbidden=[code])
        finally:
            shutil.rmtree(FOLDER, ignore_errors=True)


class OldProgram:
    """The program as an earlier version has it, in the neutral folder. `source`: the version's `src`."""

    def __init__(self, source: Path) -> None:
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(FOLDER / "user"),
            "USER": "somebody",
            "BENCHWRIGHT_HOME": str(FOLDER / "home"),
            "PYTHONPATH": str(source),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENAI_API_KEY": "key-of-no-provider",
        }

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """Start a command. `more`: further variables of its environment."""
        command = [sys.executable, "-m", "benchwright", *arguments]
        pipe = subprocess.PIPE
        environment = self._environment | more
        return subprocess.Popen(command, cwd=FOLDER, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *arguments: str, optional: bool = False) -> str:
        """Run a command, and return its output. An `optional` one may be unknown to this version."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        if process.returncode and not optional:
            raise SystemExit(f"{' '.join(arguments)}: exit code {process.returncode}\n{out}\n{err}")
        if process.returncode:
            print(f"left out: {' '.join(arguments)}: {err.strip().splitlines()[-1]}", file=sys.stderr)
        return out

    def has(self, command: str) -> bool:
        """Return True if the version has a command."""
        return re.search(rf"^ +{command} ", self.run("--help"), re.MULTILINE) is not None

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve a simulated model while the context is open."""
        options = ("--host", HOST, "--port", str(PORT), "--answers", "key.jsonl", "--accuracy", "0.7")
        server = self.start("simulate", *options)
        try:
            wait_for_server(server)
            yield
        finally:
            server.terminate()
            server.communicate(timeout=30)


def write_project(folder: Path) -> None:
    """Write a user's project: questions, eval functions, rows of a benchmark, and the server's answers."""
    (folder / "data" / "mmlu_pro").mkdir(parents=True)
    (folder / "user").mkdir()
    shots = [
        row | {"question": "Once?", "cot_content": "A: Look. The answer is (A)."}
        for row in BENCHMARK_ROWS[:1]
    ]
    answers = [(row["user_prompt"], row["ground_truth"]) for row in QUESTIONS]
    answers += [(str(row["question"]), f"The answer is ({row['answer']}).") for row in BENCHMARK_ROWS]
    key = [{"prompt": prompt, "answer": right} for prompt, right in answers]
    for name, rows in (
        ("questions.jsonl", QUESTIONS),
        ("key.jsonl", key),
        ("data/mmlu_pro/test.jsonl", BENCHMARK_ROWS),
        ("data/mmlu_pro/validation.jsonl", shots),
    ):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "agent.py").write_text(AGENT)
    (folder / "rewards.py").write_text(EVAL_FUNCTIONS)


def use(program: OldProgram) -> dict[str, Any]:
    """Do everything with the program that leaves something in its store, and return what it then shows."""
    (FOLDER / "out").mkdir()
    with program.serving():
        evaluate(program)
        model = ("--model", "simulated-a", *SERVER)
        if program.has("run"):
            program.run("run", "mmlu_pro", *model, "--data-dir", "data", "--output-dir", "out")
        if program.has("load"):
            load = ("--concurrency", "1,2", "--requests", "6", "--warmup", "0")
            program.run("load", "-d", "questions.jsonl", *model, *load, "-o", "out/load.json")
        if program.has("pack"):
            use_pack(program, *model)
        kill_after(3, program)
    for manifest in FOLDER.glob("home/runs/*/run.json"):
        manifest.write_text(re.sub(r'"release": "[^"]*"', '"release": "1.0"', manifest.read_text()))
    runs = sorted(path.parent.name for path in FOLDER.glob("home/runs/*/run.json"))
    program.run("runs", "tag", runs[0], "old", optional=True)
    program.run("runs", "note", runs[0], "An old run", optional=True)
    if program.has("export"):
        export_all(program, runs)
    shown = {run: json.loads(program.run("show", run, "--json")) for run in runs}
    return {"runs": json.loads(program.run("runs", "--json"))["runs"], "show": shown}


def evaluate(program: OldProgram) -> None:
    """Evaluate two models by a scorer, and an agent by eval functions."""
    one = ("--model", "simulated-a", "--n", "2", "--batch-size", "4")
    baseline = ("--baseline-model", "simulated-b", "--baseline-base-url", SERVER[1])
    program.run(*EVALUATION, *one, *baseline, "-o", "out/eval.json")
    program.run(*AGENT_EVALUATION, *one, "--eval-fn", "rewards:length", "--log-samples")


def use_pack(program: OldProgram, *model: str) -> None:
    """Write a pack, install it from its archive, and run it."""
    program.run("pack", "init", "old-pack", "--language", "javascript")
    program.run("pack", "pack", "./old-pack", "-o", "old-pack.tar.gz", optional=True)
    pack_archive(FOLDER / "old-pack.tar.gz", FOLDER / "old-pack")
    shutil.rmtree(FOLDER / "old-pack")
    program.run("pack", "install", "./old-pack.tar.gz")
    program.run("pack", "run", "old-pack", *model, "--csv", "out/pack.csv", "--markdown", "out/pack.md")


def pack_archive(path: Path, directory: Path) -> None:
    """Write a pack's archive, if the version had no command for it."""
    if not path.exists():
        with tarfile.open(path, "w:gz") as archive:
            archive.add(directory, directory.name, filter=as_nobody)


def kill_after(trials: int, program: OldProgram) -> None:
    """Begin an evaluation, and kill it when so many of its trials are written."""
    known = set(FOLDER.glob("home/runs/*"))
    process = program.start(*AGENT_EVALUATION, "--model", "simulated-c", OLD_STORE_PAUSE="0.3")
    while process.poll() is None:
        for journal in set(FOLDER.glob("home/runs/*/trials.jsonl")):
            if journal.parent not in known and journal.read_bytes().count(b'{"type":"score"') >= trials:
                process.kill()
                process.communicate()
                return
        time.sleep(0.02)
    raise SystemExit(f"the run that is to be killed ended by itself: {process.communicate()}")


def export_all(program: OldProgram, runs: Sequence[str]) -> None:
    """Write the first evaluation and the run of the benchmark in every format that this version has."""
    evaluation, (benchmark,) = runs[0], (run for run in runs if "-mmlu-pro-" in run)
    for name in ("trials.jsonl", "trials.csv", "trials.parquet", "requests.jsonl"):
        program.run("export", evaluation, "--what", name.partition(".")[0], "-o", f"out/{name}")
    for layout in ("inspect", "eee", "hf", "atif", "lm-eval"):
        more = ("--developer", "simulated") if layout == "eee" else ()
        program.run("export", benchmark, "--format", layout, *more, "-o", f"out/{layout}", optional=True)


def wait_for_server(server: subprocess.Popen[str]) -> None:
    """Return when the simulated server accepts connections."""
    for _ in range(600):
        try:
            socket.create_connection((HOST, PORT), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None:
                raise SystemExit(f"the simulated server ended: {server.communicate()}") from None
            time.sleep(0.05)
    raise SystemExit("the simulated server did not start")


def write_archive(path: Path, forbidden: list[str]) -> None:
    """Write the folder's files as an archive without owners.

    Raises:
        SystemExit: If a file names this machine, its user or one of the `forbidden` texts, or the archive is too large.
    """
    machine = (socket.gethostname(), platform.release(), getuser(), str(Path.home()), str(Path.cwd()))
    names = [text.encode() for text in (*forbidden, *machine) if len(text) > 3]
    shutil.rmtree(FOLDER / "user")
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for file in sorted(FOLDER.rglob("*")):
            found = [name for name in names if file.is_file() and name in file.read_bytes()]
            if found:
                raise SystemExit(f"{file} names this machine: {found}")
            archive.add(file, str(file.relative_to(FOLDER)), recursive=False, filter=as_nobody)
    if path.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{path} has {path.stat().st_size:,} bytes, more than {MAX_BYTES:,}")


def as_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return an archive's member without its owner."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main(sys.argv[1])
