"""Foreign text on a terminal: whatever a model, a server, a dataset or a pack is called, it is told, and does nothing.

Every command that prints is run on a pseudo-terminal. What arrives there is text that can be seen, and the few
sequences that the program itself uses: its colours, and the moves of its progress display.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import NOWHERE, Program
from tests.app.compare_kit import STARTED, made, write_run
from tests.app.pack_kit import faulty_pack, need_node, scenario, write_pack
from tests.app.test_custom_benchmarks import EXAMPLE
from tests.faults.how_often import tried
from tests.simulated import simulated_endpoint
from tests.terminal import on_a_terminal

from benchwright.records import Message, RequestRecord, ScoreRecord, Status, Target, TrialRecord
from benchwright.runs.journal import Journal, TrialBody, encode_json
from benchwright.runs.keys import fingerprint
from benchwright.text import make_safe

HOSTILE = (
    "m[/INST] [int4] Close [/b] tags [red]:smile: "
    "\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\"
    "\x1b[5;95mblink\x1b[13A\x9b5m\x9d2;title\x9c \u202ertl\u202c \u2066iso\u2069 \u200e\u200f\u061c\u200b\u2028 "
    "bell\x07 back\x08 cr\r end[/x]"
)
"""Markup, emoji codes, escape sequences of both kinds, marks that turn text round, and controls; told as `TOLD`."""

TOLD = make_safe(HOSTILE)

FAILING_AGENT = f"""
import logging
from osmosis_ai.rollout import RolloutAgentLoop

class Agent(RolloutAgentLoop):
    name = {HOSTILE!r}

    def get_tools(self, request):
        return []

    async def run(self, ctx):
        logging.getLogger("agent").warning({HOSTILE!r})
        raise RuntimeError({HOSTILE!r})
"""

OURS = re.compile(r"\x1b\[(?:0|[1-9][0-9]?(?:;[0-9]+)*)?m|\x1b\[1A|\x1b\[2K|\x1b\[\?25[lh]|\r|\n")
FOREIGN = ("\x1b[5;95m", "\x1b[13A", "\x1b[5m", "\x9b", "\x9d")


def seen(text: str) -> str:
    """What a person sees of what arrived; asserts that there is nothing else in it but the sequences of ours."""
    assert not any(sequence in text for sequence in FOREIGN), text
    left = OURS.sub(lambda found: "\n" if found[0] == "\n" else "", text)
    assert left.replace("\n", "").isprintable(), repr(left)
    return left


def words(text: str) -> str:
    """The text with each run of white space as one space: a terminal folds lines."""
    return " ".join(text.split())


def shown(program: Program, *arguments: str, code: int | None = 0) -> str:
    ended = on_a_terminal(program, arguments)
    text = seen(ended.text)
    assert "Traceback" not in text, text
    assert code is None or ended.code == code, text
    return words(text)


def write_hostile_run(program: Program, name: str, text: str = HOSTILE) -> Path:
    """A run in which everything that can be foreign is."""
    directory = write_run(
        program.home / "runs" / name,
        [],
        name=text,
        targets=[Target("primary", text, text)],
        typed_models={"primary": text},
        settings={text: text},
        about={text: text},
    )
    (directory / "tags.json").write_bytes(msgspec.json.encode([text]))
    journal = Journal(directory)
    for number in range(4):
        key = fingerprint(f"{number}")
        messages: list[Message] = [
            {"role": text, "content": text},
            {"role": "assistant", "content": text, "tool_calls": [{"id": text, "function": {"name": text}}]},
        ]  # fmt: skip
        request = RequestRecord(text, total=1000, error=text, finish_reason=text, flags=[text])
        failed = number == 3
        record = TrialRecord(
            key, f"{number}", "primary", Status.PROVIDER_ERROR if failed else Status.ANSWERED, group=text,
            labels={text: text}, reason=text, requests=[request], started_at=STARTED, duration=10**9,
        )  # fmt: skip
        journal.write_trial(record, encode_json(TrialBody(key, messages=messages, answer=text)))
        if not failed:
            journal.write_lines(
                ScoreRecord(f"{key}-s", key, text, number / 2, span=text, detail={text: text})
            )
    journal.close()
    return directory


class TestRuns:
    """A run whose model, tags, labels, scorers, samples and errors are hostile."""

    @pytest.fixture
    def runs(self, program: Program) -> tuple[str, str]:
        names = ("20260105T000000-hostile-00000000", "20260106T000000-hostile-00000000")
        for name in names:
            write_hostile_run(program, name)
        return names

    @pytest.mark.parametrize(
        "command",
        [
            ["runs"],
            ["show", "RUN"],
            ["show", "RUN", "--row", "1"],
            ["show", "RUN", "--row", "3"],
            ["compare", "RUN", "OTHER"],
            ["compare", "RUN", "OTHER", "--anyway"],
            ["table", "RUN", "OTHER"],
            ["table", "--format", "latex"],
            ["table", "--format", "csv"],
        ],
        ids=" ".join,
    )
    def test_are_told_in_full(self, program: Program, runs: tuple[str, str], command: list[str]) -> None:
        arguments = [{"RUN": runs[0], "OTHER": runs[1]}.get(part, part) for part in command]
        assert words(TOLD) in shown(program, *arguments, code=None)

    @pytest.mark.parametrize(
        "command",
        [["runs", "tag", "RUN", "kept"], ["export", "RUN", "-o", "rows.csv"], ["report", "RUN", "-o", "page.html"],
         ["resume", "RUN"], ["retry", "RUN"], ["show", HOSTILE], ["show", "RUN", "--row", "17"],
         ["compare", "RUN", HOSTILE], ["table", "--format", "markdown"], ["table", "--format", "html"]],
        ids=lambda command: " ".join(command)[:12],
    )  # fmt: skip
    def test_steer_nothing(self, program: Program, runs: tuple[str, str], command: list[str]) -> None:
        shown(program, *[runs[0] if part == "RUN" else part for part in command], code=None)

    @pytest.mark.parametrize(
        "command", [["runs"], ["show", "RUN"], ["show", "RUN", "--row", "1"]], ids=" ".join
    )
    def test_json_says_the_same_in_characters_that_can_be_seen(
        self, program: Program, runs: tuple[str, str], command: list[str]
    ) -> None:
        arguments = [runs[0] if part == "RUN" else part for part in command]
        ended = on_a_terminal(program, [*arguments, "--json"])
        assert json.dumps(HOSTILE) in json.dumps(json.loads(seen(ended.text)))


TEXTS = st.lists(
    st.sampled_from(
        [*("\x1b[", "\x9b", "\x1b]0;", "\x9d", "\x1bP", "\x1b_", "\x1b", "\x9c", "\x07", "31;5m", "13A", "2J"),
         *("\r", "\n", "\b", "\t", "\u202e", "\u2066", "\u200b", "\u2028", "[/b]", "[red]", ":smile:", "\\", "/", "\0")]
    )
    | st.text(st.characters(codec="utf-8"), max_size=3),
    min_size=1,
    max_size=12,
).map("".join)  # fmt: skip
SHOWING: dict[str, list[str]] = {
    "runs": [],
    "show": ["RUN"],
    "show --row": ["RUN", "--row=1"],
    "show --json": ["RUN"],
    "compare": ["RUN", "OTHER", "--anyway"],
    "runs tag": ["RUN", "kept"],
    "export": ["RUN", "-o=rows.csv"],
    "report": ["RUN", "-o=page.html"],
    "resume": ["RUN"],
    "retry": ["RUN"],
}
"""Commands that show something of a run, with what they are given."""

TYPED: dict[str, list[str]] = {
    "show": ["TEXT"],
    "compare": ["TEXT", "TEXT"],
    "eval": ["-d=TEXT", "--model=TEXT", "--scorer=exact"],
    "eval --config": ["TEXT"],
    "run": ["TEXT", "--model=m"],
    "load": ["-d=TEXT", "--model=m"],
    "test": ["-m=TEXT", "-d=rows.jsonl"],
    "fetch": ["TEXT"],
    "validate": ["TEXT"],
    "pack run": ["TEXT", "--model=m"],
    "pack info": ["TEXT"],
    "simulate": ["--fault=TEXT"],
    "view": ["--port=TEXT"],
}
"""Commands with what a user can have typed."""


@tried(4, of="command")
@given(text=TEXTS, command=st.sampled_from(sorted(SHOWING)))
def test_no_text_of_a_run_steers_the_terminal(
    tmp_path_factory: pytest.TempPathFactory, text: str, command: str
) -> None:
    program = Program(tmp_path_factory.mktemp("text"))
    for name in ("run-0", "run-1"):
        write_hostile_run(program, name, text)
    names = {"RUN": "run-0", "OTHER": "run-1"}
    shown(program, *command.split(), *(names.get(part, part) for part in SHOWING[command]), code=None)


@tried(4, of="command")
@given(text=TEXTS.filter(lambda text: "\0" not in text), command=st.sampled_from(sorted(TYPED)))
def test_nor_does_one_that_is_typed(
    tmp_path_factory: pytest.TempPathFactory, text: str, command: str
) -> None:
    program = Program(tmp_path_factory.mktemp("text"))
    assert shown(
        program, *command.split(), *(part.replace("TEXT", text) for part in TYPED[command]), code=None
    )


@pytest.mark.parametrize("command", sorted(TYPED))
def test_a_home_of_nobody_is_no_path(program: Program, command: str) -> None:
    """`~NAME` of a user who is not there."""
    typed = (part.replace("TEXT", "~nobody-of-that-name") for part in TYPED[command])
    assert shown(program, *command.split(), *typed, code=None)


def test_names_that_look_like_markup_are_told_apart(program: Program) -> None:
    for number, model in enumerate(("llama[int4]", "llama[int8]")):
        write_run(
            program.home / "runs" / f"run-{number}",
            [],
            targets=[Target("primary", model, NOWHERE)],
            typed_models={"primary": model},
        )
    listed = shown(program, "runs")
    assert "llama[int4]" in listed
    assert "llama[int8]" in listed


def test_long_names_are_folded_where_the_terminal_is_narrow(program: Program) -> None:
    for number in range(2):
        model = f"{'long-name-' * 12}{number}"
        write_run(
            program.home / "runs" / f"run-{number}", made([1]), targets=[Target("primary", model, NOWHERE)]
        )
    ended = on_a_terminal(program, ["runs"], columns=80)
    assert ended.code == 0
    assert "…" not in ended.text
    assert ended.text.count("g") == 24


@pytest.fixture(scope="module")
def hostile_server() -> Iterator[str]:
    """An endpoint that lists a hostile model and refuses every request in hostile words."""

    class Handler(BaseHTTPRequestHandler):
        def _send(self, code: int, document: object) -> None:
            body = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": HOSTILE, "object": "model"}]})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self._send(400, {"error": {"message": HOSTILE, "type": HOSTILE, "code": HOSTILE}})

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


class TestEndpoints:
    def test_check_names_the_models_that_are_listed(self, program: Program, hostile_server: str) -> None:
        assert words(TOLD) in shown(
            program, "check", "--model", "other", "--base-url", hostile_server, code=None
        )
        assert words(TOLD) in shown(program, "check", "--model", HOSTILE, "--base-url", hostile_server)

    @pytest.mark.parametrize("command", ["eval", "load"])
    def test_refusals_are_told(self, program: Program, hostile_server: str, command: str) -> None:
        rows = program.rows(3)
        own = {
            "eval": ["-d", rows, "--scorer", "exact"],
            "load": ["-d", rows, "--concurrency", "1", "--requests", "2", "--warmup", "0"],
        }[command]
        text = shown(
            program,
            command,
            *own,
            "--model",
            HOSTILE,
            "--base-url",
            hostile_server,
            "--retries",
            "0",
            code=None,
        )
        assert "[/INST] [int4] Close [/b] tags [red]:smile:" in text


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """The address of an endpoint that says what it is asked."""
    with simulated_endpoint() as address:
        yield address


class TestEvaluations:
    def test_a_benchmark_with_hostile_names_and_samples(self, program: Program, echo: str) -> None:
        code = EXAMPLE.replace('"My custom benchmark"', repr(HOSTILE)).replace(
            'f"sample_{number}"', repr(HOSTILE)
        )
        plugin = program.write("mine.py", code.replace("[:max_samples]", "[:1]"))
        assert words(TOLD) in shown(program, "list", "--plugin", plugin)
        shown(program, "run", "my_benchmark", "--plugin", plugin, "--model", HOSTILE, "--base-url", echo)
        assert words(TOLD) in shown(program, "show", program.only_run.name)

    def test_an_agent_with_hostile_names_and_errors(self, program: Program, echo: str) -> None:
        program.write("agent.py", FAILING_AGENT)
        row = {"system_prompt": HOSTILE, "user_prompt": HOSTILE, "ground_truth": HOSTILE}
        program.write("rows.jsonl", json.dumps(row) + "\n")
        own = ["-m", "agent:Agent", "-d", "rows.jsonl", "--model", HOSTILE, "--base-url", echo]
        text = shown(program, "test", *own, code=None)
        assert words(TOLD) in text
        assert words(TOLD) in shown(program, "eval", *own, "--scorer", "exact", code=None)

    def test_an_eval_with_hostile_names_and_rows(self, program: Program, echo: str) -> None:
        name = f"rows{HOSTILE.replace('/', '|')}.jsonl"
        row = {"prompt": HOSTILE, "answer": HOSTILE, HOSTILE: HOSTILE}
        program.write(name, json.dumps(row) + "\n" + json.dumps(row | {"prompt": "x"}) + "\n")
        columns = ["--scorer", "exact", "--model", HOSTILE, "--base-url", echo]
        text = shown(program, "eval", "-d", name, *columns)
        assert words(TOLD) in text
        shown(program, "eval", "-d", name, *columns, "--dry-run")
        shown(program, "eval", "cache", "ls")
        assert words(TOLD) in shown(
            program, "eval", "-d", name, *columns, "--column", "prompt=nothing", code=1
        )

    @pytest.mark.parametrize(
        "row",
        [{HOSTILE: "x"}, {"prompt": {HOSTILE: 1}, "answer": "x"}, {"prompt": HOSTILE, "answer": [HOSTILE]}],
    )
    def test_datasets_that_cannot_be_used(self, program: Program, row: dict[str, object]) -> None:
        program.write("rows.jsonl", json.dumps(row) + "\n")
        shown(
            program,
            "eval",
            "-d",
            "rows.jsonl",
            "--scorer",
            "exact",
            "--model",
            "m",
            "--base-url",
            NOWHERE,
            code=1,
        )

    @pytest.mark.parametrize(
        "arguments",
        [
            [HOSTILE],
            ["eval", HOSTILE],
            ["eval", f"--{HOSTILE}"],
            ["eval", "--concurrency", HOSTILE],
            ["eval", "-d", HOSTILE, "--model", "m", "--scorer", "exact"],
            ["eval", "-d", "rows.jsonl", "--model", "m", "--scorer", HOSTILE],
            ["eval", "-d", "rows.jsonl", "--model", "m", "--scorer", "exact", "--base-url", HOSTILE],
            ["eval", "-d", "rows.jsonl", "--model", "m", "-m", HOSTILE],
            ["eval", "--config", HOSTILE],
            ["run", HOSTILE, "--model", "m"],
            ["run", "gsm8k", "--model", "m", "--where", HOSTILE],
            ["load", "-d", HOSTILE],
            ["test", "-m", HOSTILE, "-d", "rows.jsonl"],
            ["fetch", HOSTILE],
            ["validate", HOSTILE],
            ["pack", "run", HOSTILE, "--model", "m"],
            ["pack", "install", HOSTILE],
            ["pack", "uninstall", HOSTILE],
            ["simulate", "--fault", HOSTILE],
            ["view", "--port", HOSTILE],
        ],
        ids=lambda arguments: " ".join(arguments)[:30].encode("ascii", "replace").decode(),
    )
    def test_what_is_typed(self, program: Program, arguments: list[str]) -> None:
        program.rows(1)
        assert shown(program, *arguments, code=None)


class TestPacks:
    @pytest.fixture
    def pack(self, program: Program) -> str:
        need_node()
        scenarios = [scenario(f"S{number}", title=f"Close [/b] tags {HOSTILE}") for number in range(2)]
        for one in scenarios:
            one["detailCards"] = [{"title": HOSTILE, "content": HOSTILE}]
            one["tags"] = [HOSTILE]
        pack = write_pack(
            program.directory / "tools", scenarios, name=HOSTILE, version="1.0.0", description=HOSTILE
        )
        return str(pack)

    def test_the_matrix_of_a_run_names_what_it_tests(self, program: Program, pack: str, echo: str) -> None:
        command = ["pack", "run", pack, "--model", HOSTILE, "--base-url", echo]
        assert "Close [/b] tags" in shown(program, *command, code=None)
        assert "Close [/b] tags" in shown(program, "show", program.only_run.name)
        shown(program, *command, "--dry-run", code=None)

    @pytest.mark.parametrize("command", ["info", "validate"])
    def test_a_pack_that_is_looked_at(self, program: Program, pack: str, command: str) -> None:
        shown(program, "pack", command, pack, code=None)

    def test_packs_that_are_installed(self, program: Program, pack: str) -> None:
        shown(program, "pack", "install", pack, code=None)
        shown(program, "pack", "list")
        shown(program, "list")

    def test_errors_of_a_packs_own_code(self, program: Program, echo: str) -> None:
        need_node()
        words_of_it = json.dumps(HOSTILE)
        pack = faulty_pack(program.directory / "bad", thrown=f"throw new Error({words_of_it});")
        command = ["pack", "run", str(pack), "--model", "m", "--base-url", echo]
        assert "Close [/b] tags" in shown(program, *command, code=None)
