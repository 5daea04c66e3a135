"""Downloads over HTTP, with limits on bytes, seconds and redirects. No credentials or cookies are sent."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from typing import BinaryIO
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from benchwright import __version__
from benchwright.endpoint.address import DEFAULT_PORTS, Address, find_proxy
from benchwright.endpoint.connection import Headers, TransportError
from benchwright.endpoint.timeouts import Timeouts
from benchwright.endpoint.transport import ConnectionPool, PreparedRequest
from benchwright.errors import UserError
from benchwright.packs.install.settings import InstallLimits
from benchwright.text import make_safe

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_PATH_CHARACTERS = "/%:@!$&'()*+,;=~-._?[]"


class DownloadError(UserError):
    """Raised if a download failed or is incomplete."""


def download(url: str, target: Path, largest: int, limits: InstallLimits) -> str:
    """Download an http or https address to the file `target`. Return the SHA-256 of the content.

    `largest`: the maximum size in bytes. The function runs its own event loop, so it must not be called on an
    event loop.

    Raises:
        DownloadError: If the download failed or exceeded the limits. The message has the reason.
        OSError: If the file cannot be written.
    """
    with open(target, "wb") as out:
        return asyncio.run(_download(url, out, largest, limits))


async def _download(url: str, out: BinaryIO, largest: int, limits: InstallLimits) -> str:
    address = first = _address(url, url)
    at = url
    try:
        async with asyncio.timeout(limits.download_seconds):
            for _ in range(limits.max_redirects + 1):
                sink = await _get(at, address, _Sink(out, largest), limits)
                if sink.status == 200:
                    return sink.digest.hexdigest()
                location = sink.location if sink.status in REDIRECT_STATUSES else None
                if not location:
                    raise DownloadError(f"{_shown(at)} answered {sink.status}.")
                at = _joined(at, location)
                address = _redirected(_address(at, url), address, first, url)
    except TimeoutError:
        seconds = limits.download_seconds
        raise DownloadError(
            f"{_shown(url)} was not downloaded completely within {seconds:g} seconds."
        ) from None
    except TransportError as error:
        raise DownloadError(f"{_shown(at)} cannot be downloaded: {error}.") from None
    raise DownloadError(f"{_shown(url)} redirects more than {limits.max_redirects} times.")


class _Sink:
    """Receives one HTTP response. If the status is 200, the body is written, counted and hashed.

    With any other status, the exchange is ended when the headers have arrived.
    """

    def __init__(self, out: BinaryIO, largest: int) -> None:
        self.status = 0
        self.location: str | None = None
        self.digest = hashlib.sha256()
        self._out = out
        self._largest = largest
        self._size = 0

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        self.status = status
        for name, value in headers:
            if name == b"location":
                self.location = value.decode("utf-8", "replace")
            if name == b"content-length" and value.isdigit() and status == 200:
                self._limit(int(value))
        if status != 200:
            raise TransportError("malformed", "nobody wants the rest of it")

    def receive_data(self, chunk: bytes, at: int) -> None:
        self._size += len(chunk)
        self._limit(self._size)
        self.digest.update(chunk)
        self._out.write(chunk)

    def last_token_time(self) -> None:
        """Return None in place of the time of the last token, because a file has no tokens."""

    def _limit(self, size: int) -> None:
        if size > self._largest:
            raise TransportError("malformed", f"it is larger than {self._largest:,} bytes")


async def _get(url: str, address: Address, sink: _Sink, limits: InstallLimits) -> _Sink:
    parts = urlsplit(url)
    path = quote(parts.path or "/", safe=_PATH_CHARACTERS)
    if parts.query:
        path += "?" + quote(parts.query, safe=_PATH_CHARACTERS)
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {address.authority}",
        f"User-Agent: benchwright/{__version__}",
        "Accept: */*",
        "Accept-Encoding: identity",
        "Connection: close",
    ]
    silence = limits.silence_seconds
    wire = ConnectionPool(
        address,
        connections=1,
        limits=Timeouts(limits.connect_seconds, silence, silence, limits.download_seconds, max_bytes=None),
        proxy=find_proxy(address, os.environ),
    )
    try:
        await wire.send(PreparedRequest("\r\n".join([*lines, "\r\n"]).encode()), sink)
    except TransportError:
        if sink.status in (0, 200):
            raise
    finally:
        wire.close()
    return sink


def _address(url: str, given: str) -> Address:
    """Return the server to connect to for a URL. `given`: the URL that the user typed, for messages.

    Raises:
        DownloadError: If the URL is not http or https, or contains a user name or password.
    """
    via = "" if url == given else f" (redirected from {_shown(given)})"
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode("ascii"), parts.port
    except ValueError as error:
        raise DownloadError(f"{_shown(url)}{via} is not a valid address: {error}.") from None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise DownloadError(f"{_shown(url)}{via} is not an http:// or https:// address.")
    if parts.username is not None or parts.password is not None:
        raise DownloadError(f"{_shown(url)}{via} holds a user name or password; none are sent.")
    return Address(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme])


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise DownloadError(f"{_shown(url)} redirects to an invalid address: {error}.") from None


def _redirected(address: Address, former: Address, first: Address, given: str) -> Address:
    """Return the server to which a redirect leads, after checking that it is as secure as the former server."""
    if former.uses_tls and not address.uses_tls:
        raise DownloadError(f"{_shown(given)} redirects from https to http; that is not followed.")
    if address.is_loopback and not first.is_loopback:
        raise DownloadError(f"{_shown(given)} redirects to this machine; that is not followed.")
    return address


def _shown(url: str) -> str:
    """Format a URL for messages, without its user, password and query."""
    try:
        parts: SplitResult = urlsplit(url)
    except ValueError:
        return repr(url[:80])
    host = parts.netloc.rpartition("@")[2]
    text = f"{parts.scheme}://{host}{parts.path}" if host else url[:80]
    return make_safe(text)
