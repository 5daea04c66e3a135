"""The card of an endpoint: what it can do and what it cannot, found out with few short requests.

A probe is a function of an examination: it asks something, and notes findings. `examine` tries all of them.
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
