"""The list of the catalog's benchmarks, and functions that find a benchmark by name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean

DOCUMENTED_BENCHMARKS = (
    *("bfcl", "graphwalks", "hle", "humaneval", "ifeval", "longbench_v2", "mmlu", "mmlu_pro", "mrcr"),
    *("multi_if", "swe_bench", "swe_bench_pro", "tau_bench", "terminal_bench"),
)
"""The subpackages of the benchmarks that llm-benchmarker documents, in alphabetical order."""

ADDED_BENCHMARKS = (
    *("aa_lcr", "aime_2025", "aime_2026", "arc_agi_1", "arc_agi_2", "gpqa_diamond", "hmmt", "ifbench"),
    *("livecodebench", "math_500", "mmmu_pro", "multichallenge", "simpleqa", "simpleqa_verified"),
    *("swe_bench_multilingual", "tau2_bench"),
)
"""The subpackages of the benchmarks that were added later, in alphabetical order."""

BENCHMARKS = (*DOCUMENTED_BENCHMARKS, *ADDED_BENCHMARKS)
"""All subpackages with benchmarks."""

HARBOR_NAME = "harbor"
"""Name of the benchmark that runs a folder of tasks. A colon and the folder follow the name: `harbor:PATH`."""

DATA_OPTIONS = {"path": "Take the data from this file or directory."}

ROLE_OPTIONS = {
    "model": "The {role} model's name.",
    "base_url": "Where the {role} model is served; by default where the model is.",
    "api_key_env": "The environment variable that holds the key for it.",
    "headers": "Headers for it, each in a line as NAME=VALUE; by default those of the model, if it is at its address.",
    "headers_env": "Headers for it that environment variables hold, each in a line as NAME=VARIABLE.",
}


def list_abouts() -> Iterator[About]:
    """Yield the metadata of every benchmark. The metadata of its variants follow."""
    for room in BENCHMARKS:
        yield from importlib.import_module(f"benchwright.catalog.{room}.about").VARIANTS


def find_about(name: str) -> About:
    """Return the metadata of the benchmark with this name, such as `mmlu`, `mmlu:5shot` or `harbor:PATH`.

    Raises:
        UserError: If there is no benchmark of that name.
    """
    room, colon, rest = name.partition(":")
    if room == HARBOR_NAME and colon:
        from benchwright.catalog.harbor.about import about_of

        return about_of(rest)
    if room not in BENCHMARKS:
        raise UserError(
            f"There is no benchmark {name!r}.{did_you_mean(name, BENCHMARKS)} `benchwright list` shows them all."
        )
    variants = {
        one.full_name: one for one in importlib.import_module(f"benchwright.catalog.{room}.about").VARIANTS
    }
    if name not in variants:
        known = ", ".join(variants)
        raise UserError(
            f"There is no benchmark {name!r}.{did_you_mean(name, variants)} Choose from: {known}."
        )
    found: About = variants[name]
    return found


def make_benchmark(metadata: About, options: Options) -> Benchmark:
    """Build a benchmark with these options.

    Raises:
        UserError: If an option is unknown here, or its value cannot be used.
    """
    known = known_options(metadata)
    for name in options.values:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise UserError(
                f"{metadata.full_name} has no option {name!r}.{did_you_mean(name, known)} It has: {listed}."
            )
    module = importlib.import_module(f"benchwright.catalog.{metadata.name}.benchmark")
    made: Benchmark = module.make(metadata, options)
    return made


def known_options(metadata: About) -> dict[str, str]:
    """Return the names of a benchmark's options, each with its help.

    They include the options for the benchmark's data and for its roles.
    """
    roles = {
        f"{role}_{name}": text.format(role=role)
        for role in metadata.roles
        for name, text in ROLE_OPTIONS.items()
    }
    return {**metadata.options, **roles, **DATA_OPTIONS}
