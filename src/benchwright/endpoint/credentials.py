"""Look-up of API keys. All keys that are sent to an endpoint are found here."""

from __future__ import annotations

import os

from benchwright.endpoint.access import NO_KEY_PLACEHOLDER
from benchwright.endpoint.address import Address
from benchwright.errors import UserError
from benchwright.secrets import SECRETS
from benchwright.text import Say

OPENAI_HOST = "api.openai.com"


def find_key(given: str | None, address: Address, say: Say) -> str | None:
    """Return the key to send to an address.

    This is the given key, else the value of BENCHWRIGHT_API_KEY, OPENAI_API_KEY or LITELLM_API_KEY. Return
    None if there is none, or if the key is EMPTY.

    If the value of one of the last two variables is sent, a message names the host, unless the host is
    OpenAI's or this machine.

    Raises:
        UserError: If OpenAI would be asked without a key, or if the key is invalid in an HTTP header.
    """
    key = given or os.environ.get("BENCHWRIGHT_API_KEY")
    if not key:
        name = next((name for name in ("OPENAI_API_KEY", "LITELLM_API_KEY") if os.environ.get(name)), None)
        key = os.environ[name] if name is not None else None
        if name is not None and not address.is_loopback and address.host != OPENAI_HOST:
            say(f"Sending {name} to {address.host}; give another key, or EMPTY, with --api-key.")
    if not key or key == NO_KEY_PLACEHOLDER:
        if address.host == OPENAI_HOST:
            raise UserError(
                "Missing API key for provider 'openai'. "
                "Set OPENAI_API_KEY or LITELLM_API_KEY, or pass --api-key."
            )
        return None
    if not key.isascii() or not key.isprintable():
        raise UserError(
            "The API key contains characters that are invalid in an HTTP header; check how it was copied."
        )
    SECRETS.add(key)
    return key


def read_key(variable: str, option: str) -> str:
    """Return the key in an environment variable. `option`: the option with which the user named the variable.

    Raises:
        UserError: If the variable is not set or is empty. The message begins with the option.
    """
    key = os.environ.get(variable)
    if not key:
        raise UserError(f"{option} names {variable}, which is not set.")
    return key
