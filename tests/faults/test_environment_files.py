"""Any `.env` in the working directory: a result or one line, and no key goes to an address of the file's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import NOWHERE, Program
from tests.faults.how_often import tried
from tests.http_server import QuietHandler, served_by

from benchwright.environment_file import (
    CODE_LOADING_PREFIXES,
    MACHINE_VARIABLES,
    NAMED_FILE_VARIABLES,
    EnvironmentFile,
)
from benchwright.errors import UserError

KEY = "sk-of-the-environment"
ASKED = "http://asked/v1"
"""Stands for the address of the server."""

CODE = sorted(
    {
        *NAMED_FILE_VARIABLES,
        *MACHINE_VARIABLES,
        *(f"{name}X" for name in CODE_LOADING_PREFIXES),
        "HTTPS_PROXY",
        "http_proxy",
    }
)
NAMES = st.sampled_from(
    ["BENCHWRIGHT_BASE_URL", "OPENAI_BASE_URL", "BENCHWRIGHT_API_KEY", "OPENAI_ORGANIZATION", "BENCHWRIGHT_MODEL",
     "OPENAI_API_KEY", "TERM", "COLUMNS", "A", "${A}", "a b", "\ufeffA", "=", ""]
) | st.sampled_from(CODE)  # fmt: skip
VALUES = st.sampled_from(
    [ASKED, f"{ASKED}/${{OPENAI_API_KEY}}", f"${{A:-{ASKED}}}", "${OPENAI_API_KEY}", "$OPENAI_API_KEY", "${A", NOWHERE,
     "sk-of-the-file", "EMPTY", "7", "-1", ""]
) | st.text(max_size=6)  # fmt: skip
MESSY = st.builds(
    "{}{}{}{}{}{}{}".format,
    st.sampled_from(["", "export ", " ", "#", "\t"]),
    NAMES,
    st.sampled_from(["=", " = ", ":", "", "=="]),
    QUOTES := st.sampled_from(["", "'", '"', "`"]),
    VALUES,
    QUOTES,
    st.sampled_from(["", " # note", "\r", "\\"]),
)
LINES = st.builds("{}={}".format, NAMES, VALUES) | MESSY
ADDRESSES = st.sampled_from([f"BENCHWRIGHT_BASE_URL={ASKED}", f"OPENAI_BASE_URL='{ASKED}'", "A=1"])
TEXTS = st.builds(lambda first, more: "\n".join([first, *more]), ADDRESSES, st.lists(LINES, max_size=4))


class Seen(QuietHandler):
    """Keeps what it is sent."""

    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(f"{self.path} {self.headers}")
        self.answer(200, b'{"object": "list", "data": [{"id": "m"}]}')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.requests.append(f"{self.path} {self.headers} {body}")
        message = '{"role": "assistant", "content": "Hello"}'
        choice = '{"index": 0, "message": ' + message + ', "finish_reason": "stop"}'
        self.answer(200, b'{"choices": [' + choice.encode() + b"]}")


@contextmanager
def seen() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and what it is sent."""
    requests: list[str] = []
    with served_by(type("Server", (Seen,), {"requests": requests})) as address:
        yield address, requests


@tried(5, of="command")
@given(text=TEXTS, command=st.sampled_from(["check --model m", "list", "runs"]))
def test_is_a_result_or_one_line_and_gets_no_key(
    tmp_path_factory: pytest.TempPathFactory, text: str, command: str
) -> None:
    program = Program(tmp_path_factory.mktemp("file"))
    with seen() as (address, requests):
        file = program.directory / ".env"
        file.write_bytes(text.replace(ASKED, address).encode("utf-8", "surrogatepass"))
        file.chmod(0o600)
        ended = program.run(*command.split(), OPENAI_API_KEY=KEY)
    assert ended.returncode in (0, 1, 2), ended.stderr
    assert "Traceback" not in ended.stderr
    assert sum(line.startswith("Error: ") for line in ended.stderr.splitlines()) <= 1
    assert not any(KEY in request for request in requests)
    assert KEY not in ended.stdout + ended.stderr


@tried(100)
@given(text=TEXTS)
def test_never_says_which_code_runs(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    directory = tmp_path_factory.mktemp("file")
    monkeypatch.chdir(directory)
    (directory / ".env").write_bytes(text.encode("utf-8", "surrogatepass"))
    (directory / ".env").chmod(0o600)
    environment = {"OPENAI_API_KEY": KEY}
    with suppress(UserError):  # what is not text
        EnvironmentFile().read(None, (), lambda line: None, environment)
    assert environment.pop("OPENAI_API_KEY") == KEY
    assert not set(CODE) & {name.upper() for name in environment}
    assert KEY not in environment.values()
