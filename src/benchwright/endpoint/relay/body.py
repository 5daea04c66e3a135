"""The body of a request on its way through: the model's name replaced, settings filled in, the rest as it came."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.serving.http import Refused
from benchwright.records import Target

_ALSO_CALLED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def body_for(target: Target, body: bytes) -> bytes:
    """The body as the target gets it.

    Its model is the target's; a setting of the target is added unless the request has the field, or its
    other name. The values of all fields stay as they are, byte for byte: only the outermost object is taken
    apart.

    Raises:
        Refused: it is no JSON object.
    """
    try:
        fields: dict[str, Any] = _decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refused(400, f"The body is not a JSON object: {error}") from None
    for name, value in target.settings.items():
        if name not in fields and _ALSO_CALLED.get(name) not in fields:
            fields[name] = value
    fields["model"] = target.model
    return _encode(fields)
