"""Quirks: formats of complete answers that deviate from the API's reference, but that real servers use.

Each quirk is a fault of the simulated endpoint, so that the parsers of answers are tested with it.
"""

from benchwright.endpoint.simulate.quirks.quirk_table import QUIRKS, Quirk
from benchwright.endpoint.simulate.quirks.quirky_answers import quirky_body, quirky_stream

__all__ = ["QUIRKS", "Quirk", "quirky_body", "quirky_stream"]
