"""The report in a real browser: quiet, sealed, and harmless whatever a model wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page
from tests.app.app_kit import Program
from tests.app.benchmark_kit import knowing, write_mmlu
from tests.app.compare_kit import Made, made, two_runs
from tests.browser import browser_page, started_chromium
from tests.simulated import simulated_endpoint
from tests.web.web_kit import troubles_everywhere

from benchwright.app.report import ReportSettings, write_report
from benchwright.records import Status, Target

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)><svg onload=alert(3)>',
    "</div></details></main><style>body{display:none}</style>",
    "[click](javascript:alert(4)) <a href='javascript:alert(5)'>here</a>",
    "safe \u202etxt.exe\u202c and \u200b\u2066hidden\u2069 and \x1b[31m\x00",
    "</title><meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<iframe src='http://evil.example/'></iframe><link rel=stylesheet href='//evil.example/x.css'>",
    "{{ 7 * 7 }} {% raw %} &lt;b&gt; &#x202e; \\ud83d ]]> --> <!--",
)

Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def benchmark(place: Path) -> Path:
    """Two models on MMLU, one after the other, with reasoning and faults."""
    program = Program(place)
    path = write_mmlu(program, 32)
    options = ("--reasoning", "Let me see. ", "--fault", "rate_limit=0.1", "--retry-after", "0.01")
    for name, accuracy in (("small", 0.6), ("large", 0.9)):
        with knowing("mmlu", path, accuracy, *options) as url:
            ended = program.run("--base-url", url, "--model", name, "run", "mmlu", "--n", "1")
            assert ended.returncode == 0, ended.stderr
    ended = program.run("report", *(run.name for run in program.runs), "--samples", "6", "-o", "mmlu.html")
    assert ended.returncode == 0, ended.stderr
    return program.directory / "mmlu.html"


@pytest.fixture(scope="module")
def hostile(place: Path) -> Path:
    """A model that answers with whatever might harm a page, in rows that ask for it."""
    program = Program(place / "hostile")
    program.directory.mkdir()
    rows = [
        {"prompt": f"{number}: {text}", "answer": text, "kind": text} for number, text in enumerate(HOSTILE)
    ]
    program.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    keyed = [{"prompt": row["prompt"], "answer": row["answer"]} for row in rows]
    options = ("--reasoning", HOSTILE[0] + HOSTILE[1])
    with simulated_endpoint(*options, answers=keyed) as url:
        ended = program.run(*program.evaluating("rows.jsonl", url, "--group-by", "kind"))
        assert ended.returncode == 0, ended.stderr
    ended = program.run("report", program.only_run.name, "--title", HOSTILE[0], "-o", "hostile.html")
    assert ended.returncode == 0, ended.stderr
    return program.directory / "hostile.html"


@pytest.fixture(scope="module")
def hostile_pair(place: Path) -> Path:
    """Two runs with hostile models, samples, spans, reasons and scorers; every kind of status among them."""
    a, b = (
        [
            Made(text, float((number + side) % 2), span=text, answer=text, group=text)
            for number, text in enumerate(HOSTILE)
        ]
        + [Made("broken", None), Made("failed", failed=Status.PROVIDER_ERROR)]
        for side in (0, 1)
    )
    targets = [Target("primary", HOSTILE[1], "http://user:pass@h/v1", {"stop": HOSTILE[0]})]
    runs = two_runs(place / "pair", a, b, targets=targets, settings={"note": HOSTILE[2]})
    page = place / "pair.html"
    write_report(runs, page, ReportSettings())
    return page


@pytest.fixture(scope="module")
def chromium(benchmark: Path, hostile: Path, hostile_pair: Path) -> Iterator[Browser]:
    """Started when the pages are made: no coroutine can run beside it."""
    with started_chromium() as browser:
        yield browser


@pytest.fixture(params=["benchmark", "hostile", "hostile_pair"])
def report(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


def open_everything(page: Page) -> None:
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_it_asks_for_nothing_breaks_no_rule_and_fits(
    chromium: Browser, report: Path, scheme: Scheme, width: int
) -> None:
    with browser_page(chromium, scheme=scheme, width=width) as watched:
        watched.page.goto(report.as_uri())
        open_everything(watched.page)
        watched.page.wait_for_timeout(50)
        assert watched.requests == [report.as_uri()]
        assert watched.troubles == []
        assert watched.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_it_can_be_used_by_everyone_everywhere(chromium: Browser, report: Path) -> None:
    with browser_page(chromium) as watched:
        watched.page.goto(report.as_uri())
        assert troubles_everywhere(watched.page) == []


def test_the_policy_refuses_what_a_page_could_be_made_to_load(
    chromium: Browser, hostile: Path, tmp_path: Path
) -> None:
    """Were the escaping ever to fail, this is what is left."""
    broken = tmp_path / "broken.html"
    planted = "<script>alert(1)</script><img src='http://evil.example/x.png'><p style='color:red'>x</p>"
    broken.write_text(hostile.read_text().replace("<main", planted + "<main", 1))
    with browser_page(chromium) as watched:
        watched.page.goto(broken.as_uri())
        watched.page.wait_for_timeout(50)
        told = " ".join(watched.troubles)
        assert "dialog" not in told
        for rule in ("script-src", "img-src", "style-src"):
            assert f"refused by the content security policy: {rule}" in told


@pytest.mark.slow
class TestHostileText:
    @pytest.fixture(params=["hostile", "hostile_pair"])
    def page(self, request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Page]:
        with browser_page(chromium) as watched:
            watched.page.goto(request.getfixturevalue(request.param).as_uri())
            open_everything(watched.page)
            yield watched.page

    def test_it_makes_no_elements(self, page: Page) -> None:
        for name in ("script", "img", "iframe", "link", "object", "form", "svg svg", "[onload]", "[onerror]"):
            assert page.locator(name).count() == 0, name
        assert page.locator("style").count() == 1
        addresses = page.eval_on_selector_all("a", "all => all.map(one => one.getAttribute('href'))")
        assert all(address.startswith("#") for address in addresses)

    def test_it_can_be_read_as_it_was_written(self, page: Page) -> None:
        words = page.locator("body").text_content() or ""
        for text in (*HOSTILE[:4], *HOSTILE[5:]):
            assert text in words
        assert (
            "safe ⟨U+202E⟩txt.exe⟨U+202C⟩ and ⟨U+200B⟩⟨U+2066⟩hidden⟨U+2069⟩ and ⟨U+001B⟩[31m⟨U+0000⟩"
            in words
        )

    def test_no_character_of_it_steers_or_hides(self, page: Page) -> None:
        content = page.content()
        assert not [mark for mark in "\u202e\u202c\u2066\u2069\u200b\x1b\x00" if mark in content]


def test_the_end_of_the_page_is_inside_its_main_part(chromium: Browser, hostile_pair: Path) -> None:
    with browser_page(chromium) as watched:
        watched.page.goto(hostile_pair.as_uri())
        assert watched.page.locator("main > section#provenance").count() == 1
        assert watched.page.title().startswith("eval questions: ")


def test_changed_samples_can_be_narrowed_down(chromium: Browser, hostile_pair: Path) -> None:
    with browser_page(chromium) as watched:
        watched.page.goto(hostile_pair.as_uri())
        flips = watched.page.locator("#flips .talk:visible")
        assert flips.count() == len(HOSTILE)
        for kind in ("lost", "won"):
            watched.page.get_by_role("radio", name=kind).check()
            assert flips.count() == len(HOSTILE) // 2
            assert set(flips.locator(".tag").all_text_contents()) == {kind}


def test_what_was_taken_as_the_answer_is_marked(chromium: Browser, benchmark: Path) -> None:
    with browser_page(chromium) as watched:
        watched.page.goto(benchmark.as_uri())
        marked = watched.page.locator("#conversations .by-model mark").all_text_contents()
        assert marked
        assert set(marked) <= set("ABCD")


def test_reasoning_is_folded_until_it_is_opened(chromium: Browser, benchmark: Path) -> None:
    with browser_page(chromium) as watched:
        watched.page.goto(benchmark.as_uri())
        talk = watched.page.locator("#conversations .talk").first
        talk.locator("summary").first.click()
        thought = talk.get_by_text("Let me see.", exact=True)
        assert not thought.is_visible()
        talk.get_by_text("Reasoning").click()
        assert thought.is_visible()


def test_on_paper_every_conversation_is_open(chromium: Browser, hostile: Path) -> None:
    with browser_page(chromium) as watched:
        watched.page.goto(hostile.as_uri())
        answer = watched.page.locator("#conversations .by-model > .text").first
        assert not answer.is_visible()
        watched.page.emulate_media(media="print")
        assert answer.is_visible()
        assert not watched.page.locator("nav").is_visible()


def test_five_megabytes_in_a_line_are_cut(place: Path, chromium: Browser) -> None:
    long = "x" * 5_000_000
    runs = two_runs(place / "long", made([0.0], asked=long, span="42"), made([1.0], asked=long))
    page = place / "long.html"
    assert write_report(runs, page, ReportSettings()) < 200_000
    with browser_page(chromium) as watched:
        watched.page.goto(page.as_uri())
        assert "4,996,001 characters cut" in (watched.page.locator("#conversations").text_content() or "")
