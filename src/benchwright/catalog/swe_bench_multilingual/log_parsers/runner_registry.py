"""Maps the names of official parsers to runners. For some projects, the instance's id decides, too."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers import (
    c_runners,
    go_runners,
    java_runners,
    javascript_runners,
    php_runners,
    ruby_runners,
    rust_runners,
)
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import TestRunner

RUNNERS_BY_PARSER = {
    "parse_log_ant": java_runners.ANT_RUNNER,
    "parse_log_cargo": rust_runners.CARGO_RUNNER,
    "parse_log_cucumber": ruby_runners.CUCUMBER_RUNNER,
    "parse_log_doctest": c_runners.DOCTEST_RUNNER,
    "parse_log_googletest": c_runners.GOOGLETEST_RUNNER,
    "parse_log_gotest": go_runners.GO_RUNNER,
    "parse_log_gradle_custom": java_runners.GRADLE_RUNNER,
    "parse_log_jest": javascript_runners.JEST_RUNNER,
    "parse_log_jest_json": javascript_runners.JEST_JSON_RUNNER,
    "parse_log_jq": c_runners.JQ_RUNNER,
    "parse_log_karma": javascript_runners.KARMA_RUNNER,
    "parse_log_maven": java_runners.MAVEN_RUNNER,
    "parse_log_micropython_test": c_runners.MICROPYTHON_RUNNER,
    "parse_log_minitest": ruby_runners.MINITEST_RUNNER,
    "parse_log_phpunit": php_runners.PHPUNIT_RUNNER,
    "parse_log_redis": c_runners.REDIS_RUNNER,
    "parse_log_rspec_transformed_json": ruby_runners.RSPEC_RUNNER,
    "parse_log_ruby_unit": ruby_runners.TEST_UNIT_RUNNER,
    "parse_log_tap": javascript_runners.TAP_RUNNER,
    "parse_log_vitest": javascript_runners.VITEST_RUNNER,
}

_BY_NUMBER = {
    "parse_log_immutable_js": {
        "2005": javascript_runners.JEST_JSON_RUNNER,
        "2006": javascript_runners.JEST_RUNNER,
    },
    "parse_log_jekyll": {
        **dict.fromkeys(("8047", "8167", "9141"), ruby_runners.MINITEST_RUNNER),
        **dict.fromkeys(("8761", "8771"), ruby_runners.CUCUMBER_RUNNER),
    },
}
"""Mapping from a parser's name to its runners, for parsers that stand for several runners.

The runners are keyed by the number at the end of an instance's id.
"""


def find_runner(parser: str, instance: str) -> TestRunner | None:
    """Return the runner for an official parser's name and an instance's id. Return None if the parser is unknown."""
    if parser in _BY_NUMBER:
        return _BY_NUMBER[parser].get(instance.rpartition("-")[2])
    return RUNNERS_BY_PARSER.get(parser)
