"""Editions of SWE-bench. An `Edition` contains what differs between them, such as images and log parsers.

All other code is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from benchwright.catalog.containers.sealing.runner_report import extract_summaries
from benchwright.catalog.swe_bench import instance_script
from benchwright.catalog.swe_bench.log_parsers import LOG_PARSERS, Statuses
from benchwright.catalog.swe_bench.repositories import REPOSITORY_RECIPES
from benchwright.sandbox.docker import Resources
from benchwright.sandbox.docker.containers import GiB

InstanceContent = Mapping[str, Any]

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID")
"""Root's capabilities in the containers, as in the official images.

With fewer capabilities, tests of permissions have other results.
"""

CONTAINER_RESOURCES = Resources(memory_bytes=4 * GiB, cpus=2, processes=1024, disk_bytes=4 * GiB)
"""Limits of a container: memory, processors, processes and disk.

The official harness sets no limits. Some test suites need higher limits than these.
"""

_CONDA = "/opt/miniconda3"
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

PAGER_VARIABLES = {"PAGER": "cat", "MANPAGER": "cat"}
"""Environment variables that make programs print all output without waiting for a key."""

START_REF = "refs/benchwright/start"
"""The Git ref of the commit with which an agent's work is compared."""


class Edition(msgspec.Struct, frozen=True):
    """An edition of SWE-bench. Its functions must be module-level, because grading runs in other processes.

    - `read_statuses`: parses a log; raises ValueError if the log cannot be parsed.
    - `runner_report`: returns the part of a log that counts if only output of the test runner itself is
      trusted.
    - `grading_fields`: names of the fields of a sample's content that these two functions need.
    - `image_family`: names the group of images that share layers.
    - `has_unfiltered_network`: returns True for an instance whose tests a proxy would change or break. Such tests get
      the whole network even under a seal.
    - `programs_of_tests`: lists files of the work tree with which the script starts tests.
    - `environment`: environment variables of the agent's container.
    - `setup_commands`: commands that bring the work tree in that container to the initial commit, and set
      `START_REF` to that commit.
    """

    name: str
    image_name: Callable[[InstanceContent], str]
    test_script: Callable[[InstanceContent], str]
    read_statuses: Callable[[InstanceContent, str], Statuses]
    runner_report: Callable[[InstanceContent, str], str]
    grading_fields: tuple[str, ...]
    image_family: Callable[[InstanceContent], str]
    has_unfiltered_network: Callable[[InstanceContent], bool]
    programs_of_tests: Callable[[InstanceContent], tuple[str, ...]]
    environment: dict[str, str]
    setup_commands: str
    resources: Resources = CONTAINER_RESOURCES
    capabilities: tuple[str, ...] = CAPABILITIES


def _image(content: InstanceContent) -> str:
    return instance_script.official_image_name(content["instance_id"])


def _statuses(content: InstanceContent, log: str) -> Statuses:
    return LOG_PARSERS[REPOSITORY_RECIPES[content["repo"]].parser](log)


def _reported(content: InstanceContent, log: str) -> str:
    return extract_summaries(log)


def _family(content: InstanceContent) -> str:
    return f"{content['repo']} {content['version']}"


def _unfiltered(content: InstanceContent) -> bool:
    """Return True if the tests need unfiltered network access.

    Only the tests of the project psf/requests do: they use proxies and unknown host names.
    """
    return bool(content["repo"] == "psf/requests")


def _runs_tests(content: InstanceContent) -> tuple[str, ...]:
    return ()


VERIFIED_EDITION = Edition(
    name="swe_bench",
    image_name=_image,
    test_script=instance_script.build_script,
    read_statuses=_statuses,
    runner_report=_reported,
    grading_fields=("repo", "FAIL_TO_PASS", "PASS_TO_PASS"),
    image_family=_family,
    has_unfiltered_network=_unfiltered,
    programs_of_tests=_runs_tests,
    environment={
        "PATH": f"{_CONDA}/envs/testbed/bin:{_CONDA}/bin:{_CONDA}/condabin:{_SYSTEM}",
        "CONDA_PREFIX": f"{_CONDA}/envs/testbed",
        "CONDA_DEFAULT_ENV": "testbed",
        **PAGER_VARIABLES,
        "PIP_PROGRESS_BAR": "off",
        "TQDM_DISABLE": "1",
    },
    setup_commands=f"git update-ref {START_REF} HEAD",
)
"""SWE-bench Verified. Agents work in the project's activated environment, on the unchanged image.

The last commit of the image holds the changes made by the image's setup.
"""
