"""swe_bench:documented and swe_bench_pro:documented: one answer with a patch, tested with pytest in a container."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.containers.running import played, says
from tests.catalog.containers.workshop import WORKSHOP, make_workshop, tag_workshop
from tests.catalog.swe_bench_pro.pro_kit import instances
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.stand_ins import IMAGE, docker

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.swe_bench import about as verified
from benchwright.catalog.swe_bench import benchmark as verified_benchmark
from benchwright.catalog.swe_bench import mirrors as mirrors_module
from benchwright.catalog.swe_bench.documented_variant import grade
from benchwright.catalog.swe_bench.mirrors import RepositoryMirrors
from benchwright.catalog.swe_bench_pro import about as pro
from benchwright.catalog.swe_bench_pro import benchmark as pro_benchmark
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.datasets import Source, find_dataset
from benchwright.errors import ExecutionError, UserError
from benchwright.records import Status

__all__ = ["running_engine"]

ADD, DOUBLE = "tests/test_calculator.py::test_add", "tests/test_calculator.py::test_double"

VARIANTS = {
    "verified": (verified.SWE_BENCH_DOCUMENTED, verified_benchmark.make),
    "full": (pro.SWE_BENCH_PRO_DOCUMENTED, pro_benchmark.make),
}


class Calculator:
    """A repository with a bug, a mirror of it, and rows about it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (made, _) = instances(directory / "made")
        self.made = made.row
        self.repositories = directory / "mirrors"
        place = self.repositories / "shop" / "calculator.git"
        git("clone", "--quiet", "--bare", str(made.repository), str(place))

    def row(self, identity: str, **changed: Any) -> dict[str, Any]:
        kept = {name: self.made[name] for name in ("base_commit", "patch", "test_patch")}
        lists = {"FAIL_TO_PASS": json.dumps([ADD]), "PASS_TO_PASS": json.dumps([DOUBLE])}
        statement = f"The issue {identity}: sums are wrong."
        identified = {"instance_id": identity, "repo": "shop/calculator", "problem_statement": statement}
        return {**kept, **lists, **identified, **changed}

    def source(self, about: About, *rows: Mapping[str, Any]) -> Source:
        path = write_rows(self.directory / "rows.jsonl", rows or [self.row("one")])
        return find_dataset(about.dataset, self.directory, path=path, offline=True)

    def benchmark(self, variant: str = "verified", **options: str) -> Benchmark:
        about, make = VARIANTS[variant]
        chosen = {"repositories": str(self.repositories), "image": WORKSHOP, **options}
        return make(about, Options({name: value for name, value in chosen.items() if value}))


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def diff(path: str, *lines: str) -> str:
    """An answer with a patch of one file; each hunk's lines as they stand in it."""
    return "Here it is:\n```diff\n" + "\n".join([f"--- a/{path}", f"+++ b/{path}", *lines]) + "\n```\n"


RIGHT = diff(
    "calculator.py",
    *("@@ -1,5 +1,5 @@", " def add(a, b):", "-    return a - b", "+    return a + b"),
    *(" ", " ", " def double(a):"),
)
BREAKS = diff(
    "calculator.py",
    *("@@ -1,6 +1,6 @@", " def add(a, b):", "-    return a - b", "+    return a + b", " ", " "),
    *(" def double(a):", "-    return 2 * a", "+    return a * a"),
)
ELSEWHERE = diff("nowhere.py", "@@ -1,1 +1,1 @@", "-a", "+b")


@pytest.fixture
def calculator(running_engine: None, tmp_path: Path) -> Calculator:
    make_workshop()
    return Calculator(tmp_path)


@pytest.fixture
def python_image(running_engine: None) -> Iterator[None]:
    """The documented image's name, for our stand-in."""
    if not tag_workshop("python:3.11"):
        pytest.skip("there is a python:3.11 on this machine already, which may have no pytest")
    yield
    docker("rmi", "python:3.11")


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["verified", "full"])
async def test_the_gold_patch_passes_in_the_documented_image(
    variant: str, calculator: Calculator, python_image: None
) -> None:
    benchmark = calculator.benchmark(variant, image="")
    assert benchmark.departures == ()
    ran = await validate_benchmark(benchmark, calculator.source(benchmark.about))
    assert (ran.checks, ran.failures) == (4, [])


async def test_a_model_solves_one_of_four(calculator: Calculator, tmp_path: Path) -> None:
    benchmark = calculator.benchmark()
    names = ["right", "breaks", "elsewhere", "silent"]
    source = calculator.source(benchmark.about, *(calculator.row(name) for name in names))
    answers = dict(zip(names, [RIGHT, BREAKS, ELSEWHERE, "I would rather not."], strict=True))
    scripts = [says(f"The issue {name}:", answer) for name, answer in answers.items()]
    ran = await played(benchmark, source, tmp_path, scripts)
    assert ran.values == {"right": 1.0, "breaks": 0.0, "elsewhere": 0.0, "silent": None}
    results = {
        name: (ran.detail(name)["fail_to_pass_results"], ran.detail(name)["pass_to_pass_results"])
        for name in names
    }
    assert results == {
        "right": ({ADD: True}, {DOUBLE: True}),
        "breaks": ({ADD: True}, {DOUBLE: False}),
        "elsewhere": ({ADD: False}, {DOUBLE: False}),
        "silent": ({ADD: False}, {DOUBLE: False}),
    }
    assert ran.detail("elsewhere")["error"] == "the patch cannot be applied"
    assert ran.detail("silent")["error"] == "the answer holds no patch"


async def test_a_test_patch_that_meets_the_models_changes_is_merged(
    calculator: Calculator, tmp_path: Path
) -> None:
    touches = diff(
        "tests/test_calculator.py",
        *("@@ -1,5 +1,5 @@", " from calculator import double", " ", " ", "-def test_double():"),
        *("+def test_double(tmp_path):", "     assert double(4) == 8"),
    )
    both = RIGHT.removesuffix("```\n") + touches.partition("```diff\n")[2]
    benchmark = calculator.benchmark()
    ran = await played(
        benchmark, calculator.source(benchmark.about), tmp_path, [says("The issue one:", both)]
    )
    assert ran.values == {"one": 1.0}, ran.detail("one")


async def test_an_image_without_what_is_needed_is_an_error_and_no_wrong_answer(
    calculator: Calculator, tmp_path: Path
) -> None:
    benchmark = calculator.benchmark(image=IMAGE)
    assert benchmark.departures == (f"the image {IMAGE} in place of python:3.11",)
    ran = await played(benchmark, calculator.source(benchmark.about), tmp_path)
    record = ran.trials["one"].record
    assert record.status is Status.EXECUTION_ERROR
    assert record.reason is not None
    assert "git: not found; name an image with git and pytest: --option image=NAME" in record.reason
    assert record.requests == [], "no model was asked"


def test_ten_of_the_tests_that_must_still_pass_count() -> None:
    content = {"FAIL_TO_PASS": ["new"], "PASS_TO_PASS": [f"old_{number}" for number in range(12)]}
    passed = {"new": True, **{f"old_{number}": True for number in range(10)}}
    verdict = grade(content, {"patch": "diff", "tests": {"passed": passed, "problem": None}})
    assert (verdict.score, len(verdict.details["pass_to_pass_results"])) == (1.0, 10)
    assert grade(content, {"tests": {"passed": {**passed, "old_9": False}}}).score == 0.0


class TestMirrors:
    async def test_what_is_cloned_is_kept(
        self, calculator: Calculator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
        monkeypatch.setattr(mirrors_module, "GITHUB_URL", f"file://{calculator.repositories}")
        source = calculator.repositories / "shop" / "calculator.git"
        source.rename(source.with_suffix(""))
        first = await RepositoryMirrors().archive_commit("shop/calculator", calculator.made["base_commit"])
        source.with_suffix("").rename(tmp_path / "gone")
        again = await RepositoryMirrors().archive_commit("shop/calculator", calculator.made["base_commit"])
        assert first == again
        assert [place.name for place in (tmp_path / "home" / "repositories").iterdir()] == [
            "shop__calculator.git"
        ]

    async def test_a_clone_that_fails_leaves_nothing(
        self, calculator: Calculator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
        monkeypatch.setattr(mirrors_module, "GITHUB_URL", f"file://{tmp_path}/nowhere")
        with pytest.raises(ExecutionError, match=r"git failed: .*nowhere"):
            await RepositoryMirrors().archive_commit("shop/calculator", calculator.made["base_commit"])
        assert list((tmp_path / "home" / "repositories").iterdir()) == []

    async def test_only_https_and_files_are_spoken(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
        monkeypatch.setattr(mirrors_module, "GITHUB_URL", "ext::sh -c touch% /tmp/never")
        with pytest.raises(ExecutionError, match="transport 'ext' not allowed"):
            await RepositoryMirrors().archive_commit("shop/calculator", "0" * 40)

    async def test_hooks_of_a_mirror_are_not_run(self, calculator: Calculator, tmp_path: Path) -> None:
        marker = tmp_path / "it was run"
        place = calculator.repositories / "shop" / "calculator.git"
        for name in ("post-checkout", "reference-transaction", "pre-auto-gc"):
            hook = place / "hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
            hook.chmod(0o755)
        assert await RepositoryMirrors(str(calculator.repositories)).archive_commit(
            "shop/calculator", calculator.made["base_commit"]
        )
        assert not marker.exists()

    @pytest.mark.parametrize(
        ("repository", "commit"),
        [("../shop", "0" * 40), ("-x/--upload-pack=y", "0" * 40), ("shop/calculator", "--output=/tmp/x")],
    )
    async def test_names_that_are_none_are_refused(
        self, repository: str, commit: str, calculator: Calculator
    ) -> None:
        with pytest.raises(ExecutionError, match="names no repository and commit"):
            await RepositoryMirrors(str(calculator.repositories)).archive_commit(repository, commit)

    async def test_what_is_missing_is_told(self, calculator: Calculator, tmp_path: Path) -> None:
        mirrors = RepositoryMirrors(str(calculator.repositories))
        with pytest.raises(ExecutionError, match=r"holds no mirror of shop/other, such as shop/other\.git"):
            await mirrors.archive_commit("shop/other", "0" * 40)
        with pytest.raises(ExecutionError, match="git failed"):
            await mirrors.archive_commit("shop/calculator", "0" * 40)
        with pytest.raises(UserError, match="There is no directory"):
            RepositoryMirrors(str(tmp_path / "nowhere"))
