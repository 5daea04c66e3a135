"""Reads the logins stored by `docker login`. Like `docker`, Benchwright sends them to the engine with each pull."""

from __future__ import annotations

import asyncio
import base64
import binascii
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from typing import Any

import msgspec

from benchwright.records import DECODE_ERRORS
from benchwright.sandbox.docker.address import docker_settings_folder

DOCKER_HUB_KEY = "https://index.docker.io/v1/"
"""Key under which the login for Docker Hub is stored."""

CREDENTIAL_HELPER_SECONDS = 30.0
_TOKEN = "<token>"
"""User name that a credential helper returns if the secret is an identity token."""


async def find_login(image: str) -> dict[str, str] | None:
    """Return the stored user and password, or the token, for an image's registry. Return None if there is no login."""
    config = await asyncio.to_thread(_configuration)
    registry = registry_of(image)
    helper = _mapping(config.get("credHelpers")).get(registry) or config.get("credsStore")
    if isinstance(helper, str) and helper:
        return await _from_helper(helper, registry)
    return _kept(_mapping(_mapping(config.get("auths")).get(registry)))


def registry_of(image: str) -> str:
    """Return the registry in an image's name, in the form of a key of the stored logins.

    The registry is the part of the name before the first slash, if that part contains a dot or colon or is
    localhost. Otherwise it is Docker Hub.
    """
    first, separator, _ = image.partition("/")
    if separator and first not in ("docker.io", "index.docker.io") and _is_host(first):
        return first
    return DOCKER_HUB_KEY


def full_image_name(image: str) -> str:
    """Return the image's name with its registry. Without the registry, the engine cannot use a login."""
    if registry_of(image) != DOCKER_HUB_KEY or image.startswith(("docker.io/", "index.docker.io/")):
        return image
    return f"docker.io/{image}" if "/" in image else f"docker.io/library/{image}"


def _is_host(text: str) -> bool:
    return "." in text or ":" in text or text == "localhost"


def _configuration() -> Mapping[str, Any]:
    try:
        return _mapping(msgspec.json.decode((docker_settings_folder() / "config.json").read_bytes()))
    except (OSError, *DECODE_ERRORS):
        return {}


def _kept(entry: Mapping[str, Any]) -> dict[str, str] | None:
    if isinstance(entry.get("identitytoken"), str):
        return {"identitytoken": entry["identitytoken"]}
    try:
        user, separator, password = base64.b64decode(str(entry.get("auth", ""))).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return {"username": user, "password": password.rstrip("\0")} if separator else None


async def _from_helper(helper: str, registry: str) -> dict[str, str] | None:
    try:
        asking = await asyncio.create_subprocess_exec(
            f"docker-credential-{helper}", "get", stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(CREDENTIAL_HELPER_SECONDS):
            said, _ = await asking.communicate(registry.encode())
        found = _mapping(msgspec.json.decode(said))
    except (TimeoutError, *DECODE_ERRORS):
        return None
    finally:
        if asking.returncode is None:
            asking.kill()
            await asking.wait()
    user, secret = found.get("Username"), found.get("Secret")
    if not isinstance(user, str) or not isinstance(secret, str):
        return None
    return {"identitytoken": secret} if user == _TOKEN else {"username": user, "password": secret}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
