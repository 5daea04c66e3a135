"""Encodes records as JSON documents for users: the output of `--json`, and the files that commands write.

One rule holds for statistics in JSON. A known statistic is a number. An unknown statistic is null or left out.
A statistic that does not exist, because nothing was scored, is null. Its object then has a `no_score` key: how
many trials failed, and the most frequent reasons with their counts. Fields of the documented formats keep their
documented value, which is 0.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.runs.journal import encode_json
from benchwright.statistic import STATISTIC_TAG, is_no_score

NO_SCORE_KEY = "no_score"


def encode_document(value: Any) -> bytes:
    """Encode a record, or plain data with records in it, as a JSON document."""
    encoded = encode_json(value)
    if f'"{STATISTIC_TAG}"'.encode() not in encoded:
        return encoded
    return encode_json(_document(msgspec.json.decode(encoded)))


def _document(value: Any) -> Any:
    """Replace each `NoScore` by null, and add its reasons under the key `no_score` of the object that contains it."""
    if isinstance(value, list):
        return [None if is_no_score(one) else _document(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: None if is_no_score(one) else _document(one) for name, one in value.items()}
    reason = next((one for one in value.values() if is_no_score(one)), None)
    if reason is not None:
        found[NO_SCORE_KEY] = {name: one for name, one in reason.items() if name != STATISTIC_TAG}
    return found
