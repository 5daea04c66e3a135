"""Maps the names of official parsers to runners. For some projects, the instance's id decides, too."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers import c, go, java, javascript, php, ruby, rust
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import Runner

RUNNERS = {
    "parse_log_ant": java.ANT,
    "parse_log_cargo": rust.CARGO,
    "parse_log_cucumber": ruby.CUCUMBER,
    "parse_log_doctest": c.DOCTEST,
    "parse_log_googletest": c.GOOGLETEST,
    "parse_log_gotest": go.GO,
    "parse_log_gradle_custom": java.GRADLE,
    "parse_log_jest": javascript.JEST,
    "parse_log_jest_json": javascript.JEST_JSON,
    "parse_log_jq": c.JQ,
    "parse_log_karma": javascript.KARMA,
    "parse_log_maven": java.MAVEN,
    "parse_log_micropython_test": c.MICROPYTHON,
    "parse_log_minitest": ruby.MINITEST,
    "parse_log_phpunit": php.PHPUNIT,
    "parse_log_redis": c.REDIS,
    "parse_log_rspec_transformed_json": ruby.RSPEC,
    "parse_log_ruby_unit": ruby.TEST_UNIT,
    "parse_log_tap": javascript.TAP,
    "parse_log_vitest": javascript.VITEST,
}

_BY_NUMBER = {
    "parse_log_immutable_js": {"2005": javascript.JEST_JSON, "2006": javascript.JEST},
    "parse_log_jekyll": {
        **dict.fromkeys(("8047", "8167", "9141"), ruby.MINITEST),
        **dict.fromkeys(("8761", "8771"), ruby.CUCUMBER),
    },
}
"""Mapping from a parser's name to its runners, for parsers that stand for several runners.

The runners are keyed by the number at the end of an instance's id.
"""


def runner_of(parser: str, instance: str) -> Runner | None:
    """Return the runner for an official parser's name and an instance's id. Return None if the parser is unknown."""
    if parser in _BY_NUMBER:
        return _BY_NUMBER[parser].get(instance.rpartition("-")[2])
    return RUNNERS.get(parser)
