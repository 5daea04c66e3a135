"""Gateways that want headers: every command sends them, and no secret one is written anywhere."""

from __future__ import annotations

import json
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program, one_line_of, trials
from tests.app.benchmark_kit import write_mmlu
from tests.app.pack_kit import Packs
from tests.gateway import Gateway, gateway

from benchwright import evaluate

TEAM = "X-Team"
TOKEN = "cf-aig-authorization"
SECRET = "Bearer the-token-of-the-gateway"
WANTED = {TEAM: "blue", TOKEN: SECRET}
GIVEN = [f"--header={TEAM}=blue", f"--header-env={TOKEN}=GATEWAY_TOKEN"]
ENVIRONMENT = {"GATEWAY_TOKEN": SECRET}


@pytest.fixture
def gate() -> Iterator[Gateway]:
    with gateway(WANTED) as gate:
        yield gate


def evaluating(program: Program, base_url: str, *more: str) -> list[str]:
    return program.evaluating(program.rows(3), base_url, "--no-stream", *more)


def manifest(program: Program, run: int = 0) -> dict[str, object]:
    found: dict[str, object] = json.loads((program.runs[run] / "run.json").read_text())
    return found


def nothing_written_has(program: Program, secret: str) -> None:
    """No file of the test's folder holds the secret."""
    files = [path for path in program.directory.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert secret.encode() not in path.read_bytes(), path


class TestEveryCommand:
    @pytest.mark.parametrize("name", ["eval", "check", "load", "test"])
    def test_sends_the_headers_with_every_request(self, program: Program, gate: Gateway, name: str) -> None:
        program.write("agent.py", AGENT)
        program.write("agent_rows.jsonl", '{"system_prompt": "s", "user_prompt": "u", "ground_truth": "g"}\n')
        endpoint = ["--model=m", f"--base-url={gate.base_url}", *GIVEN]
        command = {
            "eval": evaluating(program, gate.base_url, *GIVEN),
            "check": ["check", *endpoint],
            "load": [
                "load",
                "--synthetic-input=5",
                "--requests=2",
                "--concurrency=1",
                "--no-stream",
                *endpoint,
            ],
            "test": ["test", "-m", "agent:Agent", "-d", "agent_rows.jsonl", *endpoint],
        }[name]
        ended = program.run(*command, **ENVIRONMENT)
        assert ended.returncode == 0, ended.stderr
        assert gate.refused == []
        assert gate.noted

    def test_of_packs_too(self, program: Program, gate: Gateway) -> None:
        packs = Packs(program)
        packs.run(packs.pack("pack"), gate.base_url, *GIVEN, GATEWAY_TOKEN=SECRET)
        assert gate.refused == []
        assert any(noted.path.endswith("/chat/completions") for noted in gate.noted)

    def test_with_worker_processes_too(self, program: Program, gate: Gateway) -> None:
        command = evaluating(program, gate.base_url, *GIVEN, "--workers=2", "--concurrency=2")
        ended = program.run(*command, **ENVIRONMENT)
        assert ended.returncode == 0, ended.stderr
        assert gate.refused == []

    def test_reads_metrics_of_the_same_server_with_them(self, program: Program, gate: Gateway) -> None:
        command = [
            "load",
            "--synthetic-input=5",
            "--requests=2",
            "--concurrency=1",
            "--no-stream",
            "--model=m",
        ]
        program.run(*command, f"--base-url={gate.base_url}", *GIVEN, **ENVIRONMENT)
        assert "/metrics" in {noted.path for noted in gate.noted}

    def test_says_how_when_one_is_missing(self, program: Program, gate: Gateway) -> None:
        ended = program.run("check", "--model=m", f"--base-url={gate.base_url}")
        assert ended.returncode == 1
        assert "(--header NAME=VALUE sends one)" in ended.stderr


class TestWhatIsKept:
    def test_is_the_value_of_a_plain_header_and_the_variable_of_a_secret_one(
        self, program: Program, gate: Gateway
    ) -> None:
        program.run(*evaluating(program, gate.base_url, *GIVEN), **ENVIRONMENT)
        kept = manifest(program)
        assert kept["settings"]["headers"] == {TEAM: "blue"}  # type: ignore[index]
        assert kept["settings"]["headers_env"] == {TOKEN: "GATEWAY_TOKEN"}  # type: ignore[index]
        assert kept["targets"][0]["headers"] == {"x-team": "blue"}  # type: ignore[index]

    def test_is_of_a_secret_one_that_was_typed_its_name(self, program: Program, gate: Gateway) -> None:
        program.run(
            *evaluating(program, gate.base_url, f"--header={TEAM}=blue", f"--header={TOKEN}={SECRET}")
        )
        assert manifest(program)["settings"]["headers"] == {TEAM: "blue", TOKEN: None}  # type: ignore[index]

    def test_is_no_secret_even_if_the_server_repeats_it(self, program: Program, gate: Gateway) -> None:
        wrong = "Bearer a-wrong-token-of-somebody"
        command = evaluating(program, gate.base_url, f"--header={TEAM}=blue", f"--header={TOKEN}={wrong}")
        ended = program.run(*command, "-o", "out.json", "--log-samples", "--retries=0")
        assert "[secret]" in ended.stdout
        program.run("report", program.only_run.name, "--output", "report.html")
        assert "a-wrong-token" not in ended.stdout + ended.stderr
        nothing_written_has(program, "a-wrong-token-of-somebody")


class TestAResumedRun:
    def interrupted(self, program: Program, gate: Gateway, *headers: str) -> str:
        """Begins a run and stops it by its budget; returns its id."""
        command = evaluating(program, gate.base_url, *headers, "--budget-tokens=1")
        program.run(*command, **ENVIRONMENT)
        assert len(trials(program.only_run)) < 3
        return program.only_run.name

    def test_has_its_headers_again(self, program: Program, gate: Gateway) -> None:
        run = self.interrupted(program, gate, *GIVEN)
        ended = program.run("resume", run, **ENVIRONMENT)
        assert "header" not in ended.stderr
        assert gate.refused == []

    def test_asks_for_a_secret_that_was_not_kept(self, program: Program, gate: Gateway) -> None:
        run = self.interrupted(program, gate, f"--header={TEAM}=blue", f"--header={TOKEN}={SECRET}")
        ended = program.run("resume", run)
        assert ended.returncode == 1
        assert f"The header {TOKEN} is secret, and was not kept with the run" in one_line_of(ended.stderr)
        again = program.run("resume", run, f"--header={TOKEN.upper()}={SECRET}")
        assert "not kept" not in again.stderr
        assert gate.refused == []


class TestWhichRunItIs:
    def test_another_plain_header_is_another_run(self, program: Program) -> None:
        with gateway({}) as gate:
            for provider in ("a", "b", "b"):
                program.run(*evaluating(program, gate.base_url, f"--header=x-provider={provider}"))
        assert len(program.runs) == 2

    def test_another_secret_is_the_same_run(self, program: Program) -> None:
        with gateway({}) as gate:
            for token in ("first-token", "second-token"):
                ended = program.run(*evaluating(program, gate.base_url, f"--header=X-Token={token}"))
        assert len(program.runs) == 1
        assert "already completed (cached)" in ended.stdout

    def test_two_models_may_differ_by_a_header(self, program: Program) -> None:
        file = program.write(
            "models.toml",
            "".join(
                f'[[models]]\nmodel = "m"\nname = "{name}"\nheaders = {{ x-provider = "{name}" }}\n'
                for name in ("a", "b")
            ),
        )
        with gateway({}) as gate:
            rows = program.rows(2)
            ended = program.run("eval", "-d", rows, "--scorer=exact", f"--models={file}", "--no-stream",
                                f"--base-url={gate.base_url}")  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        asked = [noted.headers["x-provider"] for noted in gate.noted if "completions" in noted.path]
        assert sorted(asked) == ["a", "a", "b", "b"]


class TestWhereHeadersGo:
    def test_those_of_all_go_to_no_other_address(self, program: Program, gate: Gateway) -> None:
        with gateway({}) as other:
            file = program.write(
                "models.toml",
                f'[[models]]\nmodel = "a"\n[[models]]\nmodel = "b"\nbase_url = "{other.base_url}"\n',
            )
            ended = program.run("eval", "-d", program.rows(1), "--scorer=exact", f"--models={file}", "--no-stream",
                                f"--base-url={gate.base_url}", *GIVEN, **ENVIRONMENT)  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        assert all(TEAM.lower() not in noted.headers for noted in other.noted)

    def test_a_models_own_go_before_those_of_all(self, program: Program) -> None:
        file = program.write("models.toml", '[[models]]\nmodel = "m"\nheaders = { x-TEAM = "red" }\n')
        with gateway({TEAM: "red"}) as gate:
            ended = program.run("eval", "-d", program.rows(1), "--scorer=exact", f"--models={file}", "--no-stream",
                                f"--base-url={gate.base_url}", f"--header={TEAM}=blue")  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        assert gate.refused == []

    def test_a_judge_has_its_own(self, program: Program) -> None:
        with gateway({}) as model, gateway({"X-Judge": "j", "X-Key": "key-of-the-judge"}) as judge:
            command = ["eval", "-d", program.rows(1), "--scorer=judge", "--model=m", "--no-stream",
                       f"--base-url={model.base_url}", "--judge-model=j", f"--judge-base-url={judge.base_url}",
                       "--judge-header=X-Judge=j", "--judge-header-env=X-Key=JUDGE_HEADER"]  # fmt: skip
            program.run(*command, JUDGE_HEADER="key-of-the-judge")
        assert judge.noted
        assert judge.refused == []
        assert all("x-judge" not in noted.headers for noted in model.noted)

    def test_a_judge_at_the_same_address_has_those_of_the_model(
        self, program: Program, gate: Gateway
    ) -> None:
        command = evaluating(program, gate.base_url, *GIVEN)
        command[command.index("exact")] = "judge"
        program.run(*command, "--judge-model=j", **ENVIRONMENT)
        assert gate.refused == []


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (["--header=X-Team"], "--header takes NAME=VALUE, with an equals sign and no colon"),
            (["--header=X-Team: blue"], "--header takes NAME=VALUE, with an equals sign and no colon"),
            (["--header=Content-Length=3"], "Content-Length cannot be set"),
            (["--header=X=a\r\nY: b"], "the value of X has characters that are invalid in an HTTP header"),
            (["--header=X=1", "--header=x=2"], "the header x is there twice"),
            (["--header-env=X=NO_SUCH_VARIABLE"], "the variable NO_SUCH_VARIABLE, which is not set"),
            (["--ca-file=nowhere.pem"], "--ca-file nowhere.pem cannot be read"),
            (["--client-key=key.pem"], "--client-key requires --client-cert"),
        ],
    )
    def test_are_told_in_a_line(self, program: Program, options: list[str], told: str) -> None:
        ended = program.run("check", "--model=m", f"--base-url={NOWHERE}", *options)
        assert ended.returncode in (1, 2)
        assert told in ended.stderr.splitlines()[-1]

    def test_a_secret_of_a_judge_is_not_typed(self, program: Program) -> None:
        command = evaluating(program, NOWHERE, "--judge-model=j", "--judge-header=X-Api-Key=sk-of-the-judge")
        command[command.index("exact")] = "judge"
        ended = program.run(*command)
        line = one_line_of(ended.stderr)
        assert (
            "--judge-header: X-Api-Key is secret: name a variable that holds it, with --judge-header-env"
            in line
        )
        assert "sk-of-the-judge" not in line

    def test_a_file_that_came_with_the_folder_names_no_variable_to_be_sent(self, program: Program) -> None:
        program.write(".env", "BENCHWRIGHT_HEADERS_ENV=X-Leak=PRIVATE_THING\n")
        with gateway({}) as gate:
            program.run("check", "--model=m", f"--base-url={gate.base_url}", PRIVATE_THING="of the user")
        assert all("x-leak" not in noted.headers for noted in gate.noted)


class TestRefusals:
    def test_are_told_once_and_counted(self, program: Program) -> None:
        with gateway({}, strict=["seed", "stream_options"]) as gate:
            arguments = [
                "eval",
                "-d",
                program.rows(4),
                "--scorer=exact",
                "--model=m",
                f"--base-url={gate.base_url}",
            ]
            ended = program.run(*arguments)
        assert ended.returncode == 0, ended.stderr
        said = ended.stdout + ended.stderr
        assert said.count("refuses stream_options") == 1
        assert "4 requests sent without stream_options, which the server refuses." in said
        shown = program.summary(*arguments)
        assert shown.targets[0].requests.requests_without == {"stream_options": 4}

    def test_of_what_the_user_wants_are_errors_that_say_what_to_do(self, program: Program) -> None:
        with gateway({}, strict=["temperature"]) as gate:
            ended = program.run(*evaluating(program, gate.base_url, "--temperature=0"))
            told = "refused the field 'temperature'"
            assert told in ended.stderr
            assert "--temperature sent it; --param temperature=null leaves it out" in ended.stderr
            summary = program.summary(
                *evaluating(program, gate.base_url, "--temperature=0", "--param=temperature=null", "--fresh")
            )
        assert summary.done == 3

    def test_of_the_seed_of_a_protocol_are_left_out_and_of_the_users_are_not(self, program: Program) -> None:
        path = write_mmlu(program, 3)
        command = ["run", "mmlu", "--model=m", "--no-stream", f"--option=path={path}"]
        with gateway({}, strict=["seed"]) as gate:
            ended = program.run(*command, f"--base-url={gate.base_url}")
            assert ended.returncode == 0, ended.stderr
            assert [trial.requests[0].seed for trial in trials(program.only_run)] == [None] * 3
            refused = program.run(*command, f"--base-url={gate.base_url}", "--seed=7")
        assert "refused the field 'seed'" in refused.stderr
        assert "--seed sent it" in refused.stderr


class TestOtherAddresses:
    def test_a_unix_socket_is_evaluated(self, program: Program) -> None:
        with tempfile.TemporaryDirectory(prefix="llm") as directory:
            socket = Path(directory, "s")
            with gateway({}, socket=socket) as gate:
                summary = program.summary(*evaluating(program, gate.base_url))
                told = program.run("show", program.only_run.name)
        assert summary.targets[0].base_url == f"unix://{socket}"
        assert summary.done == 3
        assert told.returncode == 0

    def test_a_certificate_of_the_companys_is_trusted(self, program: Program) -> None:
        make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
        files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
        subprocess.run([*make.split(), *files], check=True, capture_output=True, cwd=program.directory)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(program.directory / "cert.pem", program.directory / "key.pem")
        with gateway({}, tls=context) as gate:
            assert program.run(*evaluating(program, gate.base_url)).returncode != 0
            summary = program.summary(*evaluating(program, gate.base_url, "--ca-file=cert.pem"))
        assert summary.done == 3


def test_python_takes_headers_too(gate: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
    monkeypatch.setenv("GATEWAY_TOKEN", SECRET)
    rows = [{"prompt": "a", "answer": "a"}]
    result = evaluate(rows, "m", scorer="exact", base_url=gate.base_url, stream=False, headers={TEAM: "blue"},
                      headers_env={TOKEN: "GATEWAY_TOKEN"})  # fmt: skip
    assert result.summary.targets[0].scores[0].mean == 1.0
    assert gate.refused == []


AGENT = """
from osmosis_ai.rollout import RolloutAgentLoop, RolloutContext, RolloutResult


class Agent(RolloutAgentLoop):
    name = "agent"

    def get_tools(self, request):
        return []

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        messages = list(ctx.request.messages)
        answer = await ctx.chat(messages)
        messages.append(answer.message)
        return ctx.complete(messages)
"""
