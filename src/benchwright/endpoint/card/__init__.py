"""The card of an endpoint: a report on the endpoint's capabilities and limitations, made with few short requests.

A probe is a function that gets an `Examination`, sends requests, and records findings in the examination.
`run_probes` runs all probes.
"""

from benchwright.endpoint.card.examination import Examination
from benchwright.endpoint.card.prober import REQUEST_SECONDS, Prober
from benchwright.endpoint.card.probes import make_card, run_probes
from benchwright.endpoint.card.records import CARD_LINES, Card, CardLine, Finding, State

__all__ = [
    "CARD_LINES",
    "REQUEST_SECONDS",
    "Card",
    "CardLine",
    "Examination",
    "Finding",
    "Prober",
    "State",
    "make_card",
    "run_probes",
]
