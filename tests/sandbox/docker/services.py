"""Services for tests: folders with a Dockerfile whose server is busybox's httpd."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox.docker.stand_ins import IMAGE

from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.connection import TransportError
from benchwright.endpoint.server_info import request_document
from benchwright.endpoint.timeouts import Timeouts
from benchwright.endpoint.transport import ConnectionPool

PORT = 4010

SERVER = "httpd -f -p 4010 -h /www"

DOCKERFILE = f"""
FROM {IMAGE}
COPY www /www
COPY start.sh /start.sh
ENTRYPOINT ["sh", "/start.sh"]
"""


def write_context(folder: Path, start: str = SERVER, dockerfile: str = DOCKERFILE) -> Path:
    """A folder to build an image from; `/health` says "ok", and `start` is what its entrypoint does."""
    (folder / "www").mkdir(parents=True, exist_ok=True)
    (folder / "www" / "health").write_text("ok\n")
    (folder / "start.sh").write_text(start)
    (folder / "Dockerfile").write_text(dockerfile)
    return folder


async def probe(url: str) -> str | None:
    """What a caller of a service gives: GET /health."""
    wire = ConnectionPool(parse_base_url(url), connections=1, limits=Timeouts(1, 1, 1, 1))
    try:
        document = await request_document(wire, "GET", "/health")
    except TransportError as error:
        return str(error)
    finally:
        wire.close()
    return None if document.status == 200 else f"HTTP {document.status}"
