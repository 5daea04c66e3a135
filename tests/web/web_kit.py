"""What the tests of the viewer share: a viewer in a process of its own, runs for it to show, a browser let in."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.browser import Watched, browser_page

from benchwright.records import Status

PLACES: tuple[tuple[int, Literal["light", "dark"]], ...] = ((390, "light"), (1440, "dark"))
"""A phone and a desk: pixels across, and the scheme."""

CUT_OFF = """() => [...document.querySelectorAll("th, td, svg, pre, p, input, select, button")]
    .filter((one) => one.checkVisibility() && !one.closest(".hidden, thead, .scroll[tabindex='0'][aria-label]"))
    .filter((one) => one.getBoundingClientRect().width > 0)
    .filter((one) => one.getBoundingClientRect().left < 0 || one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.outerHTML.slice(0, 120))"""
"""What reaches over an edge of the window, but for regions that have a name and can be scrolled by keys."""

PATIENCE = 60_000
"""Milliseconds that a page may take to show what a run at work does."""


def troubles_everywhere(page: Page) -> list[tuple[Any, ...]]:
    """Findings of axe and what is cut off, on a phone in light and on a desk in dark, all folds open.

    Colours are the same at every width, and nothing else depends on the scheme: the other two pairs add nothing but
    their time, which axe takes for every element of a page.
    """
    page.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true; })")
    troubles: list[tuple[Any, ...]] = []
    for width, scheme in PLACES:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        for one in Axe().run(page).response["violations"]:
            places = [node["html"][:120] for node in one["nodes"]]
            troubles.append((width, scheme, one["id"], places))
        troubles += [(width, "cut off", one) for one in page.evaluate(CUT_OFF)]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            troubles.append((width, "scrolls sideways"))
    return troubles


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    headers: http.client.HTTPMessage
    text: str


class Viewing:
    """A viewer at work. `address` is the one it printed, `base` where it listens."""

    def __init__(self, program: Program, address: str) -> None:
        self.program = program
        self.address = address
        self.base = address.partition("/?")[0]
        self.port = urlsplit(address).port
        self.token = address.rpartition("=")[2]
        self._cookie = ""

    @property
    def cookie(self) -> str:
        """The cookie that the address is exchanged for."""
        if not self._cookie:
            self._cookie = self.ask(f"/?token={self.token}").headers["Set-Cookie"].partition(";")[0]
        return self._cookie

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str | None) -> Reply:
        """Asks as any program could; a header that is None is left out, `_` in names is a dash."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value)
        if body:
            connection.putheader("Content-Type", "application/x-www-form-urlencoded")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.headers, answer.read().decode(errors="replace"))
        connection.close()
        return reply

    def get(self, path: str, **headers: str | None) -> Reply:
        """Asks with the cookie."""
        return self.ask(path, "GET", "", **{"Cookie": self.cookie, **headers})

    def post(self, path: str, body: str = "", **headers: str | None) -> Reply:
        """Posts as a page of the viewer does."""
        return self.ask(path, "POST", body, **{"Cookie": self.cookie, "Origin": self.base, **headers})

    def sample(self, run: str, sample: str, **more: str) -> str:
        """The path of a trial's page."""
        query = "".join(f"&{name}={quote(value)}" for name, value in more.items())
        return f"/runs/{run}/sample?id={quote(sample)}{query}"

    @contextmanager
    def browser(self, chromium: Browser, **options: Any) -> Iterator[Watched]:
        """A browser that opened the address."""
        with browser_page(chromium, **options) as watched:
            watched.page.goto(self.address)
            watched.page.wait_for_url(f"{self.base}/")
            yield watched

    def open(self, page: Page, path: str) -> None:
        """Goes to a page, and waits for what it fills in by itself."""
        page.goto(self.base + path)
        page.wait_for_function("() => !document.querySelector('[data-deferred], [data-reading]')")


@contextmanager
def viewing(program: Program) -> Iterator[Viewing]:
    """`benchwright view` over the runs of a program."""
    process = program.start("view", "--port", "0", "--no-open")
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address, process.communicate()
    try:
        yield Viewing(program, address)
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=30)


def write(program: Program, run: str, trials: Sequence[Made], **changes: Any) -> Path:
    """A run in the store of a program."""
    return write_run(program.home / "runs" / run, trials, **changes)


def mixed_run(program: Program, run: str = "20260101T000000-mixed-00000000", **changes: Any) -> Path:
    """A run with a trial of every ending: 30 right, 8 wrong, 3 unparsed, 2 cut off, 1 refused, 4 failed."""
    trials = [
        *made([1.0] * 30 + [0.0] * 8 + [None] * 3, span="an answer"),
        *(Made(f"cut-{number}", failed=Status.TRUNCATED) for number in range(2)),
        Made("refused", failed=Status.REFUSED),
        *(Made(f"lost-{number}", failed=Status.PROVIDER_ERROR) for number in range(3)),
        Made("broken", failed=Status.EXECUTION_ERROR),
    ]
    grouped = [
        Made(**{**{field: getattr(one, field) for field in Made.__struct_fields__}, "group": f"g{place % 4}",
                "latency": 0.2 + place * 0.05})
        for place, one in enumerate(trials)
    ]  # fmt: skip
    return write(program, run, grouped, **changes)
