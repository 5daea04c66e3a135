"""Completion: a real bash, and what zsh and fish are told."""

from __future__ import annotations

import os
import pty
import resource
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import made, write_run

from benchwright.records import Target

PROGRAMS = Path(sys.executable).parent
CPU_SECONDS = 0.3
RUN = "20261121T100000-mmlu-0a1b2c3d"
MODELS = '[[models]]\nmodel = "listed/model"\n'


@pytest.fixture
def lived_in(program: Program) -> Program:
    """A machine with a run, a tag, a pack and a file of models."""
    target = Target("primary", "org/Large:free", "http://127.0.0.1:9/v1")
    write_run(program.home / "runs" / RUN, made([1]), kind="benchmark", targets=[target])
    (program.home / "packs" / "toolcall-15").mkdir(parents=True)
    assert program.run("runs", "tag", RUN, "nightly").returncode == 0
    program.write("models.toml", MODELS)
    program.environment["PATH"] = f"{PROGRAMS}:{program.environment['PATH']}"
    return program


def asked(program: Program, line: str, shell: str = "bash", name: str = "benchwright") -> list[str]:
    """What a shell is told when that line is typed up to its end."""
    words = line.split(" ")
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    cursor = words[-1] if shell == "fish" else str(len(words) - 1)
    environment = {
        **program.environment,
        variable: f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": cursor,
    }
    ended = subprocess.run(
        [PROGRAMS / name], env=environment, cwd=program.directory, capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
    return ended.stdout.splitlines()


def values(program: Program, line: str) -> set[str]:
    return {each.partition(",")[2] for each in asked(program, line) if each.startswith("plain,")}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("benchwright ev", {"eval"}),
        ("benchwright runs ta", {"tag"}),
        ("benchwright eval --conc", {"--concurrency"}),
        ("benchwright eval --executor ", {"local", "ray"}),
        ("benchwright eval --scorer=reg", {"--scorer=regex"}),
        ("benchwright run mmlu:5", {"mmlu:5shot"}),
        ("benchwright run pack:t", {"pack:toolcall-15"}),
        ("benchwright pack show tool", {"toolcall-15"}),
        ("benchwright pack delete ", {"toolcall-15"}),
        ("benchwright show 2026", {RUN}),
        ("benchwright show mmlu", {RUN}),
        ("benchwright runs delete ", {RUN}),
        ("benchwright runs --tag ni", {"nightly"}),
        ("benchwright eval --model org/", {"org/Large:free"}),
        ("benchwright run mmlu --models models.toml --model lis", {"listed/model"}),
        ("benchwright completion ", {"bash", "zsh", "fish"}),
    ],
)
def test_it_completes(lived_in: Program, line: str, expected: set[str]) -> None:
    assert values(lived_in, line) == expected


@pytest.mark.parametrize("line", ["benchwright eval --batch", "benchwright pack inf", "benchwright eval cac"])
def test_old_spellings_are_not_offered(lived_in: Program, line: str) -> None:
    assert values(lived_in, line) == set()


@pytest.mark.parametrize(
    "line", ["benchwright compare ./", "benchwright eval -d ", "benchwright report rows"]
)
def test_files_are_left_to_the_shell(lived_in: Program, line: str) -> None:
    assert [each.partition(",")[0] for each in asked(lived_in, line)] == ["file"]


def test_a_name_that_would_steer_the_terminal_is_left_out(lived_in: Program) -> None:
    target = Target("primary", "org/\x1b]0;owned\x07", "http://127.0.0.1:9/v1")
    write_run(lived_in.home / "runs" / "20261122T100000-evil-0a1b2c3d", made([1]), targets=[target])
    assert values(lived_in, "benchwright eval --model org/") == {"org/Large:free"}


def test_what_cannot_be_read_is_passed_over(lived_in: Program) -> None:
    broken = lived_in.home / "runs" / "20261123T100000-broken-0a1b2c3d"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    assert values(lived_in, "benchwright eval --model org/") == {"org/Large:free"}


def test_an_env_file_counts_and_nothing_is_said_of_it(lived_in: Program) -> None:
    lived_in.write(
        ".env", "BENCHWRIGHT_HOME=elsewhere\n"
    )  # not taken from a file that is found, which a run says
    assert values(lived_in, "benchwright show 2026") == {RUN}
    lived_in.write("my.env", f"BENCHWRIGHT_HOME={lived_in.environment.pop('BENCHWRIGHT_HOME')}\n")
    assert values(lived_in, "benchwright show --env-file my.env 2026") == {RUN}


@pytest.mark.parametrize("line", ["benchwright eval --mo", "benchwright show ", "benchwright run mm"])
def test_a_press_of_the_key_is_answered_quickly(lived_in: Program, line: str) -> None:
    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        asked(lived_in, line)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) <= CPU_SECONDS


class TestShells:
    def test_zsh_is_told_what_each_run_is(self, lived_in: Program) -> None:
        kind, value, told = asked(lived_in, "benchwright show 2026", "zsh")
        assert (kind, value) == ("plain", RUN)
        assert "org/Large" in told

    def test_fish_completes_too(self, lived_in: Program) -> None:
        assert asked(lived_in, "benchwright completi", "fish")[0].startswith("plain,completion")

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    @pytest.mark.parametrize("name", ["benchwright", "osmosis", "llm-bench"])
    def test_each_program_has_a_script_that_the_shell_can_read(
        self, lived_in: Program, shell: str, name: str
    ) -> None:
        script = subprocess.run(
            [PROGRAMS / name, "completion", shell], capture_output=True, text=True, check=True
        ).stdout
        assert f"_{name.replace('-', '_').upper()}_COMPLETE={shell}_complete" in script
        if shutil.which(shell) is not None:
            subprocess.run([shell, "-n"], input=script, text=True, check=True)


class Bash:
    """An interactive bash on a terminal, with our completion."""

    def __init__(self, program: Program) -> None:
        environment = {**program.environment, "TERM": "dumb", "PS1": "READY ", "HISTFILE": "/dev/null"}
        self.process, self._terminal = pty.fork()
        if self.process == 0:
            os.chdir(program.directory)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        self.until("READY ")
        self.type('eval "$(benchwright completion bash)"\n')
        self.until("READY ")

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def until(self, text: str, seconds: float = 20) -> str:
        """What appears, up to this text."""
        seen, end = "", time.monotonic() + seconds
        while text not in seen:
            left = end - time.monotonic()
            assert left > 0, seen
            if select.select([self._terminal], [], [], left)[0]:
                seen += os.read(self._terminal, 1 << 16).decode(errors="replace")
        return seen

    def end(self) -> None:
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)
        os.close(self._terminal)


@pytest.fixture
def bash(lived_in: Program) -> Iterator[Bash]:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    shell = Bash(lived_in)
    yield shell
    shell.end()


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("benchwright comple", "completion "),
        ("benchwright show 2026", RUN),
        ("benchwright run mmlu:5", "mmlu:5shot "),
        ("benchwright eval --model=org/", "--model=org/Large:free "),
        ("benchwright eval -d models.t", "models.toml "),
    ],
)
def test_tab_in_a_real_bash(bash: Bash, typed: str, completed: str) -> None:
    bash.type(f"{typed}\t")
    bash.until(completed)
