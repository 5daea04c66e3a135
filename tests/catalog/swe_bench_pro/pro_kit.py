"""Two instances as SWE-bench Pro has them, made by hand: repositories, images, rows, run scripts and parsers.

`calculator` is a Python project tested with pytest, whose image holds the commit of the fix. `greeter` is a shell
project with a runner of its own; its image holds nothing later than the base commit.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.catalog.catalog_kit import write_rows
from tests.catalog.containers.workshop import WORKSHOP, make_workshop
from tests.sandbox.docker.stand_ins import docker

from benchwright.catalog.benchmark import Benchmark, Options
from benchwright.catalog.swe_bench_pro.about import SWE_BENCH_PRO
from benchwright.catalog.swe_bench_pro.benchmark import make
from benchwright.data.datasets import Source, find_dataset
from benchwright.records import Sample

Files = Mapping[str, str]

CALCULATOR = "instance_shop__calculator-1-v1"
GREETER = "instance_shop__greeter-2-v1"

PYTEST = """\
#!/bin/bash
IFS=',' read -r -a files <<< "$1"
python -m pytest -v -p no:cacheprovider "${files[@]}"
"""

PYTEST_PARSER = """\
import json, re, sys
found = re.findall(r"^(\\S+::\\S+) (PASSED|FAILED|SKIPPED|ERROR)", open(sys.argv[1]).read(), re.MULTILINE)
json.dump({"tests": [{"name": name, "status": status} for name, status in found]}, open(sys.argv[3], "w"))
"""

OWN_RUNNER = """\
#!/bin/bash
for file in ${1//,/ }; do bash "$file"; done
"""

OWN_PARSER = """\
import json, sys
tests = []
for line in open(sys.argv[1]):
    word, _, name = line.rstrip("\\n").partition(" - ")
    tests.append({"name": name, "status": {"ok": "PASSED", "not ok": "FAILED"}.get(word, "ERROR")})
json.dump({"tests": tests}, open(sys.argv[3], "w"))
"""


class Instance:
    """An instance: its repository is made in a directory, its image of that."""

    def __init__(
        self,
        directory: Path,
        identity: str,
        base: Files,
        fixed: Files,
        tests: Files,
        lists: Mapping[str, str],
        scripts: tuple[str, str],
        history: bool,
    ) -> None:
        self.identity = identity
        self.tag = f"benchwright-test-{secrets.token_hex(6)}"
        self.image = f"jefzda/sweap-images:{self.tag}"
        self._scripts = scripts
        self.repository = directory / identity
        before, after = self._commits(base, fixed, tests, history)
        names = " ".join(tests)
        self.row: dict[str, Any] = {
            "repo": identity.removeprefix("instance_").partition("-")[0].replace("__", "/"),
            "instance_id": identity,
            "base_commit": before,
            "patch": self._patch,
            "test_patch": self._test_patch,
            "problem_statement": f"Something is wrong in {identity}.",
            "requirements": "It must be right.",
            "interface": "None.",
            "repo_language": "python" if history else "shell",
            "before_repo_set_cmd": f"git reset --hard {before}\ngit clean -fd\ngit checkout {before}\n"
            f"git checkout {after} -- {names}",
            "dockerhub_tag": self.tag,
            **lists,
        }

    def write_scripts(self, directory: Path) -> None:
        """Writes its run script and its parser as they lie in the official repository."""
        folder = directory / "run_scripts" / self.identity
        folder.mkdir(parents=True)
        for name, text in zip(("run_script.sh", "parser.py"), self._scripts, strict=True):
            (folder / name).write_text(text)

    def make_image(self) -> None:
        """Makes the image, with the repository in /app."""
        packed, files = BytesIO(), BytesIO()
        with tarfile.open(fileobj=files, mode="w") as archive:
            archive.add(self.repository, "app", filter=_of_root)
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name, content in (
                ("Dockerfile", f"FROM {WORKSHOP}\nADD files.tar /\nWORKDIR /app\n".encode()),
                ("files.tar", files.getvalue()),
            ):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, BytesIO(content))
        docker("build", "--tag", self.image, "-", stdin=packed.getvalue())

    def _commits(self, base: Files, fixed: Files, tests: Files, history: bool) -> tuple[str, str]:
        self.repository.mkdir(parents=True)
        self._git("init", "--quiet", "--initial-branch=main")
        before = self._commit({**base, ".gitignore": "__pycache__/\n"})
        solved = self._commit(fixed)
        after = self._commit(tests)
        self._patch = self._git("diff", before, solved)
        self._test_patch = self._git("diff", solved, after)
        self._git("reset", "--quiet", "--hard", before)
        if not history:
            self._git("reflog", "expire", "--expire=now", "--all")
            self._git("gc", "--quiet", "--prune=now")
        return before, after

    def _commit(self, files: Files) -> str:
        for name, text in files.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", "a commit")
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str) -> str:
        who = [f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
        environment = {
            **os.environ,
            **dict.fromkeys(who, "maker@example.org"),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        command = ["git", "-C", str(self.repository), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def instances(directory: Path) -> list[Instance]:
    """Both instances, with their repositories."""
    double = "from calculator import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
    calculator = Instance(
        directory,
        CALCULATOR,
        base={
            "calculator.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n",
            "tests/test_calculator.py": double,
            "conftest.py": "",
        },
        fixed={"calculator.py": "def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return 2 * a\n"},
        tests={
            "tests/test_calculator.py": f"from calculator import add\n{double}\n\n"
            "def test_add():\n    assert add(2, 2) == 4\n    assert add(1, 2) == 3\n"
        },
        lists={
            "fail_to_pass": "['tests/test_calculator.py::test_add']",
            "pass_to_pass": "['tests/test_calculator.py::test_double']",
            "selected_test_files_to_run": "['tests/test_calculator.py']",
        },
        scripts=(PYTEST, PYTEST_PARSER),
        history=True,
    )
    check = '[ "$(bash greet.sh %s)" = "%s" ] && echo "ok - %s" || echo "not ok - %s"\n'
    bare = check % ("", "Hello!", "it greets", "it greets")
    named = check % ("Ana", "Hello, Ana!", "it greets d'Artagnan by name", "it greets d'Artagnan by name")
    greeter = Instance(
        directory,
        GREETER,
        base={"greet.sh": 'echo "Hello!"\n', "checks/greet.sh": bare},
        fixed={"greet.sh": 'echo "Hello${1:+, $1}!"\n'},
        tests={"checks/greet.sh": bare, "checks/named.sh": named},
        lists={
            "fail_to_pass": """["it greets d'Artagnan by name"]""",
            "pass_to_pass": "['it greets']",
            "selected_test_files_to_run": "['checks/greet.sh', 'checks/named.sh']",
        },
        scripts=(OWN_RUNNER, OWN_PARSER),
        history=False,
    )
    return [calculator, greeter]


class Data:
    """Rows and run scripts of both instances in a data directory, as they are fetched; images are made apart."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.instances = instances(directory / "repositories")
        self.write(*(instance.row for instance in self.instances))
        for instance in self.instances:
            instance.write_scripts(directory / "swe_bench_pro_scripts")

    def write(self, *rows: Mapping[str, Any]) -> None:
        write_rows(self.directory / "swe_bench_pro" / "test.jsonl", rows)

    @property
    def source(self) -> Source:
        return find_dataset(SWE_BENCH_PRO.dataset, self.directory, offline=True)

    def samples(self, **options: str) -> list[Sample]:
        return list(pro(**options).samples(self.source))

    def make_images(self) -> None:
        make_workshop()
        for instance in self.instances:
            instance.make_image()

    def remove_images(self) -> None:
        docker("rmi", *(instance.image for instance in self.instances))


def pro(**options: str) -> Benchmark:
    """The benchmark with these options."""
    return make(SWE_BENCH_PRO, Options(options))


def official_pro(**options: str) -> Benchmark:
    """The benchmark with these options, and without its seal."""
    return make(SWE_BENCH_PRO, Options(options, sealed=False))
