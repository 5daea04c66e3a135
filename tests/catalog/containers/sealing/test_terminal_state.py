"""What a terminal exports is read as its shell wrote it; variables that decide what runs are told from work."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.catalog.containers.sealing.called_programs import (
    CalledPrograms,
    find_called_programs,
    find_visible_path,
    folders_in,
)
from benchwright.catalog.containers.sealing.terminal_state import (
    TerminalState,
    parse_exports,
    variables_affecting_tests,
)

NAMES = st.from_regex(r"BW_[A-Z]{1,6}", fullmatch=True)
VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@pytest.mark.parametrize("shell", ["bash", "sh"])
@settings(max_examples=20, deadline=None)
@given(variables=st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_what_a_shell_exports_is_read_as_it_was_set(shell: str, variables: dict[str, str]) -> None:
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **variables}
    said = subprocess.run([shell, "-c", "export -p"], env=environment, capture_output=True, check=True).stdout
    found, plain = parse_exports(said.decode())
    assert plain
    assert {name: found[name] for name in variables} == variables


@pytest.mark.parametrize(
    "more", ["bash() { true; }", "export A=$(touch /x)", "export A=b; touch /x", "touch /x"]
)
def test_commands_in_a_state_are_told(more: str) -> None:
    assert not parse_exports(f'export HOME="/root"\n{more}\n')[1]


def test_an_escape_that_no_shell_writes_is_read_all_the_same() -> None:
    assert parse_exports("export A=$'\\8\\777\\xzz'")[0]["A"].startswith("8")


OWN = {"PATH": "/bin", "TEST_DIR": "/tests"}


@pytest.mark.parametrize(
    "name", ["BASH_ENV", "PYTHONPATH", "LD_PRELOAD", "TEST_DIR", "PYTEST_ADDOPTS", "RUNNER"]
)
def test_variables_that_decide_what_runs_are_the_containers_own_again(name: str) -> None:
    terminal = TerminalState("/app", {**OWN, name: "/tmp/x"})
    assert variables_affecting_tests(terminal, OWN, '${RUNNER:-pytest} "$TEST_DIR"', "Solve it.") == {
        name: OWN.get(name)
    }
    assert variables_affecting_tests(terminal, OWN, "${RUNNER:-pytest}", f"Set {name}.") == {}


@pytest.mark.parametrize("name", ["EDITOR", "HOME", "VIRTUAL_ENV", "JAVA_HOME", "WORD"])
def test_other_variables_are_work(name: str) -> None:
    assert (
        variables_affecting_tests(TerminalState("/app", {**OWN, name: "/tmp/x"}), OWN, "pytest", "Solve it.")
        == {}
    )


def test_tests_call_what_their_files_name_and_find_it_in_the_folders_of_every_path() -> None:
    texts = {
        "tests/test.sh": "export PATH=$HOME/.local/bin:$PATH\napt-get install -y \\\n  curl\njudge /app/out"
    }
    called = find_called_programs(texts, ["/bin:tools", "/usr/bin"], "/app")
    assert isinstance(called, CalledPrograms)
    assert "judge" in called.test_words
    assert "curl" in called.installed_words
    *of_the_paths, of_the_script = called.program_folders
    assert of_the_paths == ["/bin", "/app/tools", "/usr/bin"]
    assert of_the_script.endswith("/.local/bin")


def test_folders_that_the_engine_does_not_see_are_left_out_of_a_path() -> None:
    assert find_visible_path("/dev/shm/x:/bin:/proc/1/root") == "/bin"
    assert folders_in(["/a:/a/"], "/") == ("/a",)
