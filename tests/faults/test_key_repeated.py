"""A server that repeats the key in its answers, escaped in many ways: no file and no line of a run holds it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import Program
from tests.faults.how_often import tried
from tests.http_server import QuietHandler, served_by

KEY = "sk-one/two+three-0123456789"


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04X}" for character in text)


FORMS = [
    KEY,
    KEY.replace("/", "\\/"),
    _escaped(KEY),
    json.dumps(json.dumps(_escaped(KEY))),
    _escaped(KEY[:9]).lower().replace("\\U", "\\u") + KEY[9:],
    "".join(f"%{ord(character):02x}" for character in KEY),
    base64.b64encode(f"user:{KEY}".encode()).decode(),
]


class Repeats(QuietHandler):
    """Repeats the key in every second answer's text, and in the errors between; the content is JSON within JSON."""

    forms: Sequence[str] = FORMS

    def do_GET(self) -> None:
        self.answer(200, b'{"object": "list", "data": [{"id": "m"}]}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number = int(body["messages"][-1]["content"].removeprefix("word"))
        form = self.forms[number // 2 % len(self.forms)]
        if number % 2:
            self.answer(400, b'{"error": {"message": "wrong key: ' + _inside(form) + b'"}}')
        else:
            message = (
                b'{"role": "assistant", "content": "' + _inside(form) + b'", "odd": "' + _inside(form) + b'"}'
            )
            self.answer(
                200, b'{"choices": [{"index": 0, "message": ' + message + b', "finish_reason": "stop"}]}'
            )


def _inside(form: str) -> bytes:
    """A form as the inside of a JSON string: as it stands where that is JSON, too."""
    try:
        json.loads(f'"{form}"')
    except ValueError:
        form = json.dumps(form)[1:-1]
    return form.encode()


def readings(text: str) -> Iterator[str]:
    """What a text says, read in all these ways."""
    plain = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    yield from (text, plain, re.sub(r"\\+/", "/", plain), unquote(text), re.sub(r"\\+/", "/", unquote(plain)))
    for run in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", text):
        for start in range(4):
            part = run[start:].rstrip("=")
            yield base64.b64decode(part[: len(part) // 4 * 4]).decode("latin-1")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


def test_is_nowhere_in_a_run(program: Program) -> None:
    _look_everywhere(program, FORMS)


WAYS = st.sampled_from(
    [
        lambda one: one,
        lambda one: f"\\u{ord(one):04x}",
        lambda one: f"\\u{ord(one):04X}",
        lambda one: f"\\\\u{ord(one):04x}",
        lambda one: f"%{ord(one):02x}",
        lambda one: f"%{ord(one):02X}",
        lambda one: "\\/" if one == "/" else one,
    ]
)
"""How one character of the key can be written."""

MIXED = st.lists(WAYS, min_size=len(KEY), max_size=len(KEY)).map(
    lambda ways: "".join(way(one) for way, one in zip(ways, KEY, strict=True))
)


@tried(2)
@given(forms=st.lists(MIXED, min_size=6, max_size=6))
def test_however_each_of_its_characters_is_written(
    tmp_path_factory: pytest.TempPathFactory, forms: list[str]
) -> None:
    program = Program(tmp_path_factory.mktemp("key"))
    _look_everywhere(program, forms)


def _look_everywhere(program: Program, forms: Sequence[str]) -> None:
    rows = program.rows(2 * len(forms))
    with served_by(type("Server", (Repeats,), {"forms": forms})) as address:
        options = [f"--api-key={KEY}", "-o", "out.json", "--log-samples", "--output-path=out", "--no-stream"]
        ran = program.run(*program.evaluating(rows, f"{address}/v1", *options))
    assert ran.returncode == 0, ran.stderr
    shown = program.run("show", program.only_run.name, "--row", "0")
    reported = program.run("report", program.only_run.name, "--output", "report.html")
    assert reported.returncode == 0, reported.stderr
    written = {
        str(path): path.read_bytes().decode("utf-8", "replace")
        for path in program.directory.rglob("*")
        if path.is_file()
    }
    assert {"out.json", "report.html"} <= {Path(path).name for path in written}
    written |= {"said": ran.stdout + ran.stderr, "shown": shown.stdout + shown.stderr}
    assert "[secret]" in written["said"] + written["shown"]
    for name, text in written.items():
        for reading in readings(text):
            assert KEY not in reading, name
