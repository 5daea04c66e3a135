"""What a newcomer does: installs a clone into an empty environment as the README says, and runs its commands.

Called by `make test-all`, and by `make release` with a wheel or an sdist, which it installs in place of the clone.
The model behind the README's address is simulated, started by the same program; that of docs/start.md is real.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTED = "http://localhost:8000/v1"
MOST_COMMANDS = 5
QUESTIONS = 30
"""Commands of docs/start.md, and questions of its evaluation."""

RUN = ("benchwright eval ", "benchwright init ", "llm-bench list")
"""Beginnings of the commands that are run; the others need data from elsewhere, or the project's own tests."""


def main(artifact: str = "") -> int:
    """Run the commands with an installed clone, or with an artifact; return 1 if one fails."""
    with tempfile.TemporaryDirectory(prefix="benchwright-newcomer-") as folder:
        clone, place = Path(folder, "clone"), Path(folder, "place")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        commands = commands_of(clone / "README.md")
        (install,) = (line for line in commands if line.startswith("pip install ") and "[" not in line)
        install = of_artifact(install, artifact)
        subprocess.run([sys.executable, "-m", "venv", str(Path(folder, "bare"))], check=True)
        programs = Path(folder, "bare", "bin")
        subprocess.run([programs / "python", "-m", *install.split(), "--quiet"], cwd=clone, check=True)
        provide_files(clone, place)
        failed = [line for line in commands if line.startswith(RUN) and not works(line, place, programs)]
        started = goes_on(clone, programs, artifact)
    return int(bool(failed) or not started)


def of_artifact(install: str, artifact: str) -> str:
    """Return a command `pip install . …` with an artifact, if there is one, in place of the clone."""
    words = install.split()
    assert words[:3] == ["pip", "install", "."], install
    return " ".join([*words[:2], str(Path(artifact).resolve()) if artifact else ".", *words[3:]])


def goes_on(clone: Path, programs: Path, artifact: str = "") -> bool:
    """Return True if all commands of docs/start.md work in the clone: they evaluate a real model on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    first, *others = commands_of(clone / "docs" / "start.md")
    commands = [of_artifact(first, artifact), *(line.replace("8080", port) for line in others)]
    assert len(commands) <= MOST_COMMANDS, commands
    server = None
    try:
        for line in commands:
            program, *arguments = shlex.split(line.removesuffix("&"))
            command = [str(programs / program), *arguments]
            if line.endswith("&"):
                server = subprocess.Popen(command, cwd=clone, stdout=subprocess.PIPE, text=True)
                assert server.stdout is not None
                assert "/v1" in server.stdout.readline(), "the server does not say that it is ready"
                done = 0
            else:
                done = subprocess.run(
                    command, cwd=clone, env=environment_for(clone / "home", programs)
                ).returncode
            print(f"{'FAILED' if done else 'ok'}: {line}", flush=True)
            if done:
                return False
    finally:
        if server is not None:
            server.terminate()
            server.wait(10)
    return real_scores(clone / "home")


def real_scores(home: Path) -> bool:
    """Return True if the only run in a home has a verdict on every question, and is not simulated.

    A small model does not always name a letter: such an answer is unparsed, and has no value.
    """
    (run,) = home.glob("runs/*")
    manifest = json.loads((run / "run.json").read_text(encoding="utf-8"))
    lines = map(json.loads, (run / "trials.jsonl").read_text(encoding="utf-8").splitlines())
    scores = [line for line in lines if line.get("type") == "score"]
    values = [line["value"] for line in scores if "value" in line]
    unparsed = sum(line.get("status") == "unparsed" for line in scores)
    print(f"{len(values)} scores of a real model, {sum(values):.0f} right, {unparsed} unparsed", flush=True)
    return bool(values) and len(values) + unparsed == QUESTIONS and not manifest.get("simulated")


def commands_of(document: Path) -> list[str]:
    """The shell commands of a document, continued lines joined, comments taken off."""
    blocks = re.findall(
        r"^```bash\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", " ".join(line.split())) for line in lines if line.strip()]


def provide_files(clone: Path, place: Path) -> None:
    """What the commands name: the user's own rows, agent and eval function, made of the examples."""
    shutil.copytree(clone / "examples", place)
    shutil.copy(place / "arithmetic.jsonl", place / "data.jsonl")
    (place / "my_agent.py").write_text("from agent import CalculatorAgent as MyAgent\n")
    with (place / "rewards.py").open("a") as file:
        file.write("\n\nscore = right_number\n")


def works(line: str, place: Path, programs: Path) -> bool:
    """Whether a command of the README ends with 0."""
    environment = environment_for(place / "home", programs)
    key, port = place / "key.jsonl", place / "port"
    key.write_text("".join(json.dumps(entry) + "\n" for entry in answers(place)))
    port.unlink(missing_ok=True)
    server = subprocess.Popen(
        [programs / "benchwright", "simulate", "--port", "0", "--port-file", port, "--answers", key],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        while not port.exists():
            time.sleep(0.05)
        address = f"http://127.0.0.1:{port.read_text().strip()}/v1"
        command = shlex.split(line.replace(DOCUMENTED, address))
        done = subprocess.run(
            [programs / command[0], *command[1:]], cwd=place, env=environment, capture_output=True, text=True
        )
    finally:
        server.terminate()
        server.wait(10)
    print(f"{'ok' if done.returncode == 0 else 'FAILED'}: {line}", flush=True)
    if done.returncode:
        print(done.stdout[-2000:] + done.stderr[-2000:], flush=True)
    return done.returncode == 0


def environment_for(home: Path, programs: Path) -> dict[str, str]:
    """Return our environment without our settings, with these programs and this home."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("BENCHWRIGHT_", "PYTHON"))
    }
    return {**kept, "PATH": f"{programs}:/usr/bin:/bin", "BENCHWRIGHT_HOME": str(home)}


def answers(place: Path) -> list[dict[str, object]]:
    """The answer key of the simulated model."""
    rows = [
        json.loads(line)
        for name in ("questions.jsonl", "arithmetic.jsonl")
        for line in (place / name).read_text(encoding="utf-8").splitlines()
    ]
    return [
        {"prompt": row["question"], "answer": row["answer"]}
        if "question" in row
        else {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
