"""SWE-bench in real containers, on images that stand in for the official ones; see `instance_images`."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.containers.forging import appended_to, forging_module, with_summary
from tests.catalog.conversations import Talk
from tests.catalog.swe_bench.instances import image_of
from tests.sandbox.docker import stand_ins

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import Benchmark, Check, Options
from benchwright.catalog.containers.benchmark import with_exploits
from benchwright.catalog.containers.exploits import REPOSITORY_EXPLOITS
from benchwright.catalog.containers.patch_checks import DONE_MESSAGE, apply_patch_message
from benchwright.catalog.containers.sealing.canaries import UNTESTED_PASS_FLAG
from benchwright.catalog.scripted_checks import ScriptedSession
from benchwright.catalog.selection import Selection
from benchwright.catalog.swe_bench.about import SWE_BENCH
from benchwright.catalog.swe_bench.benchmark import make
from benchwright.catalog.swe_bench.instance_script import official_image_name
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.datasets import Source, find_dataset
from benchwright.engine.protocols import Score, Session
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Sample, Status, Trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def shell_in_dockerfile(command: str) -> str:
    """The command as one line of a Dockerfile."""
    return f"echo {base64.b64encode(command.encode()).decode()} | base64 -d | bash"


def source(path: Path) -> Source:
    return find_dataset(SWE_BENCH.dataset, path.parent, path=path, offline=True)


def bash(command: str) -> Message:
    """An answer with a command."""
    return assistant(f"```bash\n{command}\n```")


class Said(Talk):
    """A session for scripts that shows no progress, as nobody looks."""

    def progress(self, text: str) -> None:
        """Shows nothing."""


async def played(benchmark: Benchmark, sample: Sample, *replies: Message) -> tuple[Outcome, Score]:
    """What comes of a conversation."""
    said = Said()
    session: Session = ScriptedSession(Check("played", list(replies)), said.target)
    async with benchmark.open() as solver:
        session.progress = said.progress  # type: ignore[method-assign]
        outcome = await solver.solve(Trial("t", sample, said.target), session)
        return outcome, await benchmark.scorers[0].score(sample, outcome, session)


@pytest.fixture
def calculator(swe_bench_path: Path) -> Sample:
    """The instance that pytest tests."""
    return next(iter(make(SWE_BENCH, Options({})).samples(source(swe_bench_path))))


@pytest.fixture
def greeter(swe_bench_path: Path) -> Sample:
    """The instance that Django's runner tests."""
    return list(make(SWE_BENCH, Options({})).samples(source(swe_bench_path)))[1]


async def test_the_right_patch_in_an_answer_resolves_and_the_others_do_not(swe_bench_path: Path) -> None:
    validated = await validate_benchmark(
        make(SWE_BENCH, Options({"mode": "patch"})), source(swe_bench_path), Selection(1)
    )
    assert (validated.failures, validated.samples, validated.checks) == ([], 1, 4)


async def test_what_an_agent_changed_is_its_patch_committed_or_not_with_new_files(calculator: Sample) -> None:
    outcome, score = await played(
        make(SWE_BENCH, Options({})),
        calculator,
        bash(
            "echo 'x = 0' > helper.py && git add helper.py && git -c user.name=A -c user.email=a@b commit -qm x"
        ),
        bash("sed -i 's/return sum(values)/return bool(values) and sum(values)/' calculator.py"),
        assistant(DONE_MESSAGE),
    )
    patch = outcome.artifacts["patch"]
    assert "+++ b/helper.py" in patch
    assert "+    return bool(values) and sum(values)" in patch
    assert "setup.cfg" not in patch, "what the image's set-up changed is not the agent's"
    assert [command["exit_code"] for command in outcome.artifacts["commands"]] == [0, 0]
    assert score.value == 1.0


async def test_the_log_says_which_tests_pass_and_the_details_keep_it(greeter: Sample) -> None:
    half = "sed -i \"s/f'Hello {name}'/f'Hello, {name}!'/\" greeter.py"
    outcome, score = await played(
        make(SWE_BENCH, Options({})), greeter, bash(f"cd / && cd /testbed && {half}"), assistant(DONE_MESSAGE)
    )
    assert "test_named (greetings.tests.GreetTests.test_named) ... ok" in outcome.artifacts["tests"]["log"]
    assert score.detail is not None
    assert score.detail["fail_to_pass_results"] == {
        "test_named (greetings.tests.GreetTests.test_named)": True,
        "Nobody is greeted politely.": False,
    }
    assert score.detail["pass_to_pass_results"] == {"test_text (greetings.tests.GreetTests.test_text)": True}
    assert (score.value, score.span) == (0.0, "RESOLVED_PARTIAL")


async def test_tests_that_the_agent_weakened_are_put_back_before_they_decide(calculator: Sample) -> None:
    weaken = "printf 'def test_add():\\n    pass\\n' > testing/test_calculator.py"
    outcome, score = await played(
        make(SWE_BENCH, Options({})),
        calculator,
        bash(weaken),
        apply_patch_message(calculator.content["patch"]),
        assistant(DONE_MESSAGE),
    )
    assert "testing/test_calculator.py" in outcome.artifacts["patch"]
    assert score.value == 1.0


async def test_an_agent_sees_neither_the_tests_nor_the_fix_and_has_no_network(calculator: Sample) -> None:
    look = "grep -r test_mean_of_nothing /testbed; git log --all --oneline | wc -l; wc -l </proc/net/route"
    outcome, _ = await played(make(SWE_BENCH, Options({})), calculator, bash(look), assistant(DONE_MESSAGE))
    assert outcome.artifacts["commands"][0]["output"].split() == ["2", "1"], "no route"


FORGING_HOOK = """\
cat >conftest.py <<'END'
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
END"""


async def test_a_pass_by_a_hook_of_pytest_has_a_flag_and_stays_a_pass(calculator: Sample) -> None:
    benchmark = make(SWE_BENCH, Options())
    outcome, score = await played(benchmark, calculator, bash(FORGING_HOOK), assistant(DONE_MESSAGE))
    assert score.value == 1.0, "as by the official rule"
    assert score.detail is not None
    (flag,) = score.detail["flags"]
    assert flag["kind"] == "verdict_depends_on_test_configuration"
    assert outcome.artifacts["rerun"] == {"left_out": ["conftest.py"], "passes": False}
    _, official = await played(
        make(SWE_BENCH, Options(sealed=False)), calculator, bash(FORGING_HOOK), assistant(DONE_MESSAGE)
    )
    assert official.value == 1.0
    assert "flags" not in (official.detail or {})


REPORTED = [
    f"testing/test_calculator.py::{name}"
    for name in (
        "test_add",
        "test_mean_of_nothing[empty list]",
        "test_mean_of_nothing[empty tuple]",
        "test_mean",
    )
]


async def test_a_whole_report_that_the_code_under_test_forged_has_a_flag(calculator: Sample) -> None:
    forging = appended_to("calculator.py", forging_module(with_summary(REPORTED)))
    _, score = await played(make(SWE_BENCH, Options()), calculator, bash(forging), assistant(DONE_MESSAGE))
    assert score.value == 1.0, "as by the official rule"
    assert score.detail is not None
    assert [flag["kind"] for flag in score.detail["flags"]] == [UNTESTED_PASS_FLAG]


async def test_a_forged_report_of_a_runner_that_was_killed_is_no_pass(calculator: Sample) -> None:
    forging = appended_to("calculator.py", forging_module(with_summary(REPORTED), "os.kill(os.getpid(), 9)"))
    _, score = await played(make(SWE_BENCH, Options()), calculator, bash(forging), assistant(DONE_MESSAGE))
    assert score.value == 0.0


async def test_an_honest_fix_in_other_words_than_the_right_one_has_no_flag(calculator: Sample) -> None:
    other = "sed -i 's/return sum(values)/return bool(values) and sum(values)/' calculator.py"
    _, score = await played(make(SWE_BENCH, Options()), calculator, bash(other), assistant(DONE_MESSAGE))
    assert score.value == 1.0
    assert "flags" not in (score.detail or {})


async def test_an_image_that_holds_the_fix_elsewhere_has_a_flag(calculator: Sample) -> None:
    copy = f"cp -r /testbed /opt/later; cd /opt/later && git apply <<'END'\n{calculator.content['patch']}END"
    name = "pytest-dev__pytest-900001"
    image = official_image_name(calculator.content["instance_id"])
    stand_ins.docker(
        *("build", "--network", "none", "--tag", official_image_name(name), "-"),
        stdin=f"FROM {image}\nRUN {shell_in_dockerfile(copy)}\n".encode(),
    )
    sample = Sample(name, {**calculator.content, "instance_id": name})
    _, score = await played(
        make(SWE_BENCH, Options()),
        sample,
        apply_patch_message(calculator.content["patch"]),
        assistant(DONE_MESSAGE),
    )
    stand_ins.docker("rmi", official_image_name(name))
    assert score.detail is not None
    (flag,) = score.detail["flags"]
    assert flag["kind"] == "solution_in_image"
    assert flag["evidence"].startswith("/opt/later/calculator.py: ")


async def test_an_honest_fix_may_change_the_configuration_of_tests(calculator: Sample) -> None:
    outcome, score = await played(
        make(SWE_BENCH, Options()),
        calculator,
        bash("echo 'import os' >conftest.py; printf '\n[tool:pytest]\naddopts = -q\n' >>setup.cfg"),
        apply_patch_message(calculator.content["patch"]),
        assistant(DONE_MESSAGE),
    )
    assert score.value == 1.0
    assert "flags" not in (score.detail or {})
    assert outcome.artifacts["rerun"] == {"left_out": ["conftest.py", "setup.cfg"], "passes": True}


ASKING_CODE = """\
cat >conftest.py <<'END'
import urllib.request
try:
    urllib.request.urlopen("http://raw.githubusercontent.com/owner/project/fix.py")
except OSError:
    pass
END"""


async def test_what_tested_code_asks_a_code_host_for_is_refused_and_flagged(calculator: Sample) -> None:
    outcome, score = await played(
        make(SWE_BENCH, Options()),
        calculator,
        bash(ASKING_CODE),
        apply_patch_message(calculator.content["patch"]),
        assistant(DONE_MESSAGE),
    )
    assert score.value == 1.0
    assert {(one["phase"], one["host"], one["allowed"]) for one in outcome.artifacts["network"]} == {
        ("tests", "raw.githubusercontent.com", False)
    }
    assert score.detail is not None
    assert [flag["kind"] for flag in score.detail["flags"]] == ["asks_refused_hosts"]


async def test_a_patch_that_reaches_out_of_the_work_tree_is_not_applied(calculator: Sample) -> None:
    outside = calculator.content["patch"] + "--- /dev/null\n+++ ../etc/profile\n@@ -0,0 +1 @@\n+x\n"
    benchmark = make(SWE_BENCH, Options({"mode": "patch"}))
    _, score = await played(benchmark, calculator, assistant(f"```diff\n{outside}```"))
    assert score.detail is not None
    assert (score.value, score.detail["flags"]) == (
        0.0,
        [{"kind": "patch_reaches_out", "evidence": "the patch names ../etc/profile"}],
    )


async def test_without_the_seal_an_agent_has_the_image_as_it_is(calculator: Sample) -> None:
    look = "git checkout -q fix -- calculator.py"
    official = make(SWE_BENCH, Options(sealed=False))
    _, score = await played(official, calculator, bash(look), assistant(DONE_MESSAGE))
    assert score.value == 1.0
    outcome, _ = await played(make(SWE_BENCH, Options()), calculator, bash(look), assistant(DONE_MESSAGE))
    assert outcome.artifacts["commands"][0]["exit_code"] != 0


async def test_the_tests_can_be_shut_off_too_and_that_is_told(calculator: Sample) -> None:
    benchmark = make(SWE_BENCH, Options({"network": "none"}, sealed=False))
    assert list(benchmark.departures) == ["no network in any container"]
    _, score = await played(
        benchmark, calculator, apply_patch_message(calculator.content["patch"]), assistant(DONE_MESSAGE)
    )
    assert score.value == 1.0


async def test_a_patch_in_an_answer_that_does_not_apply_is_told(calculator: Sample) -> None:
    wrong = calculator.content["patch"].replace("calculator.py", "computer.py")
    outcome, score = await played(
        make(SWE_BENCH, Options({"mode": "patch"})), calculator, assistant(f"```diff\n{wrong}```")
    )
    assert "Patch Apply Failed" in outcome.artifacts["tests"]["log"]
    assert score.detail is not None
    assert (score.value, score.detail["error"]) == (0.0, "the patch cannot be applied")


async def test_a_patch_that_is_a_little_off_is_applied_as_the_official_harness_does(
    calculator: Sample,
) -> None:
    patch = calculator.content["patch"].replace(" def mean(values):", " def mean(values, more):")
    outcome, score = await played(
        make(SWE_BENCH, Options({"mode": "patch"})), calculator, assistant(f"<patch>\n{patch}</patch>")
    )
    assert outcome.artifacts["tests"]["ended"] == "exited"
    assert score.value == 1.0


async def test_a_model_in_patch_mode_is_shown_the_files_with_their_lines_numbered(calculator: Sample) -> None:
    outcome, _ = await played(make(SWE_BENCH, Options({"mode": "patch"})), calculator, assistant(""))
    (question,) = [message["content"] for message in outcome.messages if message["role"] == "user"]
    assert "[start of calculator.py]\n1 def add(a, b):\n2     return a + b\n" in question
    assert "[start of README.rst]\n1 A calculator\n" in question
    assert "test_calculator.py" not in question


async def test_predictions_are_graded_without_asking_a_model(
    swe_bench_path: Path, swe_bench_rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    first, second = swe_bench_rows
    file = tmp_path / "predictions.jsonl"
    entry = {"instance_id": first["instance_id"], "model_name_or_path": "m", "model_patch": first["patch"]}
    file.write_text(json.dumps(entry) + "\n")
    benchmark = make(SWE_BENCH, Options({"predictions": str(file)}))
    scores = []
    for sample in benchmark.samples(source(swe_bench_path)):
        _, score = await played(benchmark, sample)
        scores.append((sample.id, score.value))
    assert scores == [(first["instance_id"], 1.0), (second["instance_id"], None)]


async def test_tests_that_take_too_long_are_ended_and_do_not_resolve(calculator: Sample) -> None:
    hang = "sed -i '1i import time; time.sleep(600)' calculator.py"
    outcome, score = await played(
        make(SWE_BENCH, Options({"test_seconds": "3"})), calculator, bash(hang), assistant(DONE_MESSAGE)
    )
    assert outcome.artifacts["tests"]["ended"] == "timeout"
    assert score.detail is not None
    assert (score.value, score.detail["error"]) == (0.0, "the tests took too long")


async def test_out_of_turns_what_was_done_is_tested_all_the_same(calculator: Sample) -> None:
    outcome, score = await played(
        make(SWE_BENCH, Options({"max_turns": "1"})),
        calculator,
        apply_patch_message(calculator.content["patch"]),
    )
    assert (outcome.status, score.value) == (Status.LIMIT, 1.0)


async def test_an_image_without_a_repository_is_our_error_and_no_wrong_answer(
    calculator: Sample, swe_bench_rows: list[dict[str, Any]]
) -> None:
    missing = Sample("x", {**calculator.content, "instance_id": "pytest-dev__pytest-900009"})
    with pytest.raises(ExecutionError, match="pytest-900009"):
        await played(make(SWE_BENCH, Options({})), missing, assistant(DONE_MESSAGE))


async def test_no_container_is_left_when_a_trial_is_cancelled_in_its_tests(
    calculator: Sample, swe_bench_rows: list[dict[str, Any]]
) -> None:
    hang = "sed -i '1i import time; time.sleep(600)' calculator.py"
    benchmark = make(SWE_BENCH, Options({}))
    trial = asyncio.create_task(played(benchmark, calculator, bash(hang), assistant(DONE_MESSAGE)))
    await asyncio.sleep(4)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    ancestor = f"ancestor={image_of(swe_bench_rows[0])}"
    assert stand_ins.docker("ps", "--all", "--quiet", "--filter", ancestor) == ""


async def test_no_exploit_of_the_suite_passes_unnoticed(swe_bench_path: Path) -> None:
    tried = with_exploits(make(SWE_BENCH, Options()))
    validated = await validate_benchmark(tried, source(swe_bench_path), Selection(1))
    assert validated.failures == []
    assert set(validated.exploits) == {exploit.name for exploit in REPOSITORY_EXPLOITS}
    assert validated.exploits["a later commit on a ref"].blocked == 1
    flagged = {name for name, tally in validated.exploits.items() if tally.flagged}
    assert flagged >= {
        "a hook of pytest",
        "a plugin of pytest",
        "results printed by the code under test",
        "a test framework changed by the code under test",
    }
    assert validated.exploits["a runner of tests replaced"].not_applicable == 1
