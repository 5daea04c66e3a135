"""Every command in docs/simulate.md serves what the document says, on a port of its own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import IncompleteRead
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.endpoint.simulate.test_simulated_quirks import FLAGGED
from tests.programs import start_benchwright

from benchwright.endpoint.flags import FLAG_NOTES
from benchwright.endpoint.simulate.quirks import QUIRKS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "simulate.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```bash\n(.*?)^```", TEXT, re.M | re.S)
    for line in block.replace("\\\n", " ").splitlines()
]
FILES = dict(
    zip(
        ("key.jsonl", "conversations.jsonl"),
        re.findall(r"^```json\n(.*?)^```", TEXT, re.M | re.S),
        strict=True,
    )
)

Ask = Callable[..., dict[str, Any]]


@contextmanager
def serving(line: str, directory: Path) -> Iterator[Ask]:
    """Runs a command; yields a function that asks it for the next message of a conversation."""
    for name, text in FILES.items():
        (directory / name).write_text(text)
    arguments = [*shlex.split(line.replace("--port 8000", "--port 0")), "--port-file", "port"]
    process = start_benchwright(
        arguments[1:], directory=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        while not (directory / "port").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        port = (directory / "port").read_text().strip()

        def ask(*messages: dict[str, Any]) -> dict[str, Any]:
            body = json.dumps({"model": "m", "messages": messages}).encode()
            headers = {"Content-Type": "application/json"}
            with urlopen(Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, headers)) as answer:
                message: dict[str, Any] = json.load(answer)["choices"][0]["message"]
                return message

        yield ask
    finally:
        process.terminate()
        process.communicate(timeout=10)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def says_it_again(ask: Ask, directory: Path) -> None:
    assert ask(user("Good morning."))["content"] == "Good morning."


def knows_half_of_the_key(ask: Ask, directory: Path) -> None:
    said = [
        ask(user("What is 6 times 7?"))["content"],
        ask(user("Please: the capital of Peru, in a word"))["content"],
    ]
    right = ["The answer is 42", "The answer is Lima"]
    assert sum(one == other for one, other in zip(said, right, strict=True)) == 1


def plays_the_scripts(ask: Ask, directory: Path) -> None:
    asked = user("Which city am I in?")
    call = ask(asked)
    assert call["tool_calls"][0]["function"]["name"] == "locate"
    told = {"role": "tool", "tool_call_id": "1", "content": "Lima"}
    assert ask(asked, call, told)["content"] == "You are in Lima."
    opening = [{"role": "system", "content": "You are a user who calls."}, user("Hi!")]
    hello = ask(*opening)
    assert hello["content"] == "Hello, cancel my order."
    assert ask(*opening, hello, user("Done."))["content"] == "###STOP###"


def is_in_trouble_now_and_then(ask: Ask, directory: Path) -> None:
    outcomes = Counter(outcome(ask, f"{number}") for number in range(100))
    assert outcomes.keys() == {"answered", "429", "cut off"}
    assert 5 <= outcomes["429"] <= 15, "one in ten"
    assert 1 <= outcomes["cut off"] <= 10, "one in twenty"


def outcome(ask: Ask, text: str) -> str:
    try:
        ask(user(text))
    except HTTPError as error:
        with error:
            return str(error.code)
    except (IncompleteRead, ValueError):
        return "cut off"
    return "answered"


def says_many_words_and_logs_them(ask: Ask, directory: Path) -> None:
    assert len(ask(user("Go on."))["content"].split()) == 128
    for _ in range(100):
        if lines := (directory / "truth.jsonl").read_text().splitlines():
            break
        time.sleep(0.02)
    told = json.loads(lines[0])
    assert told["complete"] is True
    fields = TEXT.partition("`--log FILE`")[2]
    assert {
        name for row in re.findall(r"^- (`.*?`): ", fields, re.M) for name in re.findall(r"\w+", row)
    } == set(told)


def remembers_a_prompt(ask: Ask, directory: Path) -> None:
    prompt = user(" ".join(f"word{number}" for number in range(2000)))
    begun = time.monotonic()
    ask(prompt)
    assert time.monotonic() - begun >= 0.1 + 0.02 + 31 * 0.005, (
        "2,000 tokens at 20,000 a second, and 32 words"
    )
    ask(prompt)
    port = (directory / "port").read_text().strip()
    with urlopen(f"http://127.0.0.1:{port}/metrics") as page:
        samples = dict(re.findall(r"^(vllm:\w+?)(?:_count)?\{.* (\S+)$", page.read().decode(), re.M))
    assert set(re.findall(r"`(vllm:\w+)`", TEXT)) <= set(samples)
    assert samples["vllm:prefix_cache_queries_total"] == "4000"
    assert samples["vllm:prefix_cache_hits_total"] == "1984"


CHECKS = {
    "--cache-blocks": remembers_a_prompt,
    "--answers": knows_half_of_the_key,
    "--scripts": plays_the_scripts,
    "--fault": is_in_trouble_now_and_then,
    "--log": says_many_words_and_logs_them,
    "": says_it_again,
}
"""By what a command has in it, the first that fits."""


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_serves_what_the_document_says(line: str, tmp_path: Path) -> None:
    check = next(check for sign, check in CHECKS.items() if sign in line)
    with serving(line, tmp_path) as ask:
        check(ask, tmp_path)


def test_every_check_has_its_command() -> None:
    assert len(COMMANDS) == len(CHECKS)


def test_every_quirk_is_described_with_the_note_that_it_leads_to() -> None:
    section = TEXT.partition("### Quirks")[2].partition("### Marks")[0]
    rows = re.findall(r"^- `(\w+)` .+?(?: \[`(\w+)`\])?$", section, re.M)
    assert [name for name, _ in rows] == list(QUIRKS)
    assert {name: note for name, note in rows if note} == FLAGGED


def test_every_note_is_described() -> None:
    formats = (DOCS / "formats.md").read_text(encoding="utf-8")
    section = formats.partition("## Notes on requests")[2].partition("## The cache")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == list(FLAG_NOTES)
