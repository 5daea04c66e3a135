"""What the benchmarks share whose models work in containers: sandboxes of a run, a bash session, an agent.

open → containers(at_once)                one engine connection, leftovers removed, places bounded
solve → sandboxes.started(spec)           the sample's own container, removed in the end
        BashSession(sandbox)              commands one after another; directory and variables stay
        work(session, bash, messages, …)  the model gives commands until it says that it is done
        the room's own tests              their log goes into the outcome's artifacts
score → a pure function over the sample and that log, so that scoring again needs no container
"""

from benchwright.catalog.containers.agent import SYSTEM, AgentLimits, AgentWork, work
from benchwright.catalog.containers.bash import BashSession, CommandRecord
from benchwright.catalog.containers.benchmark import (
    AgentOptions,
    ContainerBenchmark,
    Containers,
    containers,
    read_agent_options,
)

__all__ = [
    "SYSTEM",
    "AgentLimits",
    "AgentOptions",
    "AgentWork",
    "BashSession",
    "CommandRecord",
    "ContainerBenchmark",
    "Containers",
    "containers",
    "read_agent_options",
    "work",
]
