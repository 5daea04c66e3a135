"""A simulated OpenAI-compatible endpoint, for tests, the demo and benchmarks of Benchwright. It is not a model.

It implements HTTP itself, byte by byte. So it costs little, records the time of everything that it sends, and
can misbehave in ways that HTTP servers do not allow: resets, stalls, cut streams, broken events.
"""

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
from benchwright.endpoint.simulate.shared_counters import EndpointStats
from benchwright.endpoint.simulate.timing import Delay
from benchwright.endpoint.simulate.truth_log import TruthRecord, read_truth

__all__ = [
    "Delay",
    "EndpointStats",
    "Faults",
    "KeyedAnswer",
    "Script",
    "ScriptedCall",
    "Settings",
    "SimulatedEndpoint",
    "TruthRecord",
    "keyed_answers",
    "read_keyed_answers",
    "read_scripts",
    "read_truth",
    "serve",
]
