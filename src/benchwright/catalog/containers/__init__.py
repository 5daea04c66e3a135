"""Shared parts of the benchmarks whose models work in containers: sandboxes, a bash session, an agent.

open → open_containers(at_once)           one engine connection, leftovers removed, concurrency limited
solve → sandboxes.started(spec)           the sample's own container, removed at the end
        BashSession(sandbox)              commands one after another; directory and variables persist
        run_shell_agent(session, bash, …) the model runs commands until it reports that it is done
        the benchmark's tests             their log goes into the outcome's artifacts
score → a pure function over the sample and that log, so that rescoring needs no container
"""

from benchwright.catalog.containers.agent import SYSTEM_PROMPT, AgentLimits, AgentResult, run_shell_agent
from benchwright.catalog.containers.bash_session import BashSession, CommandRecord
from benchwright.catalog.containers.benchmark import (
    AgentOptions,
    ContainerBenchmark,
    Containers,
    open_containers,
    read_agent_options,
)

__all__ = [
    "SYSTEM_PROMPT",
    "AgentLimits",
    "AgentOptions",
    "AgentResult",
    "BashSession",
    "CommandRecord",
    "ContainerBenchmark",
    "Containers",
    "open_containers",
    "read_agent_options",
    "run_shell_agent",
]
