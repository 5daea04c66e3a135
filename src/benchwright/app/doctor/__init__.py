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
from benchwright.app.doctor.findings import Finding, MachineCheck, run_checks

__all__ = ["Finding", "examine_machine"]


def examine_machine(*, call_out: bool = False) -> list[Finding]:
    """Return the findings about this machine. Other machines are contacted only if `call_out` is True."""
    seconds = containers.PULL_SECONDS if call_out else 0.0
    checks = [
        MachineCheck("Python", programs.check_python),
        MachineCheck("extras", programs.check_extras),
        MachineCheck("home directory", machine.check_home_directory),
        MachineCheck("memory", machine.check_memory),
        MachineCheck("open files", machine.check_open_files),
        MachineCheck("clock", machine.check_clock),
        MachineCheck("system", system_parts.check_system_parts),
        MachineCheck("loopback", network.check_loopback),
        MachineCheck("proxies", network.check_proxies),
        MachineCheck("sandbox", programs.check_sandbox),
        MachineCheck("pack processes", programs.check_pack_processes),
        MachineCheck("Node.js", programs.check_node),
        MachineCheck("agents", agents.check_agents),
        MachineCheck("docker program", containers.check_docker_program),
        MachineCheck("container engine", partial(containers.check_engine, call_out=call_out), 10.0 + seconds),
    ]
    return run_checks(checks)
