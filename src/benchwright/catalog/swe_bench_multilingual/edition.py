"""SWE-bench Multilingual as an edition of SWE-bench."""

from __future__ import annotations

from benchwright.catalog.swe_bench.edition import CAPABILITIES, PAGERS, START_REF, Content, Edition
from benchwright.catalog.swe_bench.log_parsers import Statuses
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import Runner
from benchwright.catalog.swe_bench_multilingual.log_parsers.runners import runner_of
from benchwright.catalog.swe_bench_multilingual.projects import LANGUAGES
from benchwright.catalog.swe_bench_multilingual.scripts import instance_script, programs_of_tests
from benchwright.sandbox.docker import Resources
from benchwright.sandbox.docker.containers import GiB

MEMORY_GIB = 16

UNFILTERED_DEPARTURE = (
    "sealed: tests of projects in Java, whose programs ask no proxy, and of axios, which are about proxies, have the "
    "whole network"
)
"""The departure by which its seal differs from the seal of SWE-bench Verified."""

_AS_IT_IS = f"""
git config --global --add safe.directory "$PWD" && rm -f .git/index.lock && git add --all &&
git -c user.name=benchwright -c user.email=benchwright@localhost -c commit.gpgSign=false -c core.hooksPath=/dev/null \\
  commit --quiet --no-verify --allow-empty --message 'Set up' &&
git update-ref {START_REF} HEAD
"""
"""Commits the image's uncommitted setup changes, which belong to no patch."""


def _runner(content: Content) -> Runner:
    runner = runner_of(content["log_parser"], content["instance_id"])
    assert runner is not None, "rows are checked when they are read"
    return runner


def _image(content: Content) -> str:
    return str(content["image"])


def _statuses(content: Content, log: str) -> Statuses:
    return _runner(content).parse(log)


def _reported(content: Content, log: str) -> str:
    return _runner(content).runner_report(log)


def _family(content: Content) -> str:
    return str(content["repo"])


def _unfiltered(content: Content) -> bool:
    repo = content["repo"].lower()
    return repo == "axios/axios" or LANGUAGES[repo] == "Java"


MULTILINGUAL_EDITION = Edition(
    name="swe_bench_multilingual",
    image=_image,
    script=instance_script,
    read_statuses=_statuses,
    runner_report=_reported,
    grading_fields=("instance_id", "log_parser", "FAIL_TO_PASS", "PASS_TO_PASS"),
    image_family=_family,
    is_unfiltered=_unfiltered,
    programs_of_tests=programs_of_tests,
    environment=PAGERS,
    setup_commands=_AS_IT_IS,
    resources=Resources(memory_bytes=MEMORY_GIB * GiB, cpus=4, processes=4096, disk_bytes=16 * GiB),
    capabilities=(*CAPABILITIES, "NET_BIND_SERVICE", "SYS_CHROOT"),
)
"""SWE-bench Multilingual.

It has larger limits for compilers and caches, and more capabilities for servers and shells.
"""
