"""Network access of containers: open, none, or limited to a list of hosts by Benchwright's own proxy.

The proxy logs every connection. A container with a list of hosts has no network itself. A forwarder on its
loopback interface leads to the proxy's socket, which is mounted into the container. Programs find the
forwarder by the usual environment variables (`HTTPS_PROXY`). Tests have a separate forwarder and token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchwright.catalog.containers.benchmark import Containers
from benchwright.catalog.containers.network_rules import NetworkRules
from benchwright.errors import ExecutionError
from benchwright.recipes.container_launch import RUNTIME_MOUNT, forwarding_command
from benchwright.recipes.python_runtime import container_runtime
from benchwright.sandbox.docker import DockerSandbox, DockerSandboxes, SandboxSpec
from benchwright.sandbox.docker.sandbox import ROOT_USER
from benchwright.sandbox.egress import ConnectionLog, EgressPolicy, EgressProxy, TrialPhase
from benchwright.sandbox.egress.proxy import SOCKET_NAME
from benchwright.text import Say

EGRESS_DIRECTORY = "/opt/benchwright/egress"
FORWARDER_PORT = 61128
"""Port of the forwarder on a container's loopback interface.

It is above the kernel's ephemeral ports, and above the ports of well-known servers.
"""
FORWARDER_START_SECONDS = 60.0
_OWN = "localhost,127.0.0.1,127.0.0.0/8,::1,0.0.0.0"


class Egress:
    """A container's network access: its grant (permission) on the trial's proxy, and its programs' proxy settings.

    `neighbours`: names of containers that this container reaches directly, in a shared network.
    """

    def __init__(
        self,
        proxy: EgressProxy,
        rules: NetworkRules,
        phase: TrialPhase,
        policy: EgressPolicy | None,
        neighbours: Sequence[str] = (),
    ) -> None:
        self._proxy = proxy
        self._rules = rules
        self._neighbours = neighbours
        self.grant = proxy.open_grant(phase, policy)

    @property
    def connection_log(self) -> ConnectionLog:
        """The connection log of the trial."""
        return self._proxy.traffic

    async def apply_to(self, spec: SandboxSpec) -> SandboxSpec:
        """Return the sandbox spec with this network access in place of the network access that it had.

        Raises:
            UserError: If this machine has no Python that can run in containers.
        """
        mounts = {**spec.mounts, **await self._mounts()}
        environment = {**self.proxy_environment(FORWARDER_PORT), **spec.environment}
        network = bool(self._neighbours)  # the container then moves to the neighbours' network
        return msgspec.structs.replace(spec, has_network=network, mounts=mounts, environment=environment)

    async def start_forwarder(self, sandbox: DockerSandbox, port: int = FORWARDER_PORT) -> int:
        """Forward a port of the container's loopback interface to the proxy, and return the port.

        Port 0 means any free port. The sandbox must run as root.

        Raises:
            ExecutionError: If nothing can be started in the container.
        """
        argv, given = forwarding_command(f"{EGRESS_DIRECTORY}/{SOCKET_NAME}", port, self._neighbours)
        ended = await sandbox.run(argv, seconds=FORWARDER_START_SECONDS, stdin=given)
        said = ended.stdout.strip()
        if not ended.succeeded or not said.isdigit():
            raise ExecutionError(f"the network of the container cannot be set up: {ended.error_line}")
        return int(said)

    async def start_second_forwarder(self, sandbox: DockerSandbox) -> dict[str, str]:
        """Start a second forwarder to the proxy, from a sandbox that shares another sandbox's network.

        Return the environment variables for programs in that sandbox.

        Raises:
            ExecutionError: If nothing can be started in the container.
        """
        return self.proxy_environment(await self.start_forwarder(sandbox, 0))

    def proxy_environment(self, port: int) -> dict[str, str]:
        """Return the environment variables that lead programs to the forwarder at a loopback port."""
        url = f"http://benchwright:{self.grant.token}@127.0.0.1:{port}"
        direct = ",".join((_OWN, *self._neighbours))
        proxies = {"http_proxy": url, "https_proxy": url, "no_proxy": direct}
        return {
            **proxies,
            **{name.upper(): value for name, value in proxies.items()},
            **self._rules.mirror_variables,
        }

    async def revoke_access(self) -> None:
        """Close all connections of this grant (permission on the proxy), and refuse later connections."""
        self.grant.policy = None
        await self._proxy.end_connections(self.grant)

    async def close(self) -> None:
        """Close all connections of this grant (permission on the proxy), and remove the grant from the proxy."""
        await self._proxy.revoke_grant(self.grant)

    async def _mounts(self) -> Mapping[str, str]:
        return {
            RUNTIME_MOUNT: str(await asyncio.to_thread(container_runtime)),
            EGRESS_DIRECTORY: str(self._proxy.folder),
        }


@asynccontextmanager
async def start_sandbox(
    exit: Egress | None, sandboxes: DockerSandboxes, spec: SandboxSpec, say: Say
) -> AsyncIterator[DockerSandbox]:
    """Start a sandbox. If `exit` is not None, the sandbox gets this network access (proxy).

    Raises:
        EngineError: If the sandbox cannot be started.
        ExecutionError: If the network access cannot be set up.
    """
    fitted = spec if exit is None else await exit.apply_to(spec)
    async with sandboxes.start(fitted, say) as sandbox:
        if exit is not None:
            await exit.start_forwarder(
                DockerSandbox(sandbox.container, SandboxSpec(spec.image, user=ROOT_USER))
            )
        yield sandbox


@asynccontextmanager
async def open_tests_egress(
    containers: Containers, rules: NetworkRules, *, filtered: bool
) -> AsyncIterator[Egress | None]:
    """Yield the network access of a trial in which only the containers of the tests have a network.

    Yield None if `filtered` is False.
    """
    if not filtered:
        yield None
        return
    async with containers.create_proxy() as proxy:
        yield Egress(proxy, rules, "tests", rules.egress_policy(True))
