"""SWE-bench Multilingual as an edition of SWE-bench."""

from __future__ import annotations

from benchwright.catalog.swe_bench.edition import (
    CAPABILITIES,
    PAGER_VARIABLES,
    START_REF,
    Edition,
    InstanceContent,
)
from benchwright.catalog.swe_bench.log_parsers import Statuses
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import TestRunner
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner_registry import find_runner
from benchwright.catalog.swe_bench_multilingual.projects import PROJECT_LANGUAGES
from benchwright.catalog.swe_bench_multilingual.scripts import build_instance_script, find_test_programs
from benchwright.sandbox.docker import Resources
from benchwright.sandbox.docker.containers import GiB

MEMORY_GIB = 16

UNFILTERED_NETWORK_DEPARTURE = (
    "sealed: tests of projects in Java, whose programs ask no proxy, and of axios, which are about proxies, have the "
    "whole network"
)
"""The departure that states how this edition's seal differs from the seal of SWE-bench Verified."""

_AS_IT_IS = f"""
git config --global --add safe.directory "$PWD" && rm -f .git/index.lock && git add --all &&
git -c user.name=benchwright -c user.email=benchwright@localhost -c commit.gpgSign=false -c core.hooksPath=/dev/null \\
  commit --quiet --no-verify --allow-empty --message 'Set up' &&
git update-ref {START_REF} HEAD
"""
"""Shell commands that commit the image's uncommitted setup changes, which belong to no patch."""


def _runner(content: InstanceContent) -> TestRunner:
    runner = find_runner(content["log_parser"], content["instance_id"])
    assert runner is not None, "rows are checked when they are read"
    return runner


def _image(content: InstanceContent) -> str:
    return str(content["image"])


def _statuses(content: InstanceContent, log: str) -> Statuses:
    return _runner(content).parse_log(log)


def _reported(content: InstanceContent, log: str) -> str:
    return _runner(content).runner_report(log)


def _family(content: InstanceContent) -> str:
    return str(content["repo"])


def _unfiltered(content: InstanceContent) -> bool:
    repo = content["repo"].lower()
    return repo == "axios/axios" or PROJECT_LANGUAGES[repo] == "Java"


MULTILINGUAL_EDITION = Edition(
    name="swe_bench_multilingual",
    image_name=_image,
    test_script=build_instance_script,
    read_statuses=_statuses,
    runner_report=_reported,
    grading_fields=("instance_id", "log_parser", "FAIL_TO_PASS", "PASS_TO_PASS"),
    image_family=_family,
    has_unfiltered_network=_unfiltered,
    programs_of_tests=find_test_programs,
    environment=PAGER_VARIABLES,
    setup_commands=_AS_IT_IS,
    resources=Resources(memory_bytes=MEMORY_GIB * GiB, cpus=4, processes=4096, disk_bytes=16 * GiB),
    capabilities=(*CAPABILITIES, "NET_BIND_SERVICE", "SYS_CHROOT"),
)
"""The edition SWE-bench Multilingual.

It has larger limits for compilers and caches, and more capabilities for servers and shells.
"""
