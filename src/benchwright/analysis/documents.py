"""Records as JSON documents for others: what commands print with `--json`, and the files that they write.

The one rule of statistics in JSON: a number is a number. One that is not known is null or left out. One that does not
exist because nothing was scored is null, and the object that holds it has `no_score` beside it: how many trials failed,
and the most frequent reasons with their counts. Fields of the documented formats keep the value that is documented for
them, which is 0.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.runs.journal import encode_json
from benchwright.statistic import TAG, is_no_score

NO_SCORE = "no_score"


def encode_document(value: Any) -> bytes:
    """Encode a record, or plain data with records in it, as a JSON document."""
    encoded = encode_json(value)
    if f'"{TAG}"'.encode() not in encoded:
        return encoded
    return encode_json(_document(msgspec.json.decode(encoded)))


def _document(value: Any) -> Any:
    """Replace each `NoScore` by null, and say it beside."""
    if isinstance(value, list):
        return [None if is_no_score(one) else _document(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: None if is_no_score(one) else _document(one) for name, one in value.items()}
    reason = next((one for one in value.values() if is_no_score(one)), None)
    if reason is not None:
        found[NO_SCORE] = {name: one for name, one in reason.items() if name != TAG}
    return found
