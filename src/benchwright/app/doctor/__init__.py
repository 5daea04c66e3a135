"""Examination of this machine: what Benchwright can use, what is missing, and what is wrong.

- `findings`: findings and checks; every check runs in its own thread with a time limit
- `machine`: home directory, memory, open files, clock
- `system_parts`: parts that only some systems have, such as Linux's kernel timer
- `network`: loopback, proxies
- `agents`: command-line agents, and what they need
- `programs`: Python and its extras, Node, the local sandbox
- `containers`: the engine, its disk and images, the `docker` program
"""

from __future__ import annotations

from functools import partial

from benchwright.app.doctor import agents, containers, machine, network, programs, system_parts
from benchwright.app.doctor.findings import Check, Finding, findings_of

__all__ = ["Finding", "examine_machine"]


def examine_machine(*, call_out: bool = False) -> list[Finding]:
    """Return the findings about this machine. Other machines are contacted only if `call_out` is True."""
    seconds = containers.PULL_SECONDS if call_out else 0.0
    checks = [
        Check("Python", programs.check_python),
        Check("extras", programs.check_extras),
        Check("home directory", machine.check_home_directory),
        Check("memory", machine.check_memory),
        Check("open files", machine.check_open_files),
        Check("clock", machine.check_clock),
        Check("system", system_parts.check_system_parts),
        Check("loopback", network.check_loopback),
        Check("proxies", network.check_proxies),
        Check("sandbox", programs.check_sandbox),
        Check("pack processes", programs.check_pack_processes),
        Check("Node.js", programs.check_node),
        Check("agents", agents.check_agents),
        Check("docker program", containers.check_docker_program),
        Check("container engine", partial(containers.check_engine, call_out=call_out), 10.0 + seconds),
    ]
    return findings_of(checks)
