"""A web pack (protocol 0.3): a page that its host shows in a frame, with the permissions in its manifest.

Fields, permissions and address rules follow @benchlocal/core and the desktop host (BenchLocal), version
0.3.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from benchwright.errors import UserError
from benchwright.packs.manifest import PackManifest
from benchwright.packs.manifest_check import hint_for_newer
from benchwright.records import Record

KNOWN_PERMISSIONS = frozenset(
    {
        "models:list",
        "models:read",
        "inference:chat",
        "inference:stream",
        "runs:write",
        "history:read",
        "history:write",
        "artifacts:write",
    }
)
"""Permissions that a page can have. If a manifest requests other permissions, they are refused."""

BRIDGE_VERSION = 1

NOT_RUNNABLE_MESSAGE = (
    "a web pack, a page on which a person works: its bridge has no message that starts a run, so it cannot be run "
    "unattended; `benchwright pack open` shows it"
)
"""Message shown when a user runs a web pack as a table pack."""

DEFAULT_PORTS = {"http": 80, "https": 443}
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class WebPack(Record, frozen=True):
    """A web pack's page, and the permissions of the page.

    `origins`: web origins that may exchange messages with the host. `refused`: requested permissions that are
    unknown here. `declared_receivers`: addresses to which the pack declares that it may send data. `policy`:
    the pack's description of the data that it sends.
    """

    id: str
    name: str
    version: str
    entry: str
    origins: tuple[str, ...]
    permissions: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    supports_playback: bool = False
    build_id: str | None = None
    manifest_hash: str | None = None
    declared_receivers: tuple[str, ...] = ()
    policy: str = ""


def web_pack_of(manifest: PackManifest) -> WebPack:
    """Return the web pack that a manifest declares.

    Raises:
        UserError: If the manifest declares no web pack, or a web pack that cannot be shown. The message lists
            all problems.
    """
    if manifest.type != "web":
        raise UserError(f"{manifest.id} is not a web pack: run it with: benchwright pack run {manifest.id}")
    web = manifest.raw.get("web")
    web = web if isinstance(web, dict) else {}
    if problems := list(_problems(manifest.entry, web)):
        raise UserError(f"{manifest.id} cannot be shown: {'; '.join(problems)}.")
    asked = tuple(dict.fromkeys(web["permissions"]))
    policy = web.get("dataPolicy")
    policy = policy if isinstance(policy, dict) else {}
    return WebPack(
        id=manifest.id,
        name=manifest.name,
        version=manifest.version,
        entry=manifest.entry,
        origins=tuple(dict.fromkeys(map(origin_of, (manifest.entry, *web["allowedOrigins"])))),
        permissions=tuple(one for one in asked if one in KNOWN_PERMISSIONS),
        refused=tuple(one for one in asked if one not in KNOWN_PERMISSIONS),
        supports_playback=web.get("historyPlayback") is True,
        build_id=_text(web, "buildId"),
        manifest_hash=_text(web, "manifestHash"),
        declared_receivers=tuple(one for one in policy.get("remoteOrigins") or () if isinstance(one, str)),
        policy=_text(policy, "description") or "",
    )


def _problems(entry: str, web: Mapping[str, Any]) -> Iterator[str]:
    if web.get("bridgeVersion") != BRIDGE_VERSION:
        found = web.get("bridgeVersion")
        yield (
            f"web.bridgeVersion is {found!r}, and this host speaks version {BRIDGE_VERSION}{hint_for_newer(found)}"
        )
    if not is_allowed_page(entry):
        yield f"its entry {entry!r} is neither an https address nor one of this machine"
    for key in ("allowedOrigins", "permissions"):
        value = web.get(key)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            yield f"web.{key} is not a list of strings"
        elif key == "allowedOrigins" and not all(map(is_allowed_page, value)):
            yield "web.allowedOrigins has an address that is neither https nor of this machine"


def is_allowed_page(address: str) -> bool:
    """Return True if a page may be loaded from an address: https anywhere, or http on this machine.

    The address must not contain a user name or password.
    """
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return False
    if parts.username is not None or parts.password is not None or not parts.hostname:
        return False
    if not re.fullmatch(r"[A-Za-z0-9.:\[\]-]+", parts.netloc):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOCAL_HOSTS)


def origin_of(address: str) -> str:
    """Return the origin of an address as browsers write it, without the port if it is the scheme's default."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def _text(raw: Mapping[str, Any], key: str) -> str | None:
    value = raw.get(key)
    return value if isinstance(value, str) else None
