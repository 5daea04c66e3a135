"""Quirks: answers that are whole, but said as servers in the field say them and the API's reference does not.

Each is a fault of the simulated endpoint, so that what reads answers stays tested with it.
"""

from benchwright.endpoint.simulate.quirks.said import quirky_body, quirky_stream
from benchwright.endpoint.simulate.quirks.table import QUIRKS, Quirk

__all__ = ["QUIRKS", "Quirk", "quirky_body", "quirky_stream"]
