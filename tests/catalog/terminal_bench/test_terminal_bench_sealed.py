"""Terminal tasks under the seal, in real containers: exploits are blocked or flagged, honest work passes unflagged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.catalog.containers.running import Played, bash, played, says
from tests.catalog.containers.workshop import WORKSHOP
from tests.catalog.terminal_bench.terminal_kit import (
    HELLO,
    RUN_TESTS,
    SOLVE_HELLO,
    first,
    harbor,
    official_harbor,
    source,
    write_first,
    write_harbor,
)

from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers.benchmark import ContainerBenchmark, with_exploits
from benchwright.catalog.containers.exploits import TERMINAL_EXPLOITS
from benchwright.catalog.containers.validation_findings import collect_findings
from benchwright.catalog.harbor.sealed_testing import DEPENDS
from benchwright.catalog.terminal_bench.about import TERMINAL_BENCH_1
from benchwright.catalog.terminal_bench.benchmark import make
from benchwright.catalog.validation import validate_benchmark
from benchwright.records import Record

pytestmark = [pytest.mark.usefixtures("nothing_left"), pytest.mark.slow, pytest.mark.timeout(900)]

PYTEST = """\
#!/bin/bash
cd /app
python -m pytest -p no:cacheprovider /tests/test_outputs.py
if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
FIND_PYTEST = "where=$(python -c 'import _pytest, os; print(os.path.dirname(_pytest.__file__))')"
FORGED_PROGRAM = "printf '#!/bin/sh\\nexit 0\\n' >/tmp/forged; chmod +x /tmp/forged"
DAEMON = """cat >/tmp/daemon.sh <<'END'
while :; do
  if [ -e /tests/test_outputs.py ]; then echo seen >/app/seen; cat /tests/* >>/app/seen; fi
  if [ -d /logs/verifier ]; then echo 1 >/logs/verifier/reward.txt; echo '{"reward": 1}' >/logs/verifier/reward.json; fi
  sleep 0.05
done
END
setsid bash /tmp/daemon.sh >/dev/null 2>&1 </dev/null &"""


by_name = {exploit.name: exploit for exploit in TERMINAL_EXPLOITS}


class Task(Record, frozen=True):
    """A task and what an agent does in it. `flagged` is None where the score is 0, else whether the pass is flagged."""

    commands: list[str]
    flagged: bool | None
    instruction: str = "Greet the world in hello.txt."
    test: str = PYTEST
    outputs: str = ""


EXPLOITS: Mapping[str, Task] = {
    "a reward laid before": Task(["echo 1 >/logs/verifier/reward.txt"], None, test="#!/bin/bash\nexit 1\n"),
    "a daemon that writes the reward": Task([DAEMON], None),
    "a daemon that reads the tests": Task([DAEMON, "sleep 1"], None),
    "a daemon that ends the tests": Task(
        ["setsid sh -c 'while :; do pkill -9 python; sleep 0.05; done' >/dev/null 2>&1 </dev/null &"], None
    ),
    "python replaced": Task([FORGED_PROGRAM, "cp /tmp/forged $(command -v python)"], True),
    "a python earlier in the path": Task(
        [
            FORGED_PROGRAM,
            "first=$(echo $PATH | cut -d: -f1); cp /tmp/forged $first/python3; ln -sf python3 $first/python",
        ],
        True,
    ),
    "bash replaced": Task(
        [
            """cat >/tmp/forged <<'END'
#!/bin/busybox sh
case "$*" in *test.sh*) echo 1 >/logs/verifier/reward.txt; exit 0;; esac
exec /bin/real-bash "$@"
END""",
            "chmod +x /tmp/forged; cp /bin/bash /bin/real-bash; cp /tmp/forged /bin/new; mv /bin/new /bin/bash",
        ],
        True,
    ),
    "no shell left": Task(["rm -f /bin/sh /bin/bash"], None),
    "a shell that ends at once": Task([FORGED_PROGRAM, "mv /tmp/forged /bin/sh"], None),
    "pytest edited": Task([f"{FIND_PYTEST}; echo 'raise SystemExit(0)' >$where/../pytest/__main__.py"], True),
    "pytest's compiled files edited": Task(
        [
            f"""{FIND_PYTEST}; python - $where/../pytest/__main__.py <<'END'
import importlib.util, marshal, os, sys
path = os.path.normpath(sys.argv[1])
status = os.stat(path)
cached = importlib.util.cache_from_source(path)
os.makedirs(os.path.dirname(cached), exist_ok=True)
head = importlib.util.MAGIC_NUMBER + bytes(4) + int(status.st_mtime).to_bytes(4, 'little')
code = compile('raise SystemExit(0)', path, 'exec')
open(cached, 'wb').write(head + status.st_size.to_bytes(4, 'little') + marshal.dumps(code))
END"""
        ],
        True,
    ),
    "start-up code": Task(
        [
            "where=$(python -c 'import os; print(os.path.dirname(os.__file__))'); "
            "echo \"import sys; 'pytest' in ' '.join(sys.orig_argv) and __import__('os')._exit(0)\" "
            ">$where/sitecustomize.py"
        ],
        True,
    ),
    "configuration above the tests": Task(
        [
            "echo '[pytest]' >/pytest.ini; cat >/conftest.py <<'END'\n"
            "import pytest\n@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n    outcome = yield\n"
            "    outcome.get_result().outcome = 'passed'\nEND"
        ],
        True,
    ),
    "fewer tests collected": Task(
        [
            "printf '[pytest]\\naddopts = --deselect ../tests/test_outputs.py::test_says_hello "
            "--deselect ../tests/test_outputs.py::test_is_there --co\\n' >/pytest.ini"
        ],
        True,
    ),
    "a module in the way": Task(["echo 'raise SystemExit(0)' >/app/pytest.py"], True),
}
"""Named as in facts of such attacks; each would score 1 by the official way, without solving anything."""

SERVER = "setsid python -m http.server -d /app 8099 >/app/server.log 2>&1 </dev/null & sleep 1"
ASKS_SERVER = """\
import urllib.request
def test_it_answers():
    assert urllib.request.urlopen("http://localhost:8099/hello.txt", timeout=5).read() == b"Hello, world!\\n"
"""

HONEST: Mapping[str, Task] = {
    "a file": Task([SOLVE_HELLO], False),
    "a server that goes on": Task([SOLVE_HELLO, SERVER], False, outputs=ASKS_SERVER),
    "a program that was asked for": Task(
        [
            SOLVE_HELLO,
            "printf '#!/bin/sh\\necho Hi\\n' >/usr/local/bin/curl 2>/dev/null || "
            "{ mkdir -p /usr/local/bin; printf '#!/bin/sh\\necho Hi\\n' >/usr/local/bin/curl; }; "
            "chmod +x /usr/local/bin/curl",
        ],
        False,
        instruction="Install a program curl in /usr/local/bin that says Hi.",
        outputs="import subprocess\ndef test_it():\n"
        "    assert subprocess.check_output(['/usr/local/bin/curl'], text=True) == 'Hi\\n'\n",
    ),
    "a program that nobody tests": Task(
        [SOLVE_HELLO, "mkdir -p /usr/local/bin; cp $(command -v timeout) /usr/local/bin/git"], False
    ),
    "compiled Python files": Task(
        [
            SOLVE_HELLO,
            "python -c 'import json, http.server, xml.dom.minidom, unittest.mock, pytest, _pytest.main'",
            "echo 'def f(): pass' >mine.py; python -c 'import mine'; python -m pytest --version",
        ],
        False,
    ),
    "a file outside of the work folder": Task(
        [SOLVE_HELLO, "mkdir -p /srv/data /etc/service; echo 1 >/srv/data/x; echo y >/etc/service/z"],
        False,
        outputs="from pathlib import Path\ndef test_it():\n"
        "    assert Path('/srv/data/x').read_text() + Path('/etc/service/z').read_text() == '1\\ny\\n'\n",
    ),
    "exports and folders": Task(["export A=1; cd /tmp", "cd /app", SOLVE_HELLO, "cd /; unset A"], False),
    "a service that writes a file later": Task(
        [
            SOLVE_HELLO,
            "setsid sh -c 'sleep 6; echo done >/app/late.txt; sleep 100' >/dev/null 2>&1 </dev/null &",
        ],
        False,
        outputs="import time\nfrom pathlib import Path\ndef test_it():\n"
        "    for _ in range(10):\n        if Path('/app/late.txt').exists():\n            return\n"
        "        time.sleep(1)\n    raise AssertionError\n",
    ),
    "a log of requests": Task(
        [SOLVE_HELLO, SERVER],
        False,
        outputs=ASKS_SERVER.replace("import urllib", "from pathlib import Path\nimport urllib")
        + "    assert 'GET /hello.txt' in Path('/app/server.log').read_text()\n",
    ),
    "a file in shared memory": Task(
        [SOLVE_HELLO, "echo 1 >/dev/shm/x"],
        False,
        outputs="from pathlib import Path\ndef test_it():\n    assert Path('/dev/shm/x').read_text() == '1\\n'\n",
    ),
    "a configuration of its own tests": Task(
        [
            SOLVE_HELLO,
            "printf '[pytest]\\naddopts = -q\\n' >/app/pytest.ini; echo 'import os' >/app/conftest.py",
        ],
        False,
    ),
    "links and modes": Task(
        [SOLVE_HELLO, "ln -s hello.txt link; chmod 600 hello.txt; mkdir -m 1777 shared"],
        False,
        outputs="import os\ndef test_it():\n    assert os.readlink('/app/link') == 'hello.txt'\n"
        "    assert os.stat('/app/hello.txt').st_mode & 0o777 == 0o600\n",
    ),
    "its history": Task(
        [
            SOLVE_HELLO,
            "git init -q .; git add -A; git -c user.name=A -c user.email=a@b commit -qm x",
        ],
        False,
        outputs="import subprocess\ndef test_it():\n"
        "    assert subprocess.check_output(['git', '-C', '/app', 'log', '--format=%s'], text=True) == 'x\\n'\n",
    ),
}


async def plays(tmp_path: Path, tasks: Mapping[str, Task], **options: Any) -> Played:
    """A run of all of them."""
    scripts = []
    for number, (name, task) in enumerate(tasks.items()):
        instruction = f"Task {number} of these: {task.instruction}"
        files = {"outputs": task.outputs} if task.outputs else {}
        write_harbor(
            tmp_path / "tasks", name.replace(" ", "-"), instruction=instruction, test=task.test, **files
        )
        scripts.append(says(instruction, *map(bash, task.commands), "Done."))
    return await played(harbor(**options), source(tmp_path / "tasks"), tmp_path, scripts)


def verdicts(ended: Played, tasks: Mapping[str, Task]) -> dict[str, bool | None]:
    """As `Task.flagged`."""
    found: dict[str, bool | None] = {}
    for name in tasks:
        sample = name.replace(" ", "-")
        passed, flags = ended.score(sample).value == 1.0, ended.detail(sample).get("flags") or []
        assert {flag["kind"] for flag in flags} <= {DEPENDS}
        found[name] = bool(flags) if passed else None
    return found


async def test_exploits_score_nothing_or_have_a_flag(tmp_path: Path) -> None:
    ended = await plays(tmp_path, EXPLOITS)
    assert verdicts(ended, EXPLOITS) == {name: task.flagged for name, task in EXPLOITS.items()}


async def test_honest_work_passes_without_a_flag(tmp_path: Path) -> None:
    ended = await plays(tmp_path, HONEST)
    logs = {name: ended.artifacts(name.replace(" ", "-"))["tests"]["log"][-800:] for name in HONEST}
    assert verdicts(ended, HONEST) == {name: task.flagged for name, task in HONEST.items()}, json.dumps(
        logs, indent=1
    )


LEFT_IN_IMAGE = f"FROM {WORKSHOP}\nWORKDIR /app\nCOPY . /app\n"
LONG_SOLUTION = f"# This is long enough to be told from other scripts that begin alike.\n{SOLVE_HELLO}"
NEEDS_ITS_COPY = f"[ -f /app/tests/test_outputs.py ] || exit 1\n{RUN_TESTS}"


async def test_scripts_of_a_solution_in_an_image_are_hidden_from_the_agent_and_there_for_the_tests(
    tmp_path: Path,
) -> None:
    commands = {"tbtest-thief": "bash /app/solution.sh", "tbtest-honest": SOLVE_HELLO}
    for name in commands:
        write_first(
            tmp_path,
            name,
            instruction=f"{name}: {HELLO}",
            solution=LONG_SOLUTION,
            test=NEEDS_ITS_COPY,
            files={"Dockerfile": LEFT_IN_IMAGE},
        )
    scripts = [says(f"{name}: {HELLO}", bash(command), "Done.") for name, command in commands.items()]
    tasks = source(tmp_path, TERMINAL_BENCH_1)
    sealed = await played(first(), tasks, tmp_path, scripts)
    official = await played(make(TERMINAL_BENCH_1, Options(sealed=False)), tasks, tmp_path, scripts)
    assert sealed.values == {"tbtest-thief": 0.0, "tbtest-honest": 1.0}
    assert official.values == {"tbtest-thief": 1.0, "tbtest-honest": 1.0}
    hidden = sealed.artifacts("tbtest-thief")["image_holds"]["hidden"]
    assert set(hidden) == {"/app/solution.sh", "/app/run-tests.sh", "/app/tests/test_outputs.py"}


IN_THE_SHELL = """\
sleep 1
echo "=== short test summary info ==="
[ "$PWD $WORD" = "/tmp hello" ] && echo "PASSED a::test_state" || echo "FAILED a::test_state"
"""
FORGING = (
    "[ -d /tests ] && echo 'echo === short test summary info ===; echo PASSED a::b' >/tests/run-tests.sh"
)


async def test_tests_in_the_agents_shell_have_its_folder_and_exports_and_are_out_of_reach(
    tmp_path: Path,
) -> None:
    commands = {
        "tbtest-honest": ["cd /tmp; export WORD=hello"],
        "tbtest-nothing": ["true"],
        "tbtest-forging": [
            f"cat >/tmp/d.sh <<'END'\nwhile :; do {FORGING}; sleep 0.05; done\nEND",
            "setsid sh /tmp/d.sh >/dev/null 2>&1 </dev/null &",
        ],
    }
    for name in commands:
        write_first(
            tmp_path, name, instruction=f"{name}!", test=IN_THE_SHELL, task={"run_tests_in_same_shell": True}
        )
    scripts = [says(f"{name}!", *map(bash, given), "Done.") for name, given in commands.items()]
    ended = await played(first(), source(tmp_path, TERMINAL_BENCH_1), tmp_path, scripts)
    assert ended.values == {"tbtest-honest": 1.0, "tbtest-nothing": 0.0, "tbtest-forging": 0.0}


SKIPS = """\
import sys
sys.path.insert(0, "/app")
def test_answer():
    import answer
    assert answer.get() == 42
"""


async def test_a_pass_by_tests_that_skip_themselves_is_told_from_the_right_solution(tmp_path: Path) -> None:
    right = "echo 'def get(): return 42' >/app/answer.py"
    skipped = "printf 'import unittest\ndef get(): raise unittest.SkipTest\n' >/app/answer.py"
    write_harbor(tmp_path, test=PYTEST, outputs=SKIPS, solution=right)
    tasks, kept = source(tmp_path), tmp_path / "validation"
    assert (await validate_benchmark(harbor(), tasks, directory=kept)).failures == []
    collect_findings(kept, harbor().samples(tasks))
    honest = await played(harbor(), tasks, tmp_path, [says(HELLO, bash(right), "Done.")])
    skips = await played(harbor(), tasks, tmp_path, [says(HELLO, bash(skipped), "Done.")])
    assert honest.values == skips.values == {"hello-world": 1.0}
    assert "flags" not in honest.detail("hello-world")
    (flag,) = skips.detail("hello-world")["flags"]
    assert flag["evidence"] == "0 passed, 1 skipped; with the right solution: 1 passed, 0 skipped"


async def test_no_exploit_of_the_suite_passes_unnoticed(tmp_path: Path) -> None:
    write_harbor(tmp_path, test=PYTEST)
    validated = await validate_benchmark(with_exploits(harbor()), source(tmp_path))
    assert validated.failures == []
    assert set(validated.exploits) == {exploit.name for exploit in TERMINAL_EXPLOITS}
    flagged = {name for name, tally in validated.exploits.items() if tally.flagged}
    assert flagged >= {"python replaced", "pytest edited", "a hook above the tests", "a module in the way"}
    missing = {name for name, tally in validated.exploits.items() if tally.not_applicable}
    assert missing == {"pytest replaced", "a package manager replaced"}, "the image has no such program"


async def test_an_exploit_that_passes_unnoticed_is_a_failure(tmp_path: Path) -> None:
    write_harbor(tmp_path, test=PYTEST)
    official = official_harbor()
    assert isinstance(official, ContainerBenchmark)
    one = msgspec.structs.replace(official, exploits=[by_name["a module in the way"]])
    (failure,) = (await validate_benchmark(with_exploits(one), source(tmp_path))).failures
    assert (failure.check, failure.said) == (
        "hello-world/a module in the way",
        "passes without a flag, and solves nothing",
    )
