"""The server behind a framed web pack: access control, chat completions, saving of results."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec
from aiohttp import web

from benchwright.app.web_packs import OpenWebPack, chat_completion_body
from benchwright.endpoint.serving.listener import LOOPBACK_HOST
from benchwright.errors import BenchwrightError, UserError
from benchwright.packs.types import to_json
from benchwright.packs.web_pack import BRIDGE_VERSION, origin_of
from benchwright.records import DECODE_ERRORS
from benchwright.text import Say
from benchwright.web.access_control import SECURITY_HEADERS, AccessCheck
from benchwright.web.rendering import STATIC_FILES, read_static_file, render_page
from benchwright.web.server import interruption_event, open_in_browser
from benchwright.web.threads import run_in_thread

MAX_BODY_BYTES = 32 * 2**20
"""Maximum size of a request body, in bytes."""

RELAY_TIMEOUT = aiohttp.ClientTimeout(total=None)
"""Timeout for requests to the relay. There is none, because the relay has limits of its own."""


class FramedPack:
    """The request handlers of one open pack. `access`: decides which requests are allowed."""

    def __init__(self, pack: OpenWebPack, access: AccessCheck, client: aiohttp.ClientSession) -> None:
        self._pack = pack
        self._access = access
        self._client = client
        self._saving = asyncio.Lock()

    def application(self) -> web.Application:
        """Build the application: all routes behind access control."""
        app = web.Application(middlewares=[self._guarded], client_max_size=MAX_BODY_BYTES)
        app.on_response_prepare.append(self._add_headers)
        app.add_routes(
            [
                web.get("/", self._page),
                web.get("/static/{name}", self._static),
                web.get("/bridge/history", self._history),
                web.post("/bridge/history", self._save),
                web.post("/bridge/artifact", self._artifact),
                web.post("/bridge/chat", self._chat),
            ]
        )
        return app

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if refusal := self._access.refusal_reason(request):
            return render_page("error.html", status=403, title="Not let in", message=refusal, inside=False)
        try:
            answer: web.StreamResponse = await handler(request)
            return answer
        except BenchwrightError as error:
            return web.json_response(
                {"error": str(error)}, status=400 if isinstance(error, UserError) else 500
            )

    async def _add_headers(self, _: web.Request, response: web.StreamResponse) -> None:
        """Add the viewer's security headers to a response, and allow frames from the pack's origins."""
        frames = " ".join(self._pack.session.pack.origins)
        policy = f"{SECURITY_HEADERS['Content-Security-Policy']}; frame-src {frames}"
        response.headers.update(
            {**SECURITY_HEADERS, "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
        )
        response.headers.setdefault("Cache-Control", "no-store")

    async def _page(self, request: web.Request) -> web.Response:
        session = self._pack.session
        if "token" in request.query:
            welcome = render_page("welcome.html", to="/")
            self._access.set_session_cookie(request, welcome)
            return welcome
        return render_page(
            "framed.html", inside=False, pack=session.pack, models=session.models, host=self._host()
        )

    def _host(self) -> dict[str, Any]:
        """Return the values for the script of the viewer's own page, in which the pack's page is framed.

        These are models, origins, permissions, pack, mode and run.
        """
        session = self._pack.session
        pack = session.pack
        models = [
            {
                **to_json(model),
                "providerId": model.provider,
                "provider": self._pack.providers.get(model.provider, model.provider),
            }
            for model in session.models
        ]
        return {
            "bridgeVersion": BRIDGE_VERSION,
            "origins": pack.origins,
            "permissions": pack.permissions,
            "models": models,
            "pack": {
                "id": pack.id,
                "name": pack.name,
                "version": pack.version,
                "entry": pack.entry,
                **({} if pack.build_id is None else {"buildId": pack.build_id}),
            },
            "mode": "history" if self._pack.is_replay else "live",
            "playback": pack.supports_playback,
            "runId": session.run_id,
        }

    async def _static(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in STATIC_FILES:
            raise web.HTTPNotFound
        return web.Response(body=read_static_file(name), content_type=STATIC_FILES[name], charset="utf-8")

    async def _history(self, _: web.Request) -> web.Response:
        saved = self._pack.session.saved or {}
        return web.json_response({"runId": saved.get("runId"), "payload": saved.get("webHistory")})

    async def _save(self, request: web.Request) -> web.Response:
        payload = await _object(request)
        async with self._saving:
            summary = await run_in_thread(self._pack.session.save, payload)
        return web.json_response({"runId": summary["runId"], "summary": summary})

    async def _artifact(self, request: web.Request) -> web.Response:
        given, content = request.query, await request.read()
        async with self._saving:
            artifact = await run_in_thread(
                self._pack.session.add_artifact,
                given.get("kind", "file"),
                given.get("label", ""),
                given.get("path", ""),
                given.get("contentType"),
                content,
            )
        return web.json_response(artifact)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        """Send the page's request for a chat completion to the relay. Forward the relay's response chunk by chunk.

        If the page disconnects, cancel the request.
        """
        stream = "stream" in request.query
        body = chat_completion_body(await _object(request), stream=stream)
        headers = {"Authorization": f"Bearer {self._pack.relay_key}", "Content-Type": "application/json"}
        try:
            async with self._client.post(
                f"{self._pack.relay_url}/chat/completions", data=body, headers=headers, timeout=RELAY_TIMEOUT
            ) as answer:
                passed = web.StreamResponse(status=answer.status)
                passed.content_type = answer.content_type
                await passed.prepare(request)
                async for piece in answer.content.iter_any():
                    await passed.write(piece)
                await passed.write_eof()
                return passed
        except aiohttp.ClientError as error:
            raise UserError(f"The answer of the model broke off: {error}.") from None


async def _object(request: web.Request) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(await request.read())
    except DECODE_ERRORS:
        given = None
    if not isinstance(given, dict):
        raise UserError("The body is not a JSON object.")
    return given


async def serve_pack(pack: OpenWebPack, port: int, announce: Say, *, open_browser: bool) -> None:
    """Serve the page of a web pack until Ctrl-C. Announce the address of the page.

    Raises:
        UserError: If the port cannot be listened on, or if the pack's own page is at this port.
    """
    access = AccessCheck(LOOPBACK_HOST)
    async with aiohttp.ClientSession() as client:
        framed = FramedPack(pack, access, client)
        runner = web.AppRunner(
            framed.application(), access_log=None, handle_signals=False, shutdown_timeout=2.0
        )
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, LOOPBACK_HOST, port).start()
            except OSError as error:
                raise UserError(f"Cannot listen on port {port}: {error.strerror or error}.") from None
            listening = runner.addresses[0][1]
            ended = interruption_event()
            address = _address(pack, listening, access.token)
            announce(address)
            if open_browser:
                await run_in_thread(open_in_browser, address)
            await ended.wait()
        finally:
            await runner.cleanup()


def _address(pack: OpenWebPack, port: int, token: str) -> str:
    """Return the address of the viewer's own page, in which the pack's page is framed.

    Browsers send a host's cookies to all ports of the host. If the pack's page is on this machine too, the viewer's
    page therefore gets another host name than the pack's page.

    Raises:
        UserError: If the pack's page is at the viewer's own port.
    """
    entry = pack.session.pack.entry
    for name in (LOOPBACK_HOST, "localhost"):
        if origin_of(entry) == f"http://{name}:{port}":
            raise UserError(f"The page of {pack.session.pack.id} is at port {port}; choose another --port.")
    name = "localhost" if f"://{LOOPBACK_HOST}" in entry else LOOPBACK_HOST
    return f"http://{name}:{port}/?token={quote(token)}"
