"""Access control of the viewer.

Listening on loopback does not protect against other pages that are open in the same browser. So the viewer checks every
request. The request must name a host that foreign DNS servers cannot redirect. It must not come from another page. It
must have the cookie that the browser received when it opened the start address.
"""

from __future__ import annotations

import hmac
import secrets
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers that every response of the viewer has."""

STATIC_PATH_PREFIX = "/static/"
"""Path of the static files. These files contain nothing about runs, so requests for them need no cookie."""


class AccessCheck:
    """Access control for a server that listens on `host`: decides which requests are allowed."""

    def __init__(self, host: str) -> None:
        self.token = secrets.token_urlsafe(24)
        self._host = host
        self._session = secrets.token_urlsafe(24)

    def refusal_reason(self, request: web.Request) -> str | None:
        """Return the reason why a request is refused. Return None if the request is allowed."""
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return "This address is not the viewer's own."
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{hosts[0]}":
            return "The request comes from another page."
        if request.method not in ("GET", "HEAD") and origin is None:
            return "The request does not say which page it comes from."
        fetched_by = request.headers.get("Sec-Fetch-Site", "none")
        if fetched_by in ("cross-site", "same-site") and request.headers.get("Sec-Fetch-Mode") != "navigate":
            return "The request comes from another page."
        if request.path.startswith(STATIC_PATH_PREFIX) or self._enters(request) or self._is_inside(request):
            return None
        return "Open the address that `benchwright view` printed: it lets this browser in."

    def _is_ours(self, host: str) -> bool:
        """Return True if `host` is an IP address, `localhost`, or the host name on which the viewer listens.

        Foreign DNS servers cannot make such a host point to this machine.
        """
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname or "", parts.port  # an invalid port raises ValueError, too
        except ValueError:
            return False
        if name in ("localhost", self._host):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True

    def _enters(self, request: web.Request) -> bool:
        given = request.query.get("token", "")
        right = hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())
        return request.method == "GET" and request.path == "/" and right

    def _is_inside(self, request: web.Request) -> bool:
        given = request.cookies.get(cookie_name(request), "")
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._session.encode())

    def set_session_cookie(self, request: web.Request, response: web.Response) -> None:
        """Give the browser its session cookie."""
        response.set_cookie(cookie_name(request), self._session, httponly=True, samesite="Strict", path="/")


def cookie_name(request: web.Request) -> str:
    """Return the name of the session cookie.

    The name contains the port, because all ports of a host share their cookies.
    """
    port = urlsplit(f"//{request.host}").port or 80
    return f"benchwright_view_{port}"


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Add the security headers to a response (a handler of `on_response_prepare`)."""
    response.headers.update(SECURITY_HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
