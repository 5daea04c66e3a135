"""`.env`: whose file is read, what it may set, and that no key goes to an address that somebody else wrote there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.simulated import simulated_endpoint

from benchwright.runs.manifest import read_manifest

KEY = "sk-of-the-environment"
OWN_KEY = "sk-of-the-file"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An endpoint that wants the key of the file."""
    with simulated_endpoint("--api-key", OWN_KEY) as base_url:
        yield base_url


def written(program: Program, *lines: str, name: str = ".env") -> Path:
    """A file that the user alone can write to."""
    path = program.directory / program.write(name, "".join(f"{line}\n" for line in lines))
    path.chmod(0o600)
    return path


def check(program: Program, *more: str, code: int = 0, **environment: str) -> str:
    """What `check` writes to stderr, which must end with this code."""
    ended = program.run("check", "--model", "m", *more, **environment)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_options_keys_and_addresses_are_taken_from_it(program: Program, keyed: str) -> None:
    written(program, f"BENCHWRIGHT_BASE_URL={keyed}", f"OPENAI_API_KEY={OWN_KEY}", "BENCHWRIGHT_MODEL=m")
    assert program.run("check").returncode == 0


def test_it_is_read_by_every_command_before_its_options(program: Program, echo: str) -> None:
    home = program.directory / "elsewhere"
    written(program, f"BENCHWRIGHT_HOME={home}", f"BENCHWRIGHT_BASE_URL={echo}", name="my.env")
    del program.environment["BENCHWRIGHT_HOME"]
    asked = ["eval", "-d", program.rows(2), "--scorer", "exact", "--model", "m"]
    assert program.run(*asked, "--env-file", "my.env").returncode == 0
    assert program.run("--env-file", "my.env", *asked).returncode == 0, "shows the run that is finished"
    (run,) = home.glob("runs/*")
    assert read_manifest(run).targets[0].base_url == echo
    assert run.name in program.run("runs", "--columns", "id", "--env-file", "my.env").stdout
    assert program.run("show", run.name, "--env-file", "my.env").returncode == 0


def test_the_environment_takes_precedence(program: Program, echo: str) -> None:
    written(program, "BENCHWRIGHT_BASE_URL=http://127.0.0.1:9/v1")
    check(program, BENCHWRIGHT_BASE_URL=echo)


def test_one_above_the_working_directory_is_not_read(program: Program, echo: str) -> None:
    written(program, "BENCHWRIGHT_BASE_URL=http://127.0.0.1:9/v1")
    program.directory = program.directory / "below"
    program.directory.mkdir()
    check(program, BENCHWRIGHT_BASE_URL=echo)
    assert "localhost:8000" in check(program, code=1)


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_one_that_others_can_write_to_is_ignored_in_one_line(program: Program, mode: int) -> None:
    written(program, "BENCHWRIGHT_MODEL=evil").chmod(mode)
    ended = program.run("list")
    assert ended.returncode == 0
    assert ended.stderr == (
        "Warning: .env is ignored: others can write to it: run `chmod go-w .env`; or name it with --env-file .env.\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("link", [False, True])
def test_one_of_another_user_is_ignored_in_one_line(program: Program, link: bool) -> None:
    path = written(program, "BENCHWRIGHT_BASE_URL=http://127.0.0.1:9/v1", name="mine" if link else ".env")
    if link:
        (program.directory / ".env").symlink_to(path)
    os.chown(program.directory / ".env", 4711, 4711, follow_symlinks=False)
    (line,) = program.run("list").stderr.splitlines()
    assert line.startswith("Warning: .env is ignored: it belongs to another user")


def test_one_that_is_a_directory_is_nobodys_business(program: Program) -> None:
    (program.directory / ".env").mkdir()
    assert program.run("list").stderr == ""


@pytest.mark.parametrize("content", ["OPENAI_API_KEY=schlüssel".encode("latin-1"), "A=b".encode("utf-16-le")])
def test_text_that_is_not_utf_8_is_one_line_of_error(program: Program, content: bytes) -> None:
    written(program).write_bytes(content)
    ended = program.run("list")
    assert (ended.returncode, ended.stderr) == (1, "Error: .env is not UTF-8 text: save it as UTF-8.\n")


def test_a_file_that_is_not_there_is_a_usage_error(program: Program) -> None:
    ended = program.run("runs", "--columns", "id", "--env-file", "no.env")
    assert ended.returncode == 2
    assert "no.env" in ended.stderr


@pytest.mark.parametrize("name", ["BENCHWRIGHT_BASE_URL", "OPENAI_BASE_URL"])
@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "BENCHWRIGHT_API_KEY"])
def test_a_key_of_the_environment_is_not_sent_to_its_address(
    program: Program, name: str, variable: str, keyed: str
) -> None:
    written(program, f"{name}={keyed}")
    asked = ["eval", "-d", program.rows(2), "--scorer", "exact", "--model", "m"]
    ended = program.run(*asked, **{variable: KEY})
    assert ended.returncode == 1
    line = one_line_of(ended.stderr)
    assert f"{name} in .env sends requests to {keyed}" in line
    assert "give it with --base-url" in line
    assert KEY not in ended.stdout + ended.stderr


def test_an_address_that_is_typed_gets_the_key(program: Program) -> None:
    with simulated_endpoint("--api-key", KEY) as base_url:
        written(program, f"BENCHWRIGHT_BASE_URL={base_url}")
        check(program, "--base-url", base_url, OPENAI_API_KEY=KEY)
        assert (
            program.run("--base-url", base_url, "check", "--model", "m", OPENAI_API_KEY=KEY).returncode == 0
        )


def test_a_key_of_the_environment_cannot_be_written_into_an_address(program: Program) -> None:
    written(program, "BENCHWRIGHT_BASE_URL=http://127.0.0.1:9/${OPENAI_API_KEY}/v1")
    assert KEY not in check(program, OPENAI_API_KEY=KEY, code=1)


def test_what_says_which_code_runs_is_taken_from_a_named_file_only(program: Program, echo: str) -> None:
    written(program, "PYTHONPATH=evil", "BENCHWRIGHT_PLUGIN=evil.py", "HTTPS_PROXY=http://evil", "OTHER=1")
    asked = ["list", "--json"]
    ended = program.run(*asked)
    assert (ended.returncode, ended.stderr) == (
        0,
        "Note: .env also sets PYTHONPATH, BENCHWRIGHT_PLUGIN, HTTPS_PROXY, not taken from a file that is found by "
        "itself; --env-file .env takes all of it.\n",
    )
    run = ["run", "nothing", "--model", "m", "--base-url", echo]
    assert "evil.py" not in program.run(*run).stderr.partition("\n")[2]
    assert "There is no plugin file evil.py" in program.run(*run, "--env-file", ".env").stderr


def test_what_the_viewer_starts_reads_the_file_by_itself(program: Program, keyed: str) -> None:
    from tests.web.web_kit import viewing

    written(program, f"OPENAI_BASE_URL={keyed}")
    program.environment["OPENAI_API_KEY"] = KEY
    config = f"[eval]\ndataset = '{program.rows(2)}'\nscorer = ['exact']\nmodel = 'm'\n"
    program.write("quiz.toml", config)
    with viewing(program) as viewer:
        assert viewer.post("/start", "what=configuration:quiz.toml").status == 303
        while "OPENAI_BASE_URL in .env sends" not in (page := viewer.get("/start").text):
            assert ">done<" not in page
