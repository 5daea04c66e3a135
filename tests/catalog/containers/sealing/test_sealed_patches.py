"""Patches under a seal: one that reaches out of the work tree is refused, a pass by configuration has a flag."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchwright.catalog.containers.sealing.patch_auditing import (
    DEPENDS,
    audit_patch,
    find_outside_path,
    is_test_configuration,
    split_patch,
)
from benchwright.sandbox.docker.time_limits import time_limit_factor


def patch_of(folder: Path, files: Mapping[str, str], changed: Mapping[str, str]) -> str:
    """What git makes of a change."""
    git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for content in (files, changed):
        for name, text in content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    return subprocess.run([*git, "diff", "HEAD~1", "HEAD"], check=True, capture_output=True, text=True).stdout


def added(name: str, text: str = "x") -> str:
    """A patch that adds a file, as nobody's git makes it."""
    return f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+{text}\n"


LINK = "diff --git a/{0} b/{0}\nnew file mode 120000\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+/usr/lib\n"


@pytest.mark.parametrize(
    ("patch", "name"),
    [
        (added("../outside.py"), "../outside.py"),
        (added("src/../../outside.py"), "src/../../outside.py"),
        (added(".git/hooks/post-checkout"), ".git/hooks/post-checkout"),
        ("--- a/x.py\n+++ /usr/lib/x.py\n@@ -0,0 +1 @@\n+x\n", "/usr/lib/x.py"),
        (LINK.format("library") + added("library/os.py"), "library/os.py"),
        ("diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to ../x\n", "../x"),
    ],
)
def test_a_patch_that_leads_out_of_the_work_tree_is_known(patch: str, name: str) -> None:
    assert find_outside_path(added("honest.py") + patch) == name


@pytest.mark.parametrize(
    "patch",
    [
        added("src/module.py", "+++ ../not/a/name"),
        added("notes.txt", "--- /etc/passwd"),
        LINK.format("library"),
        added("..hidden/file"),
        "",
    ],
)
def test_other_patches_do_not(patch: str) -> None:
    assert find_outside_path(patch) is None


SETUP = (
    "[metadata]\nname = x\n\n[options]\ninstall_requires =\n    a\n\n\n\n\n[tool:pytest]\nminversion = 6\n"
)


@pytest.mark.parametrize(
    ("name", "before", "after", "configures"),
    [
        ("conftest.py", "", "import os\n", True),
        ("deep/down/conftest.py", "", "import os\n", True),
        ("pytest.ini", "", "[pytest]\n", True),
        ("tox.ini", "", "[pytest]\n", True),
        ("sitecustomize.py", "", "import os\n", True),
        ("extra.pth", "", "import os\n", True),
        ("setup.py", "", "import os\n", True),
        ("tests/runtests.py", "", "import os\n", True),
        ("pytest.py", None, "raise SystemExit(0)\n", True),
        ("_pytest/main.py", None, "raise SystemExit(0)\n", True),
        ("src/_pytest/main.py", "a\n", "b\n", False),
        ("setup.cfg", SETUP, SETUP + "python_files = none\n", True),
        ("setup.cfg", SETUP, SETUP.replace("    a\n", "    a\n    b\n"), False),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\n",
            "[tool.pytest.ini_options]\naddopts = '-x'\n",
            True,
        ),
        ("src/module.py", "a\n", "b\n", False),
        ("tests/test_module.py", "a\n", "b\n", False),
    ],
)
def test_what_changes_the_configuration_of_tests_is_known(
    tmp_path: Path, name: str, before: str | None, after: str, configures: bool
) -> None:
    (part,) = split_patch(patch_of(tmp_path, {} if before is None else {name: before}, {name: after}))
    assert is_test_configuration(part) is configures


@pytest.mark.parametrize(
    ("name", "text", "configures"),
    [
        *(
            (name, "x", True)
            for name in ("jest.config.ts", "packages/a/vitest.config.mjs", "karma.conf.js", ".mocharc.json")
        ),
        *(
            (name, "x", True)
            for name in ("src/__mocks__/fs.js", "jest.setup.js", "babel.config.js", "test/setup.ts")
        ),
        *(
            (name, "x", True)
            for name in (".mvn/maven.config", "mvnw", "gradlew", "gradle/testing/defaults-tests.gradle")
        ),
        ("src/test/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener", "x", True),
        *(
            (name, "x", True)
            for name in ("phpunit.xml.dist", "tests/TestCase.php", ".rspec", "spec/spec_helper.rb")
        ),
        *(
            (name, "x", True)
            for name in (".cargo/config.toml", "runtest", "tests/run-tests.py", "Makefile.am")
        ),
        ("package.json", '  "test": "true",', True),
        ("package.json", '  "dependencies": {},', False),
        ("Cargo.toml", "harness = false", True),
        ("Cargo.toml", 'serde = "1"', False),
        ("pom.xml", "<testFailureIgnore>true</testFailureIgnore>", True),
        ("pom.xml", "<version>2</version>", False),
        ("build.gradle", "test { ignoreFailures = true }", True),
        ("CMakeLists.txt", "add_test(NAME it COMMAND true)", True),
        ("CMakeLists.txt", "add_library(fmt src/os.cc)", False),
        ("sums/forged_test.go", "func TestMain(m *testing.M) {", True),
        ("sums/half_test.go", "func TestHalf(t *testing.T) {", False),
        *(
            (name, "x", False)
            for name in ("src/config.ts", "lib/jest.js", "go.mod", "lib/helper.rb", "src/Test.php")
        ),
    ],
)
def test_configuration_of_tests_in_other_languages_is_known(name: str, text: str, configures: bool) -> None:
    (part,) = split_patch(added(name, text))
    assert is_test_configuration(part) is configures


def test_files_that_start_tests_are_known_by_their_names() -> None:
    (part,) = split_patch(added("tools/check.sh"))
    assert is_test_configuration(part, ["tools/check.sh"])


@pytest.mark.parametrize(
    ("name", "line", "flagged"),
    [
        ("lib/sum.js", "const Mocha = require('mocha/lib/runner')", True),
        ("lib/sum.js", "globalThis.it = (name, body) => pass(name)", True),
        ("lib/sum.ts", "import { vi } from 'vitest'", True),
        ("lib/sum.spec.ts", "import { vi } from 'vitest'", False),
        ("lib/sum.js", "const jest = 'jest'; window.scroll = 3; this.test = 1", False),
        ("sum/sum.go", "//go:linkname fail testing.(*common).Fail", True),
        ("sum/sum.go", 'if flag.Lookup("test.v") != nil {', True),
        ("sum/sum.go", "// testing the limits of the reader", False),
        ("src/lib.rs", "#![feature(custom_test_frameworks)]", True),
        ("src/lib.rs", "#[cfg(test)] mod tests {", False),
        ("src/main/java/Sum.java", "import org.junit.platform.launcher.TestExecutionListener;", True),
        ("src/test/java/SumTest.java", "import org.junit.runner.RunWith;", False),
        ("lib/sum.rb", "RSpec.configure { |it| it.after { exit! } }", True),
        ("lib/sum.rb", "Minitest.after_run { exit! }", True),
        ("lib/sum.rb", "class Minitester", False),
        ("src/Sum.php", "use PHPUnit\\TextUI\\TestRunner;", True),
        ("src/Sum.php", "use PHPUnit\\Framework\\TestCase;", False),
        ("src/sum.cc", "class Quiet : public testing::TestEventListener {", True),
        ("src/sum.py", "self.test = pytest = 1", False),
    ],
)
async def test_product_code_that_works_on_the_framework_of_the_tests_is_known(
    name: str, line: str, flagged: bool
) -> None:
    async def passes(rest: str) -> bool:
        return True

    found = await audit_patch(added(name, line), passed=True, passes=passes)
    kinds = [flag["kind"] for flag in found.get("flags", ())]
    assert kinds == (["patch_changes_the_test_framework"] if flagged else [])


async def test_a_pass_that_depends_on_its_configuration_has_a_flag_and_others_have_none(
    tmp_path: Path,
) -> None:
    patch = patch_of(tmp_path, {}, {"conftest.py": "forge()\n", "module.py": "x = 1\n"})
    asked: list[str] = []

    async def fails(rest: str) -> bool:
        asked.append(rest)
        return False

    async def passes(rest: str) -> bool:
        return True

    found = await audit_patch(patch, passed=True, passes=fails)
    assert found["rerun"] == {"left_out": ["conftest.py"], "passes": False}
    assert [flag["kind"] for flag in found["flags"]] == [DEPENDS]
    assert "conftest.py" in found["flags"][0]["evidence"]
    (rest,) = asked
    assert [part.names for part in split_patch(rest)] == [["module.py"]]

    found = await audit_patch(patch, passed=True, passes=passes)
    assert found == {"rerun": {"left_out": ["conftest.py"], "passes": True}}
    assert await audit_patch(patch, passed=False, passes=fails) == {}


async def test_a_pass_by_nothing_but_configuration_needs_no_second_test() -> None:
    async def never(rest: str) -> bool:
        raise AssertionError("there is nothing to test")

    found = await audit_patch(added("conftest.py"), passed=True, passes=never)
    assert [flag["kind"] for flag in found["flags"]] == [DEPENDS]


@pytest.mark.parametrize(
    "name",
    ["bin/pytest", "node_modules/.bin/jest", "vendor/bin/phpunit", ".venv/bin/python3", "GNUmakefile", "tests.mk",
     ".yarn/releases/yarn-4.cjs", ".npmrc", "rust-toolchain.toml", "build.rs", "go.work"],
)  # fmt: skip
def test_a_program_that_tests_call_and_what_leads_to_one_is_configuration(name: str) -> None:
    assert is_test_configuration(split_patch(added(name))[0])


@pytest.mark.parametrize("name", ["bin/greet", "src/python/module.py", "docs/make.md", "bin/data/python"])
def test_other_programs_are_not(name: str) -> None:
    assert not is_test_configuration(split_patch(added(name))[0])


def test_a_name_of_a_program_that_a_package_installs_is_configuration() -> None:
    assert is_test_configuration(split_patch(added("pyproject.toml", "[project.scripts]"))[0])
    assert not is_test_configuration(split_patch(added("pyproject.toml", "[project.urls]"))[0])


async def test_a_second_run_has_more_time_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (2.0 * (os.cpu_count() or 1), 0.0, 0.0))
    given = []

    async def passes(patch: str) -> bool:
        given.append(time_limit_factor())
        return True

    await audit_patch(added("conftest.py") + added("module.py"), passed=True, passes=passes)
    assert given == [pytest.approx(2.0)]
