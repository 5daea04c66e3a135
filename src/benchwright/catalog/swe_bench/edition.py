"""What each edition of SWE-bench has of its own: the image and the script of an instance, how its log is read, and what
its containers may use. Everything else is the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from benchwright.catalog.containers.sealing.closing import summarized
from benchwright.catalog.swe_bench import evaluation
from benchwright.catalog.swe_bench.log_parsers import PARSERS, Statuses
from benchwright.catalog.swe_bench.repositories import RECIPES
from benchwright.sandbox.docker import Resources
from benchwright.sandbox.docker.containers import GiB

Content = Mapping[str, Any]

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID")
"""Root's, as the official images have it: with less, tests of permissions come out otherwise."""

RESOURCES = Resources(memory_bytes=4 * GiB, cpus=2, processes=1024, disk_bytes=4 * GiB)
"""The official harness sets no limits; some test suites do not fit into less."""

_CONDA = "/opt/miniconda3"
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

PAGERS = {"PAGER": "cat", "MANPAGER": "cat"}
"""Programs that wait for no key."""

START_REF = "refs/benchwright/start"
"""The commit that an agent's work differs from."""


class Edition(msgspec.Struct, frozen=True):
    """An edition; its functions are those of modules, as grading takes place in other processes.

    `statuses` reads a log, and raises ValueError where it cannot; `reported` is the part of a log that counts if only
    the runner of the tests is believed. `graded_by` are the parts of a sample's content that both need. `family` names
    what an image shares layers with. `unfiltered` says whether a proxy would change or break the tests of an instance,
    which then have the whole network under a seal, too. `runs_tests` are files of the work tree that its script starts
    tests with. An agent's container has this `environment`; `prepare` are commands that bring its work tree to the
    start, and lay its commit at `START_REF`.
    """

    name: str
    image: Callable[[Content], str]
    script: Callable[[Content], str]
    statuses: Callable[[Content, str], Statuses]
    reported: Callable[[Content, str], str]
    graded_by: tuple[str, ...]
    family: Callable[[Content], str]
    unfiltered: Callable[[Content], bool]
    runs_tests: Callable[[Content], tuple[str, ...]]
    environment: dict[str, str]
    prepare: str
    resources: Resources = RESOURCES
    capabilities: tuple[str, ...] = CAPABILITIES


def _image(content: Content) -> str:
    return evaluation.image(content["instance_id"])


def _statuses(content: Content, log: str) -> Statuses:
    return PARSERS[RECIPES[content["repo"]].parser](log)


def _reported(content: Content, log: str) -> str:
    return summarized(log)


def _family(content: Content) -> str:
    return f"{content['repo']} {content['version']}"


def _unfiltered(content: Content) -> bool:
    """The tests of psf/requests are about proxies, and names that do not exist."""
    return bool(content["repo"] == "psf/requests")


def _runs_tests(content: Content) -> tuple[str, ...]:
    return ()


VERIFIED = Edition(
    name="swe_bench",
    image=_image,
    script=evaluation.script,
    statuses=_statuses,
    reported=_reported,
    graded_by=("repo", "FAIL_TO_PASS", "PASS_TO_PASS"),
    family=_family,
    unfiltered=_unfiltered,
    runs_tests=_runs_tests,
    environment={
        "PATH": f"{_CONDA}/envs/testbed/bin:{_CONDA}/bin:{_CONDA}/condabin:{_SYSTEM}",
        "CONDA_PREFIX": f"{_CONDA}/envs/testbed",
        "CONDA_DEFAULT_ENV": "testbed",
        **PAGERS,
        "PIP_PROGRESS_BAR": "off",
        "TQDM_DISABLE": "1",
    },
    prepare=f"git update-ref {START_REF} HEAD",
)
"""SWE-bench Verified: agents work in the activated environment of the project, on the image as it is, whose last commit
holds what setting it up has changed."""
