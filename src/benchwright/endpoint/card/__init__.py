"""The card of an endpoint: a report on its capabilities and limitations, made with few short requests.

A probe is a function that gets an `Examination`, sends requests, and records findings in it. `examine` runs
all probes.
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
