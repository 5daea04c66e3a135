"""The card of an endpoint: its capabilities and limitations, found out with few short requests.

A probe is a function of an examination: it sends requests, and records findings. `examine` runs all probes.
"""

from benchwright.endpoint.card.examination import Examination
from benchwright.endpoint.card.examining import card_of, examine
from benchwright.endpoint.card.prober import REQUEST_SECONDS, Prober
from benchwright.endpoint.card.records import LINES, Card, Finding, Line, State

__all__ = [
    "LINES",
    "REQUEST_SECONDS",
    "Card",
    "Examination",
    "Finding",
    "Line",
    "Prober",
    "State",
    "card_of",
    "examine",
]
