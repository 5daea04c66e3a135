"""Which images a task of Terminal-Bench needs, and what they are built on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.terminal_bench.terminal_kit import write_first, write_harbor

from benchwright.catalog.benchmark import About, Options
from benchwright.catalog.containers import ContainerBenchmark
from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.terminal_bench.about import TERMINAL_BENCH, TERMINAL_BENCH_1
from benchwright.catalog.terminal_bench.benchmark import make
from benchwright.data.datasets import find_dataset


def images(root: Path, about: About) -> TaskImages:
    """The images of the only task."""
    benchmark = make(about, Options({}))
    assert isinstance(benchmark, ContainerBenchmark)
    assert benchmark.images_of is not None
    (sample,) = benchmark.samples(find_dataset(about.dataset, root.parent, path=root, offline=True))
    return benchmark.images_of(sample)


def test_one_that_is_named_and_the_one_that_may_be_built_in_its_place(tmp_path: Path) -> None:
    files = {"environment/Dockerfile": "FROM --platform=linux/amd64 ubuntu:24.04 AS base\nFROM base\n"}
    environment = 'docker_image = "someone/task:1"\nworkdir = "/app"'
    write_harbor(tmp_path, "a-task", files=files, sections={"environment": environment})
    found = images(tmp_path, TERMINAL_BENCH)
    assert found.own_images == ("someone/task:1", "benchwright/terminal-bench-2-a-task")
    assert (found.image_family, found.shared_images) == ("ubuntu:24.04", ("ubuntu:24.04",))


@pytest.mark.parametrize(
    ("dockerfile", "family"),
    [
        ("from python:3.13-slim\n", "python:3.13-slim"),
        ("FROM golang:1 AS made\nFROM debian:12\nCOPY --from=made /x /x\n", "debian:12"),
        ("FROM scratch\n", ""),
        ("ARG BASE=ubuntu\nFROM $BASE\n", ""),
    ],
)
def test_the_family_is_what_the_last_stage_is_built_on(tmp_path: Path, dockerfile: str, family: str) -> None:
    write_first(tmp_path, "a-task", files={"Dockerfile": dockerfile})
    found = images(tmp_path, TERMINAL_BENCH_1)
    assert found.own_images == ("benchwright/terminal-bench-1.0-a-task",)
    assert found.image_family == family
