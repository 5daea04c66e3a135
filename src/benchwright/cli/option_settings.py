"""Makes the settings of a run from the options of its command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.cli.agent_options import single_agent
from benchwright.cli.option_values import (
    make_settings,
    merge_model_options,
    parse_json_pairs,
    parse_pairs,
    parse_repeated_pairs,
)

if TYPE_CHECKING:
    from benchwright.config import BenchmarkSettings, EvalSettings, PackSettings


def eval_settings(options: dict[str, Any]) -> EvalSettings:
    """Return the settings made from the options of `eval`."""
    from benchwright.config import EvalSettings

    merge_model_options(options)
    options["agent"] = single_agent(options["agent"])
    if ":" in (options["agent"] or ""):  # the documented use of --agent for modules
        options["agent"], options["module"] = None, options["agent"]
    options["param"] = parse_json_pairs(options["param"], "--param")
    options["column"] = parse_pairs(options["column"], "--column")
    options["scorer_option"] = parse_pairs(options["scorer_option"], "--scorer-option")
    return make_settings(EvalSettings, options)


def benchmark_settings(options: dict[str, Any]) -> BenchmarkSettings:
    """Return the settings made from the options of `run`."""
    from benchwright.config import BenchmarkSettings

    merge_model_options(options)
    options["agent"] = single_agent(options["agent"])
    options["param"] = parse_json_pairs(options["param"], "--param")
    options["where"] = parse_repeated_pairs(options["where"], "--where")
    options["option"] = parse_pairs(options["option"], "--option")
    if options.pop("no_seed"):
        options["seed"] = None
    elif options["seed"] is None:
        del options["seed"]
    return make_settings(BenchmarkSettings, options)


def pack_settings(options: dict[str, Any]) -> PackSettings:
    """Return the settings made from the options of `pack run`."""
    from benchwright.config import PackSettings

    options["param"] = parse_json_pairs(options["param"], "--param")
    merge_model_options(options)
    return make_settings(PackSettings, options)
