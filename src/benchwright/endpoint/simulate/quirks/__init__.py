"""Quirks: complete answers in forms that the API's reference does not have, but servers in the field use.

Each is a fault of the simulated endpoint, so that the parsers of answers are tested with it.
"""

from benchwright.endpoint.simulate.quirks.said import quirky_body, quirky_stream
from benchwright.endpoint.simulate.quirks.table import QUIRKS, Quirk

__all__ = ["QUIRKS", "Quirk", "quirky_body", "quirky_stream"]
