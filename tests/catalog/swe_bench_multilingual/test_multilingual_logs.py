"""What each runner prints, what is read from it, and what of it only the runner can have written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchwright.catalog.swe_bench import grading
from benchwright.catalog.swe_bench.grading import flag_printed_elsewhere, grade
from benchwright.catalog.swe_bench_multilingual.edition import MULTILINGUAL_EDITION
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner_registry import (
    RUNNERS_BY_PARSER,
    find_runner,
)
from benchwright.engine.offload import offload_processes

LOGS: dict[str, tuple[str, dict[str, str]]] = {
    "parse_log_gotest": (
        "=== RUN   TestHalf\n=== RUN   TestHalf/of_0\n--- FAIL: TestHalf (0.00s)\n"
        "    --- PASS: TestHalf/of_0 (0.00s)\n"
        "    it_test.go:7: 2\n--- SKIP: TestLong (0.10s)\nFAIL\nFAIL\texample.org/sums\t0.003s\nFAIL\n",
        {"TestHalf": "FAILED", "TestHalf/of_0": "PASSED", "TestLong": "SKIPPED"},
    ),
    "parse_log_cargo": (
        "     Running unittests src/lib.rs (target/debug/deps/sums-1)\n\nrunning 4 tests\n"
        "test tests::adds ... ok\n"
        "test tests::halves ... FAILED\ntest tests::slow ... ignored\n"
        "test tests::stops - should panic ... ok\n\n"
        "test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        {"tests::adds": "PASSED", "tests::halves": "FAILED"},
    ),
    "parse_log_maven": (
        "+ mvnd test -B -pl sums -Dtest=org.It#adds\n+ mvnd test -B -pl sums -Dtest=org.It#halves\n"
        "[INFO] Tests run: 1\n"
        f"[INFO] {'-' * 72}\n[INFO] BUILD SUCCESS\n[INFO] {'-' * 72}\n[INFO] Total time:  1 s\n"
        f"[INFO] {'-' * 72}\n[INFO] BUILD FAILURE\n[INFO] {'-' * 72}\n",
        {"org.It#adds": "PASSED", "org.It#halves": "FAILED"},
    ),
    "parse_log_ant": (
        "    [junit] Running org.It\n    [junit] [PASS] adds(org.It)\n    [junit] [ERR] halves(org.It)\n"
        "    [junit] Tests run: 2, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: 1 sec\n",
        {"adds(org.It)": "PASSED", "halves(org.It)": "FAILED"},
    ),
    "parse_log_gradle_custom": (
        "> Task :test\n\norg.It > adds PASSED\n\norg.It > halves\nwarning: x\nFAILED\n"
        "org.It > waits SKIPPED\n"
        "|  Results: FAILURE (3 tests, 1 passed, 1 failed, 1 skipped)  |\n",
        {"org.It > adds": "PASSED", "org.It > halves": "FAILED"},
    ),
    "parse_log_phpunit": (
        "PHPUnit 11.5.2 by Sebastian Bergmann and contributors.\n\nSums (Tests\\Sums)\n ✔ It adds\n"
        " ✘ It halves\n   │\n"
        " ↩ It waits\n\nFAILURES!\nTests: 3, Assertions: 3, Failures: 1, Skipped: 1.\n",
        {"Sums > It adds": "PASSED", "Sums > It halves": "FAILED", "Sums > It waits": "SKIPPED"},
    ),
    "parse_log_minitest": (
        "# Running:\n\nTestSums#test_adds. = 0.01 s = .\nTestSums#test_halves. = 0.00 s = F\n"
        "TestSums#test_waits. = 0.00 s = S\n\nFinished in 0.1s, 1 runs/s, 1 assertions/s.\n",
        {"TestSums#test_adds": "PASSED", "TestSums#test_halves": "FAILED", "TestSums#test_waits": "PASSED"},
    ),
    "parse_log_cucumber": (
        "features/sums.feature:6 ....\nfeatures/sums.feature:9 ..F-\n\n2 scenarios (1 failed, 1 passed)\n",
        {"features/sums.feature:6": "PASSED", "features/sums.feature:9": "FAILED"},
    ),
    "parse_log_ruby_unit": (
        "TestSums: \n  test: it adds:\t.: (0.001)\n  test_halves:\tF\n===\n  test_waits:\tO: (0.001)\n\n"
        "Finished in 0.1 seconds.\n"
        "3 tests, 3 assertions, 1 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications\n",
        {"it adds": "PASSED", "test_halves": "FAILED", "test_waits": "SKIPPED"},
    ),
    "parse_log_rspec_transformed_json": (
        "adds - passed\nhalves - failed\nwaits - pending\n",
        {"adds": "PASSED", "halves": "FAILED"},
    ),
    "parse_log_jest": (
        "PASS test/sums.js\n  sums\n    ✓ adds (3 ms)\n    ✕ halves 8 (1 ms)\n    ○ skipped waits\n\n"
        "Tests:       1 failed, 1 skipped, 1 passed, 3 total\nTime:        1 s\n",
        {"adds": "PASSED", "halves 8": "FAILED", "skipped waits": "SKIPPED"},
    ),
    "parse_log_jest_json": (
        "[PASSED] sums > adds\n[FAILED] sums > halves\n[PENDING] sums > waits\n",
        {"sums > adds": "PASSED", "sums > halves": "FAILED"},
    ),
    "parse_log_vitest": (
        " ✓ sums.spec.ts > sums > adds 3ms\n × sums.spec.ts > halves\n ↓ sums.spec.ts > waits [skipped]\n"
        "\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed | 1 skipped (3)\n",
        {
            "sums.spec.ts > sums > adds": "PASSED",
            "sums.spec.ts > halves": "FAILED",
            "sums.spec.ts > waits": "SKIPPED",
        },
    ),
    "parse_log_karma": (
        "  ✔ before the browser\nStarting browser ChromeHeadless\n  sums\n    wholes\n      ✔ adds\n"
        "      ✖ halves\n"
        "Finished in 0.1 secs\n\nSUMMARY:\n✔ 1 test completed\n",
        {"sums > wholes > adds": "PASSED", "sums > wholes > halves": "FAILED"},
    ),
    "parse_log_tap": (
        "1..3\nok 1 sums adds\nnot ok 2 sums halves\n"
        "  expected 4\nok 3 sums waits # SKIP -\n# tests 3\n# pass 1\n# fail 1\n",
        {"sums adds": "PASSED", "sums halves": "FAILED", "sums waits # SKIP -": "PASSED"},
    ),
    "parse_log_redis": (
        "[testing]: unit/sums\n[ok]: ADD adds (3 ms)\n[err]: HALF of 8 in tests/unit/sums.tcl\nExpected 4\n"
        "[ignore]: WAIT\n"
        "[1/1 done]: unit/sums (1 seconds)\n\n                   The End\n",
        {"ADD adds": "PASSED", "HALF of 8": "FAILED", "WAIT": "SKIPPED"},
    ),
    "parse_log_jq": (
        "PASS: tests/optionaltest\nFAIL: tests/jqtest\nSKIP: tests/manualtest\n"
        "Testsuite summary for jq 1.7\n# TOTAL: 3\n",
        {"tests/optionaltest": "PASSED", "tests/jqtest": "FAILED"},
    ),
    "parse_log_doctest": (
        '<?xml version="1.0"?>\n<doctest binary="it">\n<TestCase name="sums"><SubCase name="adds">'
        '<Expression success="true"/></SubCase><SubCase name="halves"><Expression success="true"/>'
        '<Expression success="false"/></SubCase></TestCase>\n</doctest>\n',
        {"sums > adds": "PASSED", "sums > halves": "FAILED"},
    ),
    "parse_log_micropython_test": (
        "pass  basics/sums.py\nFAIL  basics/half.py\nskip  thread/wait.py\n"
        "2 tests performed (2 individual testcases)\n",
        {"basics/sums.py": "PASSED", "basics/half.py": "FAILED", "thread/wait.py": "SKIPPED"},
    ),
    "parse_log_googletest": (
        "1: [==========] Running 2 tests from 1 test suite.\n1: [ RUN      ] sums.adds\n"
        "1: [       OK ] sums.adds (0 ms)\n"
        "1: [  FAILED  ] sums.halves (0 ms)\n1: [==========] 2 tests from 1 test suite ran. (0 ms total)\n"
        "1: [  FAILED  ] sums.halves\n",
        {"sums.adds": "PASSED", "sums.halves": "FAILED"},
    ),
}
"""A short log of each runner, and the tests in it."""

WITHOUT_AN_END = {"parse_log_doctest", "parse_log_jest_json", "parse_log_rspec_transformed_json"}
"""Programs whose output comes at once when they have ended, or not at all."""


def test_there_is_a_log_of_every_runner() -> None:
    assert set(LOGS) == set(RUNNERS_BY_PARSER)


@pytest.mark.parametrize("parser", LOGS)
def test_the_log_of_a_runner_is_read_and_all_of_it_is_the_runners_own(parser: str) -> None:
    log, statuses = LOGS[parser]
    assert RUNNERS_BY_PARSER[parser].parse_log(log) == statuses
    assert RUNNERS_BY_PARSER[parser].parse_log(RUNNERS_BY_PARSER[parser].runner_report(log)) == statuses


@pytest.mark.parametrize("parser", set(LOGS) - WITHOUT_AN_END)
def test_a_pass_in_a_log_that_its_runner_did_not_end_is_flagged(parser: str) -> None:
    log, statuses = LOGS[parser]
    content = {"instance_id": "x__x-1", "log_parser": parser, "PASS_TO_PASS": []}
    content["FAIL_TO_PASS"] = [name for name, status in statuses.items() if status == "PASSED"]
    whole, cut = (marked(text) for text in (log, _without_its_end(parser, log)))
    assert (
        grade(content, whole, MULTILINGUAL_EDITION).score
        == grade(content, cut, MULTILINGUAL_EDITION).score
        == 1.0
    )
    assert flags(content, whole) == []
    assert flags(content, cut) == ["results_printed_elsewhere"]


def _without_its_end(parser: str, log: str) -> str:
    """The log to its last result; of Maven's builds without the rules around their ends."""
    if parser == "parse_log_maven":
        return log.replace("-" * 72, "")
    runner, lines = RUNNERS_BY_PARSER[parser], log.splitlines(keepends=True)
    shortest = next(
        end for end in range(len(lines)) if runner.parse_log("".join(lines[:end])) == runner.parse_log(log)
    )
    return "".join(lines[:shortest])


def marked(text: str) -> str:
    """The text between the marks of the results."""
    return f">>>>> Start Test Output\n{text}>>>>> End Test Output\n"


def flags(content: Mapping[str, Any], log: str) -> list[str]:
    """The kinds of flags of what was printed elsewhere."""
    verdict = grade(content, log, MULTILINGUAL_EDITION)
    return [flag.kind for flag in flag_printed_elsewhere(content, log, verdict, MULTILINGUAL_EDITION)]


@pytest.mark.parametrize(
    ("parser", "instance", "like"),
    [
        ("parse_log_immutable_js", "immutable-js__immutable-js-2005", "parse_log_jest_json"),
        ("parse_log_immutable_js", "immutable-js__immutable-js-2006", "parse_log_jest"),
        ("parse_log_jekyll", "jekyll__jekyll-9141", "parse_log_minitest"),
        ("parse_log_jekyll", "jekyll__jekyll-8761", "parse_log_cucumber"),
    ],
)
def test_projects_with_several_runners_are_read_by_the_number_of_the_instance(
    parser: str, instance: str, like: str
) -> None:
    assert find_runner(parser, instance) is RUNNERS_BY_PARSER[like]


def test_a_carriage_return_ends_a_line_as_where_a_file_is_read() -> None:
    content = {"instance_id": "x__x-1", "log_parser": "parse_log_cargo", "PASS_TO_PASS": []}
    log = marked("Building 90%\rtest it ... ok\r\n")
    assert grade({**content, "FAIL_TO_PASS": ["it"]}, log, MULTILINGUAL_EDITION).score == 1.0


@pytest.mark.parametrize(
    ("parser", "log"),
    [
        ("parse_log_doctest", '<doctest binary="it"><TestCase name="sums">\n'),
        ("parse_log_karma", "Starting browser\n      a\n    b\n  c\n"),
    ],
)
def test_a_log_that_the_official_reader_breaks_on_is_no_result(parser: str, log: str) -> None:
    content = {"instance_id": "x__x-1", "log_parser": parser, "FAIL_TO_PASS": ["a"], "PASS_TO_PASS": []}
    said = grade(content, marked(log), MULTILINGUAL_EDITION)
    assert (said.score, "error" in said.details) == (0.0, True)


async def test_a_log_that_takes_forever_to_read_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "PARSE_SECONDS", 1.0)
    content = {
        "instance_id": "x__x-1",
        "log_parser": "parse_log_minitest",
        "FAIL_TO_PASS": ["a"],
        "PASS_TO_PASS": [],
    }
    async with offload_processes():
        verdict, flags = await grading.grade_with_flags(
            content, marked(". " * 5000 + "=" * 5000), MULTILINGUAL_EDITION
        )
    assert (verdict.score, verdict.details["error"], flags) == (0.0, "the log was not read in 1 s", [])
