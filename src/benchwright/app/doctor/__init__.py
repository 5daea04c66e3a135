"""Examination of this machine: what Benchwright can use, what is missing, and what is wrong.

findings    findings and checks; every check runs in its own thread with a time limit machine     home
directory, memory, open files, clock network     loopback, proxies agents      command-line agents, and what
they need programs    Python and its extras, Node, the local sandbox containers  the engine, its disk and
images, the `docker` program
"""

from __future__ import annotations

from functools import partial

from benchwright.app.doctor import agents, containers, machine, network, programs
from benchwright.app.doctor.findings import Check, Finding, findings_of

__all__ = ["Finding", "examine"]


def examine(*, call_out: bool = False) -> list[Finding]:
    """Return the findings about this machine. Other machines are contacted only if `call_out`."""
    seconds = containers.PULL_SECONDS if call_out else 0.0
    checks = [
        Check("Python", programs.python),
        Check("extras", programs.extras),
        Check("home directory", machine.home_directory),
        Check("memory", machine.memory),
        Check("open files", machine.open_files),
        Check("clock", machine.clock),
        Check("loopback", network.loopback),
        Check("proxies", network.proxies),
        Check("sandbox", programs.sandbox),
        Check("pack processes", programs.pack_processes),
        Check("Node.js", programs.node),
        Check("agents", agents.command_line_agents),
        Check("docker program", containers.docker_program),
        Check("container engine", partial(containers.engine, call_out=call_out), 10.0 + seconds),
    ]
    return findings_of(checks)
