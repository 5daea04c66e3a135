"""A real browser for tests: headless Chromium, and pages that are watched for whatever they should not do.

    @pytest.fixture(scope="module")
    def chromium() -> Iterator[Browser]:
        with started_chromium() as browser:
            yield browser

    def test_it_is_quiet(chromium: Browser, file: Path) -> None:
        with browser_page(chromium) as watched:
            watched.page.goto(file.as_uri())
            assert watched.troubles == []

Started once for a module of plain tests, not for the session: as long as Playwright's plain API is open its event
loop counts as running, and no other coroutine can run in this process. What needs one is to be made before.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from playwright.sync_api import Browser, Dialog, Page, Playwright, sync_playwright

PROGRAMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Without a sandbox, because containers rarely allow one; and nothing that the browser asks for by itself."""

REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`refused by the content security policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


class Watched(NamedTuple):
    """A page; the address of every request it made; script errors, console errors, refusals and dialogs."""

    page: Page
    requests: list[str]
    troubles: list[str]


@contextmanager
def started_chromium() -> Iterator[Browser]:
    """Chromium, ended afterwards. Where there is none the test is skipped; under CI it fails."""
    with sync_playwright() as playwright:
        path = _program(playwright)
        if path is None:
            reason = f"there is no Chromium: none of {', '.join(PROGRAMS)} on the PATH, nor Playwright's own"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


def _program(playwright: Playwright) -> str | None:
    found = next((path for path in map(shutil.which, PROGRAMS) if path is not None), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).exists() else None)


@contextmanager
def browser_page(
    browser: Browser,
    *,
    scheme: Literal["light", "dark"] = "light",
    width: int = 1280,
    height: int = 900,
    **options: Any,
) -> Iterator[Watched]:
    """A fresh page of nobody's profile; `options` are Playwright's for a browser context."""
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": height}, locale="en-GB", **options
    )
    context.add_init_script(REPORT_VIOLATIONS)
    page = context.new_page()
    watched = Watched(page, [], [])

    def dismissed(dialog: Dialog) -> None:
        watched.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("request", lambda request: watched.requests.append(request.url))
    page.on("pageerror", lambda error: watched.troubles.append(f"script error: {error}"))
    page.on("console", lambda said: watched.troubles.append(said.text) if said.type == "error" else None)
    page.on("dialog", dismissed)
    try:
        yield watched
    finally:
        context.close()
