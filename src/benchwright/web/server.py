"""The viewer's server: routes, access control, start and shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from urllib.parse import quote

from aiohttp import web

from benchwright.errors import BenchwrightError, UserError
from benchwright.text import Say
from benchwright.web.access_control import AccessCheck, add_headers
from benchwright.web.launched_commands import LaunchedCommands
from benchwright.web.pages.compare import compare_page, sample_comparison_page
from benchwright.web.pages.leaderboard import leaderboard_page
from benchwright.web.pages.load import load_measurement_page, stream_load_updates
from benchwright.web.pages.replay import replay_page
from benchwright.web.pages.run import run_page, save_note, stream_run_updates
from benchwright.web.pages.runs import runs_page, stream_run_list_updates
from benchwright.web.pages.sample import download_sample_file, sample_page, serve_picture
from benchwright.web.pages.start import resume_run, retry_run, start_page, start_run, stop_run
from benchwright.web.rendering import STATIC_FILES, read_static_file, render_page, template_environment
from benchwright.web.text import load_page_address, viewer_address
from benchwright.web.threads import run_in_thread
from benchwright.web.viewer import VIEWER_KEY, Viewer

ACCESS_KEY: web.AppKey[AccessCheck] = web.AppKey("access", AccessCheck)
LOGGER = logging.getLogger(__name__)
MAX_FORM_BYTES = 64 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def make_app(viewer: Viewer, access: AccessCheck) -> web.Application:
    """Build the viewer's application, with access control by `access`."""
    app = web.Application(middlewares=[guard_request], client_max_size=MAX_FORM_BYTES)
    app[VIEWER_KEY] = viewer
    app[ACCESS_KEY] = access
    app.on_response_prepare.append(add_headers)
    app.add_routes(
        [
            web.get("/", runs_page),
            web.get("/live", stream_run_list_updates),
            web.get("/compare", compare_page),
            web.get("/compare/sample", sample_comparison_page),
            web.get("/table", leaderboard_page),
            web.get("/loads/{load}", load_measurement_page),
            web.get("/loads/{load}/live", stream_load_updates),
            web.get("/start", start_page),
            web.post("/start", start_run),
            web.get("/runs/{run}", run_page),
            web.get("/runs/{run}/live", stream_run_updates),
            web.get("/runs/{run}/replay", replay_page),
            web.get("/runs/{run}/sample", sample_page),
            web.get("/runs/{run}/sample/file", download_sample_file),
            web.get("/runs/{run}/pictures/{name}", serve_picture),
            web.post("/runs/{run}/note", save_note),
            web.post("/runs/{run}/stop", stop_run),
            web.post("/runs/{run}/resume", resume_run),
            web.post("/runs/{run}/retry", retry_run),
            web.get("/static/{name}", serve_static),
        ]
    )
    return app


@web.middleware
async def guard_request(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Reject unauthorised requests and turn errors into error pages. This is a middleware."""
    access = request.app[ACCESS_KEY]
    refusal = access.refusal_reason(request)
    if refusal is not None:
        return render_page("error.html", status=403, title="Not let in", message=refusal, inside=False)
    if request.path == "/" and "token" in request.query:
        welcome = render_page("welcome.html", to=_first_page(request.query))
        access.set_session_cookie(request, welcome)
        return welcome
    try:
        return await handler(request)
    except web.HTTPRedirection:
        raise
    except web.HTTPException as error:
        return render_page("error.html", status=error.status, title=error.reason, message="", inside=True)
    except UserError as error:
        return render_page(
            "error.html",
            status=404,
            title="That is not there" if request.method == "GET" else "That did not work",
            message=str(error),
            inside=True,
        )
    except BenchwrightError as error:
        return render_page(
            "error.html", status=500, title="It cannot be read", message=str(error), inside=True
        )
    except Exception:
        LOGGER.exception("%s %s", request.method, request.path)
        return render_page("error.html", status=500, title="Something went wrong", message="", inside=True)


def _first_page(query: Mapping[str, str]) -> str:
    """Return the address of the page for which a query asks.

    It is the page of a suite's leaderboard, of a load measurement, of a replay, of a run, or of all runs.
    """
    if suite := query.get("suite"):
        return viewer_address("/table", suite=suite)
    if load := query.get("load"):
        return load_page_address(load)
    if replayed := query.get("replay"):
        return f"{_run_address(replayed)}/replay"
    run = query.get("run")
    return _run_address(run) if run else "/"


def _run_address(run: str) -> str:
    return f"/runs/{quote(run, safe='', errors='replace')}"


async def serve_static(request: web.Request) -> web.Response:
    """Serve a static file from the list `STATIC_FILES`.

    Raises:
        HTTPNotFound: If the name is not in the list.
    """
    name = request.match_info["name"]
    if name not in STATIC_FILES:
        raise web.HTTPNotFound
    headers = {"Cache-Control": "max-age=31536000, immutable"} if "v" in request.query else {}
    return web.Response(
        body=read_static_file(name), content_type=STATIC_FILES[name], charset="utf-8", headers=headers
    )


async def serve_viewer(
    host: str,
    port: int,
    announce: Say,
    say: Say,
    *,
    open_browser: bool,
    suite: str | None = None,
    run: str | None = None,
    load: str | None = None,
    replay: str | None = None,
) -> None:
    """Serve the viewer until it is interrupted. Announce the viewer's address.

    The address leads to the list of runs by default. `suite`, `run`, `load` and `replay` select another page: the
    leaderboard of a suite, a run, the load measurement with this tag, or the replay of a pack's run.

    Raises:
        UserError: If the port cannot be listened on.
    """
    started = LaunchedCommands()
    viewer, access = Viewer(started), AccessCheck(host)
    runner = web.AppRunner(
        make_app(viewer, access), access_log=None, handle_signals=False, shutdown_timeout=2.0
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise UserError(f"Cannot listen on {host}, port {port}: {error.strerror or error}.") from None
        await run_in_thread(preload_pages, viewer)
        ended = interruption_event()
        door = _door(runner, access, suite=suite, run=run, load=load, replay=replay)
        announce(door)
        if open_browser:
            await run_in_thread(open_in_browser, door)
        await ended.wait()
    finally:
        viewer.closing.set()
        await run_in_thread(started.close, say)
        await runner.cleanup()


def preload_pages(viewer: Viewer) -> None:
    """Read all runs once, and load modules and templates. The first pages are then quick."""
    import_module("numpy")
    viewer.runs.rows()
    for name in template_environment().list_templates():
        template_environment().get_template(name)


def _door(runner: web.AppRunner, access: AccessCheck, **shown_first: str | None) -> str:
    host, port = runner.addresses[0][:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}" + viewer_address("/", token=access.token, **shown_first)


def open_in_browser(address: str) -> None:
    """Open a page in the browser. Do nothing if there is no browser."""
    webbrowser.open(address)


def interruption_event() -> asyncio.Event:
    """Return an event that is set when SIGINT (Ctrl-C) or SIGTERM arrives."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    return ended
