"""A simulated OpenAI-compatible endpoint, for tests, the demo and the bench. It is not a model.

It speaks HTTP on its own, byte by byte, so that it costs little, keeps its own record of when what was sent,
and can misbehave below the level at which HTTP servers let one: resets, stalls, cut streams, broken events.
"""

from benchwright.endpoint.simulate.board import Stats
from benchwright.endpoint.simulate.processes import serve
from benchwright.endpoint.simulate.scripts import Script, read_scripts
from benchwright.endpoint.simulate.server import SimulatedEndpoint
from benchwright.endpoint.simulate.settings import (
    Faults,
    KeyedAnswer,
    ScriptedCall,
    Settings,
    keyed_answers,
    read_keyed_answers,
)
from benchwright.endpoint.simulate.timing import Delay
from benchwright.endpoint.simulate.truth import Truth, read_truth

__all__ = [
    "Delay",
    "Faults",
    "KeyedAnswer",
    "Script",
    "ScriptedCall",
    "Settings",
    "SimulatedEndpoint",
    "Stats",
    "Truth",
    "keyed_answers",
    "read_keyed_answers",
    "read_scripts",
    "read_truth",
    "serve",
]
