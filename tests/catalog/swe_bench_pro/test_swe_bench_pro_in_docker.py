"""SWE-bench Pro from the model to the score, in real containers of stand-in images."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import only_result
from tests.catalog.containers.forging import appended_to, forging_module, verbose
from tests.catalog.containers.running import bash, played, says
from tests.catalog.swe_bench_pro.pro_kit import CALCULATOR, GREETER, Data, official_pro, pro
from tests.simulated import simulated_endpoint

from benchwright.catalog.containers.benchmark import ContainerBenchmark, with_exploits
from benchwright.catalog.containers.exploits import LOG_READER_EXPLOIT, REPOSITORY_EXPLOITS
from benchwright.catalog.containers.sealing.canaries import UNTESTED_PASS_FLAG
from benchwright.catalog.selection import Selection
from benchwright.catalog.swe_bench_pro import testing
from benchwright.catalog.swe_bench_pro.solver import ContainerConfig
from benchwright.catalog.validation import validate_benchmark
from benchwright.engine.offload import offload_processes
from benchwright.records import Status
from benchwright.sandbox.docker import DockerSandboxes

pytestmark = pytest.mark.slow

ADD = "tests/test_calculator.py::test_add"
DOUBLE = "tests/test_calculator.py::test_double"
NAMED, BARE = "it greets d'Artagnan by name", "it greets"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.mark.parametrize("mode", ["agent", "patch"])
async def test_the_gold_patches_pass_and_no_change_does_not(mode: str, pro_data: Data) -> None:
    ran = await validate_benchmark(pro(mode=mode), pro_data.source)
    assert (ran.samples, ran.checks, ran.failures) == (2, 6 if mode == "agent" else 8, [])


async def test_a_model_solves_one_and_fails_the_other(pro_data: Data, tmp_path: Path) -> None:
    scripts = [
        says(
            CALCULATOR, bash("pwd; cat calculator.py"), bash("sed -i 's/a - b/a + b/' calculator.py"), "Done."
        ),
        says(GREETER, bash("echo 'echo \"Hello, $1!\"' > greet.sh"), "Done."),
    ]
    ran = await played(pro(), pro_data.source, tmp_path, scripts)
    assert ran.values == {CALCULATOR: 1.0, GREETER: 0.0}
    solved, failed = ran.detail(CALCULATOR), ran.detail(GREETER)
    assert (solved["fail_to_pass_results"], solved["pass_to_pass_results"]) == ({ADD: True}, {DOUBLE: True})
    assert (failed["fail_to_pass_results"], failed["pass_to_pass_results"]) == ({NAMED: True}, {BARE: False})
    assert "+    return a + b" in solved["model_patch"]


async def test_commands_new_files_and_the_tests_log_are_kept(pro_data: Data, tmp_path: Path) -> None:
    work = "printf 'def add(a, b):\\n    return sum([a, b])\\n\\n\\ndef double(a):\\n    return 2 * a\\n' > sums.py"
    scripts = [
        says(
            CALCULATOR,
            bash(work),
            bash("echo 'from sums import *' > calculator.py; head -c 99 /bin/git > junk"),
            "Done.",
        )
    ]
    ran = await played(pro(), pro_data.source, tmp_path, scripts, ids=[CALCULATOR])
    assert ran.values == {CALCULATOR: 1.0}
    kept = ran.artifacts(CALCULATOR)
    assert [command["exit_code"] for command in kept["commands"]] == [0, 0]
    assert "+++ b/sums.py" in kept["patch"]
    assert "junk" not in kept["patch"]
    assert "__pycache__" not in kept["patch"]
    assert f"{ADD} PASSED" in kept["tests"]["log"]


async def test_work_at_its_limit_of_turns_is_tested_all_the_same(pro_data: Data, tmp_path: Path) -> None:
    scripts = [says(CALCULATOR, bash("sed -i 's/a - b/a + b/' calculator.py"), bash("sleep 0"))]
    ran = await played(pro(max_turns="2"), pro_data.source, tmp_path, scripts, ids=[CALCULATOR])
    assert ran.trials[CALCULATOR].record.status is Status.LIMIT
    assert ran.score(CALCULATOR).value == 1.0


async def test_the_tests_cannot_be_seen_and_changes_to_them_do_not_count(
    pro_data: Data, tmp_path: Path
) -> None:
    cheat = f"ls checks /workspace 2>&1; echo 'echo \"ok - {NAMED}\"' > checks/named.sh".replace(
        "d'A", "d'\\''A"
    )
    scripts = [says(GREETER, bash(cheat), "Done.")]
    ran = await played(pro(), pro_data.source, tmp_path, scripts, ids=[GREETER])
    (command,) = ran.artifacts(GREETER)["commands"]
    assert command["exit_code"] == 0
    assert "named.sh" not in command["output"]
    assert "parser" not in command["output"]
    assert f'+echo "ok - {NAMED}"' in ran.detail(GREETER)["model_patch"]
    assert ran.detail(GREETER)["fail_to_pass_results"] == {NAMED: False}


LOOK_AHEAD = "git log --all --oneline | wc -l; git fsck --no-reflogs --unreachable 2>/dev/null | wc -l"


async def test_an_agent_finds_the_fix_in_the_image_unless_it_is_sealed(
    pro_data: Data, tmp_path: Path
) -> None:
    solve = bash("sed -i 's/a - b/a + b/' calculator.py")
    scripts = [says(CALCULATOR, bash(LOOK_AHEAD), solve, "Done.")]
    sealed = await played(pro(), pro_data.source, tmp_path, scripts, ids=[CALCULATOR])
    official = await played(official_pro(), pro_data.source, tmp_path, scripts, ids=[CALCULATOR])
    outputs = [ran.artifacts(CALCULATOR)["commands"][0]["output"].split() for ran in (sealed, official)]
    assert outputs[0] == ["1", "0"]
    assert int(outputs[1][1]) > 0, "the fix is a commit to which nothing leads"
    assert sealed.values[CALCULATOR] == official.values[CALCULATOR] == 1.0


async def test_a_parser_that_a_patch_replaces_reads_nothing_under_the_seal(
    pro_data: Data, tmp_path: Path
) -> None:
    forge = f"""cat >conftest.py <<'END'
import json
names = {[ADD, DOUBLE]}
result = json.dumps({{"tests": [{{"name": name, "status": "PASSED"}} for name in names]}})
script = f"import sys; open(sys.argv[3], 'w').write({{result!r}})"
open("/workspace/parser.py", "w").write(script)
END"""
    scripts = [says(CALCULATOR, bash(forge), "Done.")]
    sealed = await played(pro(), pro_data.source, tmp_path, scripts, ids=[CALCULATOR])
    official = await played(official_pro(), pro_data.source, tmp_path, scripts, ids=[CALCULATOR])
    assert (sealed.values[CALCULATOR], official.values[CALCULATOR]) == (0.0, 1.0)


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
async def test_a_whole_report_that_the_code_under_test_forged_has_a_flag(
    pro_data: Data, tmp_path: Path, end: str
) -> None:
    forging = appended_to("calculator.py", forging_module(verbose([ADD, DOUBLE]), end))
    ran = await played(
        pro(), pro_data.source, tmp_path, [says(CALCULATOR, bash(forging), "Done.")], ids=[CALCULATOR]
    )
    assert ran.values == {CALCULATOR: 1.0}, "as by the official rule"
    assert [flag["kind"] for flag in ran.detail(CALCULATOR)["flags"]] == [UNTESTED_PASS_FLAG]


async def test_an_honest_fix_in_other_words_than_the_right_one_has_no_flag(
    pro_data: Data, tmp_path: Path
) -> None:
    other = "sed -i 's/a - b/sum((a, b))/' calculator.py"
    ran = await played(
        pro(), pro_data.source, tmp_path, [says(CALCULATOR, bash(other), "Done.")], ids=[CALCULATOR]
    )
    assert ran.values == {CALCULATOR: 1.0}
    assert "flags" not in ran.detail(CALCULATOR)


SEEN_IN_ITS_LOG = {
    "a commit to which nothing leads",
    "a plugin of pytest",
    "results printed by the code under test",
    "a test framework changed by the code under test",
    "a runner of tests replaced",
    LOG_READER_EXPLOIT.name,
}
"""Those that meet what is its own: its image, how it runs tests, how it reads their log. All are tried on swe_bench."""


@pytest.mark.timeout(600)
async def test_no_exploit_of_what_is_its_own_passes_unnoticed(pro_data: Data) -> None:
    chosen = [
        exploit for exploit in (*REPOSITORY_EXPLOITS, LOG_READER_EXPLOIT) if exploit.name in SEEN_IN_ITS_LOG
    ]
    whole = pro()
    assert isinstance(whole, ContainerBenchmark)
    assert list(whole.exploits) == [*REPOSITORY_EXPLOITS, LOG_READER_EXPLOIT]
    tried = with_exploits(msgspec.structs.replace(whole, exploits=chosen))
    validated = await validate_benchmark(tried, pro_data.source, Selection(ids=[CALCULATOR]))
    assert validated.failures == []
    tallies = validated.exploits
    assert set(tallies) == SEEN_IN_ITS_LOG
    assert tallies[LOG_READER_EXPLOIT.name].blocked == 1
    assert {name for name, tally in tallies.items() if tally.flagged} >= {
        "results printed by the code under test",
        "a test framework changed by the code under test",
        "a plugin of pytest",
    }
    assert tallies["a runner of tests replaced"].not_applicable == 1


async def test_predictions_are_graded_without_a_model(pro_data: Data, tmp_path: Path) -> None:
    file = tmp_path / "gold_patches.json"
    gold = {"instance_id": CALCULATOR, "patch": pro_data.instances[0].row["patch"], "prefix": "gold"}
    file.write_text(json.dumps([gold]))
    ran = await played(pro(predictions=str(file)), pro_data.source, tmp_path)
    assert ran.values == {CALCULATOR: 1.0, GREETER: 0.0}
    assert ran.detail(GREETER)["error"] == "the predictions have none for this instance"
    assert [trial.record.requests for trial in ran.trials.values()] == [[], []]


def test_the_program_runs_it_and_writes_the_documented_keys(pro_data: Data, program: Program) -> None:
    scripts = [says(CALCULATOR, bash("sed -i 's/a - b/a + b/' calculator.py"), "Done."), says(GREETER, "No.")]
    data = ("--data-dir", str(pro_data.directory))
    with simulated_endpoint("--policy=refusal", scripts=scripts) as url:
        ended = program.run(*data, "--base-url", url, "--model", "m", "run", "swe_bench_pro")
    assert ended.returncode == 0, ended.stderr
    result = only_result(program)
    assert (result["accuracy"], result["errors"], result["metric"]) == (0.5, 0, "resolved")
    solved, failed = result["sample_results"]
    assert (solved["id"], solved["correct"], failed["correct"]) == (CALCULATOR, True, False)
    assert solved["details"]["fail_to_pass_results"] == {ADD: True}
    assert solved["labels"] == {"repo": "shop/calculator", "language": "python"}


def test_without_an_engine_it_is_told_before_any_model_is_asked(pro_data: Data, program: Program) -> None:
    data = ("--data-dir", str(pro_data.directory))
    ended = program.run(
        *(*data, "--base-url", NOWHERE, "--model", "m", "run", "swe_bench_pro", "--no-probe"),
        DOCKER_HOST="unix:///nowhere/docker.sock",
    )
    assert ended.returncode == 1
    assert "unix:///nowhere/docker.sock" in ended.stderr
    assert "Traceback" not in ended.stderr


class TestFaults:
    """In the container of the tests."""

    async def run(
        self, sandboxes: DockerSandboxes, data: Data, patch: str, seconds: float = 30, **changed: str
    ) -> testing.TestResults:
        content = {**data.samples()[0].content, **changed}
        async with sandboxes.start(
            ContainerConfig().sandbox_spec(content["image"], network=False)
        ) as sandbox:
            return await testing.run_tests(sandbox, content, patch, seconds)

    async def test_a_patch_that_does_not_apply_changes_nothing(
        self, sandboxes: DockerSandboxes, pro_data: Data
    ) -> None:
        found = await self.run(sandboxes, pro_data, pro_data.instances[1].row["patch"])
        assert (found.applied, found.statuses) == (False, {ADD: "FAILED", DOUBLE: "PASSED"})
        assert "greet.sh: No such file or directory" in found.log

    async def test_tests_that_do_not_end_are_ended(self, sandboxes: DockerSandboxes, pro_data: Data) -> None:
        found = await self.run(sandboxes, pro_data, "", seconds=1, run_script="sleep 60 & sleep 60")
        assert (found.problem, found.statuses) == ("the tests took longer than 1 s", {})
        assert found.seconds < 8

    @pytest.mark.parametrize(
        ("parser", "problem"),
        [
            ("pass", "the parser wrote no result"),
            ("raise SystemExit(3)", "the parser wrote no result"),
            (
                "open('/workspace/output.json', 'w').write('<html>')",
                "the parser's result is invalid",
            ),
            (
                "open('/workspace/output.json', 'w').write(' ' * (17 << 20))",
                "the parser's result is larger than 16 MiB",
            ),
            (
                "import os; os.symlink('/dev/zero', '/workspace/output.json')",
                "the parser wrote no result",
            ),
        ],
    )
    async def test_a_parser_that_says_nothing_of_use_is_told(
        self, parser: str, problem: str, sandboxes: DockerSandboxes, pro_data: Data
    ) -> None:
        found = await self.run(sandboxes, pro_data, "", run_script="", parser=parser)
        assert found.problem is not None
        assert found.problem.startswith(problem)
        assert found.statuses == {}

    async def test_a_result_that_nobody_writes_is_not_waited_for(
        self, sandboxes: DockerSandboxes, pro_data: Data
    ) -> None:
        parser = "import os; os.mkfifo('/workspace/output.json')"
        found = await self.run(sandboxes, pro_data, "", run_script="", parser=parser)
        assert found.problem == "the parser wrote no result"

    async def test_a_long_result_is_read_too(self, sandboxes: DockerSandboxes, pro_data: Data) -> None:
        others = "[{'name': f'other {n}', 'status': 'FAILED'} for n in range(20_000)]"
        ours = f"[{{'name': {ADD!r}, 'status': 'PASSED'}}]"
        parser = (
            f"import json; json.dump({{'tests': {others} + {ours}}}, open('/workspace/output.json', 'w'))"
        )
        async with offload_processes():
            found = await self.run(sandboxes, pro_data, "", run_script="", parser=parser)
        assert found.statuses == {ADD: "PASSED"}
