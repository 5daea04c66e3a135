"""Quirks: complete answers in forms that the API's reference does not have, but servers in the field use.

Each is a fault of the simulated endpoint, so that the parsers of answers are tested with it.
"""

from benchwright.endpoint.simulate.quirks.quirk_table import QUIRKS, Quirk
from benchwright.endpoint.simulate.quirks.quirky_answers import quirky_body, quirky_stream

__all__ = ["QUIRKS", "Quirk", "quirky_body", "quirky_stream"]
