"""The address of the container engine: DOCKER_HOST, the current docker context, or one of the usual sockets.

Contexts are read here, because the client library looks for them in `~/.docker` even if DOCKER_CONFIG names
another folder. The `docker` program stores a context in `contexts/meta/<sha256 of its name>/meta.json`, and
the context's certificates in `contexts/tls/<sha256 of its name>/docker/`.
"""

from __future__ import annotations

import json
import os
import ssl
from hashlib import sha256
from pathlib import Path

from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.user_paths import expand_user_path

_SOCKETS = (
    "/var/run/docker.sock",
    "$XDG_RUNTIME_DIR/docker.sock",
    "~/.docker/run/docker.sock",
    "~/.docker/desktop/docker.sock",
    "~/.orbstack/run/docker.sock",
    "~/.colima/default/docker.sock",
)


class EngineAddress(Record, frozen=True):
    """A container engine's address.

    `context`: the name of the docker context that defines the address; None if no context does. `tls`: the
    certificates for the connection; None without TLS.
    """

    host: str
    context: str | None = None
    tls: ssl.SSLContext | None = None

    def __str__(self) -> str:
        return f"{self.host} (docker context {self.context!r})" if self.context else self.host

    @property
    def is_local(self) -> bool:
        """True if the engine runs on this machine, so that ports published on 127.0.0.1 can be reached here."""
        return self.host.startswith(("unix:", "npipe:"))

    @property
    def url(self) -> str:
        """The address in the form that the client library needs: with TLS, `https://` instead of `tcp://`."""
        return self.host.replace("tcp://", "https://", 1) if self.tls else self.host

    def docker_environment(self) -> dict[str, str]:
        """Return the environment variables with which the `docker` program uses the same engine.

        They are this process's variables, with DOCKER_HOST set to the engine's address. If a docker context
        defines the address, DOCKER_HOST is not added, because the program itself follows the context.
        """
        return dict(os.environ) if self.context else {**os.environ, "DOCKER_HOST": self.host}


def find_engine_address() -> EngineAddress:
    """Return the engine's address, from DOCKER_HOST, the docker context, or the usual sockets, in this order.

    Raises:
        UserError: If the context's description or one of its certificates cannot be read.
    """
    if host := os.environ.get("DOCKER_HOST"):
        return EngineAddress(host)
    if context := _context_in_use():
        return _read_context(context)
    paths = [os.path.expanduser(os.path.expandvars(path)) for path in _SOCKETS]
    return EngineAddress("unix://" + next((path for path in paths if Path(path).is_socket()), paths[0]))


def _context_in_use() -> str | None:
    """Return the name of the current context. Return None for the default context, which has no address."""
    name = os.environ.get("DOCKER_CONTEXT")
    if not name:
        try:
            name = json.loads((docker_settings_folder() / "config.json").read_bytes()).get("currentContext")
        except (OSError, ValueError, AttributeError):
            return None
    return None if name in (None, "", "default") else str(name)


def docker_settings_folder() -> Path:
    """Return the folder in which the `docker` program keeps contexts and logins: DOCKER_CONFIG, or ~/.docker."""
    return expand_user_path(os.environ.get("DOCKER_CONFIG") or "~/.docker")


def _read_context(name: str) -> EngineAddress:
    folder, place = docker_settings_folder() / "contexts", sha256(name.encode()).hexdigest()
    try:
        endpoint = json.loads((folder / "meta" / place / "meta.json").read_bytes())["Endpoints"]["docker"]
        verify = not endpoint.get("SkipTLSVerify")
        return EngineAddress(str(endpoint["Host"]), name, _tls(folder / "tls" / place / "docker", verify))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        text = f"The docker context {name!r} cannot be read ({error}); `docker context ls` shows those there are."
        raise UserError(text) from None


def _tls(folder: Path, verify: bool) -> ssl.SSLContext | None:
    if not folder.is_dir():
        return None
    authority, certificate, key = (folder / name for name in ("ca.pem", "cert.pem", "key.pem"))
    context = ssl.create_default_context(cafile=authority if authority.exists() else None)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate.exists() and key.exists():
        context.load_cert_chain(certificate, key)
    return context
