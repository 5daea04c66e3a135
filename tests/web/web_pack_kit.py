"""A web pack for tests: a page that speaks bridge version 1 when a test has it do so, and `pack open` over it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Frame, Page
from tests.app.app_kit import Program
from tests.app.pack_kit import served
from tests.browser import browser_page

from benchwright.packs.web_pack import KNOWN_PERMISSIONS

PAGE = """<!doctype html><title>A pack</title><p id="ready">here</p><script>
const source = "benchlocal-web-pack", bridgeVersion = 1;
const waiting = new Map(), streams = {}, events = [];
addEventListener("message", ({ data }) => {
    if (data?.source !== "benchlocal-host") return;
    if (data.requestId) waiting.get(data.requestId)?.(data);
    else if (data.streamId) (streams[data.streamId] ??= []).push(data);
    else events.push(data);
});
const ask = (method, payload, streamId) => new Promise((resolve, reject) => {
    const requestId = crypto.randomUUID();
    waiting.set(requestId, (told) => (told.ok ? resolve(told.result) : reject(new Error(told.error.message))));
    parent.postMessage({ source, bridgeVersion, requestId, streamId, method, payload }, "*");
});
</script>"""


class Opened(NamedTuple):
    """A page in its frame; `said` gives all that the command wrote, once it was ended."""

    page: Page
    frame: Frame
    address: str

    def ask(self, method: str, payload: Any = None) -> Any:
        """What the host answers the page."""
        return self.frame.evaluate("([method, payload]) => ask(method, payload)", [method, payload])


class WebPacks:
    """Web packs below a folder that a server of files serves."""

    def __init__(self, program: Program, pages: str, directory: Path) -> None:
        self.program = program
        self.pages = pages
        self._directory = directory

    def write(self, permissions: Sequence[str] = sorted(KNOWN_PERMISSIONS), **web: Any) -> str:
        """Writes the page and its manifest; returns the manifest's address."""
        manifest = {
            "schemaVersion": 1,
            "protocolVersion": 1,
            "type": "web",
            "id": "forms",
            "name": "Forms",
            "version": "1.2.0",
            "entry": f"{self.pages}/index.html",
            "requirements": {"benchlocal": {"minVersion": "0.3.0"}},
            "web": {"bridgeVersion": 1, "allowedOrigins": [], "permissions": list(permissions), **web},
            "capabilities": {"verification": False},
        }
        (self._directory / "index.html").write_text(PAGE)
        (self._directory / "benchlocal.pack.json").write_text(json.dumps(manifest))
        return f"{self.pages}/benchlocal.pack.json"

    @contextmanager
    def opened(
        self, browser: Browser, base_url: str, *more: str, said: list[str] | None = None
    ) -> Iterator[Opened]:
        """The page as a person sees it, with the model `m`; `said` gets what the command wrote to stderr."""
        manifest = f"{self.pages}/benchlocal.pack.json"
        command = ["pack", "open", manifest, "--model", "m", "--base-url", base_url, "--no-open", *more]
        process = self.program.start(*command)
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, process.communicate()
            with browser_page(browser) as watched:
                watched.page.goto(address)
                framed = watched.page.wait_for_selector("iframe[src]")
                frame = None if framed is None else framed.content_frame()
                assert frame is not None
                frame.wait_for_selector("#ready")
                yield Opened(watched.page, frame, address.partition("/?")[0])
        finally:
            process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=30)[1]
        if said is not None:
            said += errors.splitlines()

    @property
    def summary(self) -> dict[str, Any]:
        """What the only session saved."""
        (path,) = self.program.home.glob("web-sessions/forms/*/summary.json")
        found: dict[str, Any] = json.loads(path.read_text())
        return found


@contextmanager
def web_packs(program: Program) -> Iterator[WebPacks]:
    """Web packs of a program's user."""
    directory = program.directory / "pages"
    directory.mkdir()
    with served(directory) as pages:
        yield WebPacks(program, pages, directory)
