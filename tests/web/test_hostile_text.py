"""What a model, a dataset or a pack wrote is shown and does nothing."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from playwright.sync_api import Browser, expect
from tests.app.app_kit import Program
from tests.app.compare_kit import STARTED
from tests.web.web_kit import Viewing, viewing, write

from benchwright.records import Message, RequestRecord, ScoreRecord, Status, Target, TrialRecord
from benchwright.runs.journal import ExchangeBody, Journal, TrialBody, encode_json
from benchwright.runs.keys import fingerprint

RUN = "20260105T000000-hostile-00000000"
OTHER = "20260106T000000-hostile-00000000"

TEXTS = {
    "script": "<script>window.caught = 1</script><script src=/static/view.js></script>",
    "handler": "<img src=x onerror='window.caught = 1'><svg onload=\"window.caught = 1\"><body onload=alert(1)>",
    "link": '<a href="javascript:window.caught = 1">click</a> [click](javascript:window.caught=1)',
    "attribute": '" onmouseover="window.caught = 1" autofocus onfocus="window.caught = 1',
    "style": "<style>body{display:none}</style></pre></article></main><h1 id=stolen>out</h1>",
    "template": "{{ 7 * 191 }} {% include '/etc/passwd' %} ${7*191} {{ self.__init__ }}",
    "frame": "<iframe src='data:text/html,<script>parent.caught=1</script>'></iframe><base href=//evil.example>",
    "refresh": "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "form": "<form action=/runs/x/stop method=post><button>Stop</button></form>",
    "bidi": "right \u202eto left\u202c and \u2066isolated\u2069, zero\u200bwidth, tag\U000e0041",
    "control": "bell \x07 escape \x1b[31m null \x00 back\x08space",
}


def attack(journal: Journal, name: str, text: str) -> None:
    """A trial that has the text wherever text can be."""
    key = fingerprint(name)
    messages: list[Message] = [
        {"role": text, "content": text, "name": text},
        {"role": "assistant", "content": text, "reasoning_content": text,
         "tool_calls": [{"id": text, "function": {"name": text, "arguments": text}}]},
        {"role": "tool", "tool_call_id": text, "content": text},
        {"role": "assistant", "content": text},
    ]  # fmt: skip
    native = {
        "status": text,
        "summary": text,
        "note": text,
        "rawLog": text,
        "verifier": {"status": text, "summary": text, "details": {text: text}},
        "artifacts": [{"kind": text, "label": text, "path": text}],
        "output": {"finalAnswer": text},
    }
    response = msgspec.Raw(encode_json({"choices": [{"message": {"content": text, "reasoning": text}}]}))
    body = TrialBody(
        key,
        messages=messages,
        answer=text,
        exchanges=[ExchangeBody({text: text}, 2, response)],
        artifacts={text: text},
        native=native,
        input=text,
        target=text,
    )
    request = RequestRecord(text, role=text, total=1000, error=text, finish_reason=text, flags=[text])
    record = TrialRecord(
        key, f"{name} {text}", "primary", Status.ANSWERED, group=text, labels={text: text, "kind": name},
        reason=text, requests=[request], started_at=STARTED, duration=10**9,
    )  # fmt: skip
    journal.write_trial(record, encode_json(body))
    journal.write_lines(
        ScoreRecord(f"{key}-s", key, text, 0.5, span=text, detail={text: text}, explanation=text)
    )


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    """Two runs in which everything that can be foreign is."""
    everything = " ".join(TEXTS.values())
    for run in (RUN, OTHER):
        directory = write(
            shared_program,
            run,
            [],
            name=everything,
            targets=[Target("primary", everything, everything)],
            typed_models={"primary": everything},
            settings={everything: everything},
            about={everything: everything},
        )
        (directory / "tags.json").write_bytes(msgspec.json.encode([everything.replace("\x00", "")]))
        journal = Journal(directory)
        for name, text in TEXTS.items():
            attack(journal, name, text)
        journal.close()
    with viewing(shared_program) as viewer:
        yield viewer


def sample_path(viewer: Viewing, name: str) -> str:
    return viewer.sample(RUN, f"{name} {TEXTS[name]}")


def pages(viewer: Viewing) -> list[str]:
    lists = ["/", f"/runs/{RUN}", "/compare", "/table", f"/compare?a={RUN}&b={OTHER}&anyway=1"]
    searched = [f"/?q={name}" for name in ("%22%3E%3Cscript%3E", "%3Cimg%20src%3Dx%20onerror%3Dx%3E")]
    return lists + searched + [sample_path(viewer, name) for name in TEXTS]


def test_nothing_that_was_written_runs_or_leaves_its_place(viewer: Viewing, chromium: Browser) -> None:
    with viewer.browser(chromium) as watched:
        page = watched.page
        for path in pages(viewer):
            viewer.open(page, path)
            page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
            page.mouse.move(200, 300)
            assert page.evaluate("window.caught") is None, path
            assert page.locator("#stolen, main iframe, main script, main style, main img, base").count() == 0
            assert page.locator("a[href^=javascript]").count() == 0
            assert page.url == viewer.base + path
        assert watched.troubles == []
        assert [url for url in watched.requests if not url.startswith(viewer.base)] == []


def test_markup_is_shown_as_it_was_written(viewer: Viewing, chromium: Browser) -> None:
    with viewer.browser(chromium) as watched:
        viewer.open(watched.page, sample_path(viewer, "script"))
        expect(watched.page.locator(".said.assistant pre.text").last).to_have_text(TEXTS["script"])


def test_templates_are_text(viewer: Viewing) -> None:
    assert "1337" not in viewer.get(sample_path(viewer, "template")).text


def test_marks_that_turn_or_hide_text_are_told_by_their_number(viewer: Viewing) -> None:
    for path in ("/", f"/runs/{RUN}", sample_path(viewer, "bidi"), sample_path(viewer, "control")):
        text = viewer.get(path).text
        assert not any(mark in text for mark in "\u202e\u202c\u2066\u2069\u200b\U000e0041\x07\x1b\x00\x08")
    assert "right ⟨U+202E⟩to left" in viewer.get(sample_path(viewer, "bidi")).text


def test_a_line_of_five_megabytes_is_cut_and_the_file_has_all_of_it(
    viewer: Viewing, chromium: Browser, program: Program
) -> None:
    line = "ab" * 2_621_440
    run = "20260107T000000-long-00000000"
    journal = Journal(write(program, run, []))
    attack(journal, "long", "short")
    key = fingerprint("long line")
    body = TrialBody(
        key, messages=[{"role": "user", "content": line}, {"role": "assistant", "content": line}]
    )
    record = TrialRecord(key, "line", "primary", Status.ANSWERED, started_at=STARTED, duration=1)
    journal.write_trial(record, encode_json(body))
    journal.close()
    with viewing(program) as other:
        path = other.sample(run, "line")
        assert len(other.get(path).text) < 500_000
        with other.browser(chromium) as watched:
            other.open(watched.page, path)
            expect(watched.page.locator(".cut").first).to_contain_text("characters cut")
            assert watched.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            other.open(watched.page, f"/runs/{run}")
            assert watched.troubles == []
        whole = other.get(path.replace("/sample?", "/sample/file?") + "&part=body&attempt=0&exchange=0").text
        assert line in whole


def test_broken_text_and_broken_lines_break_no_page(viewer: Viewing, program: Program) -> None:
    run = "20260108T000000-broken-00000000"
    directory = write(program, run, [])
    journal = Journal(directory)
    attack(journal, "surrogate", "half a pair: \ud83d and \udc00")
    key = fingerprint("raw")
    raw = (
        b'{"key":"%s","messages":[{"role":"user","content":"a \\ud800 b"}],"answer":"\\udfff"}' % key.encode()
    )
    for sample, encoded in (("raw", raw), ("bytes", b'{"key":"\xff\xfe"}'), ("none", b"not json at all")):
        record = TrialRecord(fingerprint(sample), sample, "primary", Status.ANSWERED, started_at=STARTED)
        journal.write_trial(record, encoded)
    journal.close()
    with (directory / "trials.jsonl").open("ab") as file:
        file.write(b"no line of a journal\n" + b'{"type":"trial","key":"half of a li')
    with viewing(program) as other:
        for sample in ("raw", "bytes", "none", "surrogate half a pair: ? and ?"):
            assert other.get(other.sample(run, sample)).status == 200, sample
        samples = other.get(f"/runs/{run}?part=samples")
        assert samples.status == 200
        assert "1 line of the journal cannot be read" in samples.text
