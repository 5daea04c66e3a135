"""The network of a task in each phase (agent, tests): the protocol's network, as changed by the network rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchwright.catalog.containers.egress import Egress
from benchwright.catalog.containers.network_needs import (
    NetworkClosedBy,
    NetworkNeeds,
    find_network_needs,
    hosts_in,
    read_texts_below,
)
from benchwright.catalog.containers.network_rules import NetworkRules
from benchwright.catalog.harbor.environment import TaskContainers, TaskContainerStarter, names_of_neighbours
from benchwright.catalog.harbor.settings import Step, TaskSettings
from benchwright.sandbox.egress import EgressPolicy, EgressProxy, NetworkAccess, TrialPhase


def phase_networks(settings: TaskSettings) -> Iterator[NetworkAccess]:
    """Yield the networks that the protocol gives the agent's container: first at its start, then in each step."""
    yield settings.network
    for step in settings.steps:
        yield agent_network(settings, step)
        if step.verifier is None:
            yield test_network(settings, step)


def agent_network(settings: TaskSettings, step: Step) -> NetworkAccess:
    """Return the network that the protocol gives the agent in a step."""
    return settings.network if step.agent_network is None else step.agent_network


def test_network(settings: TaskSettings, step: Step) -> NetworkAccess:
    """Return the network that the protocol gives a step's tests, in a separate container or in the agent's."""
    if step.verifier is not None:
        return step.verifier.network
    return settings.network if step.test_network is None else step.test_network


def read_test_texts(folder: Path, step: Step, only: str = "") -> list[str]:
    """Return the texts of a step's test files, including files that are built into an image.

    Only files whose names end with `only` are read.
    """
    places = dict.fromkeys(("run-tests.sh", "tests", *step.tests, *_own_tests(step)))
    return list(read_texts_below((folder / place for place in places if (folder / place).exists()), only))


def _own_tests(step: Step) -> tuple[str, ...]:
    return (f"steps/{step.name}/tests",) if step.name else ()


class NetworkPhases:
    """The networks of one trial, phase by phase. With a `proxy`, containers reach hosts only through that proxy."""

    def __init__(
        self,
        environments: TaskContainerStarter,
        settings: TaskSettings,
        folder: Path,
        proxy: EgressProxy | None,
    ) -> None:
        self._environments = environments
        self._rules = environments.rules
        self._settings = settings
        self._folder = folder
        self._proxy = proxy
        self.exit = self._agents_exit()

    async def enter_agent_phase(self, place: TaskContainers, step: Step, instruction: str) -> None:
        """Set the network of the agent's container for the agent's work in a step.

        Raises:
            EngineError: If the engine refuses.
        """
        given = agent_network(self._settings, step)
        if self.exit is None:
            await self._environments.set_network(place, self._settings, given)
            return
        self.exit.grant.phase = "agent"
        self.exit.grant.policy = self._rules.egress_policy(given, hosts_in(instruction))

    async def enter_test_phase(
        self, place: TaskContainers, step: Step, instruction: str, *, sealed: bool
    ) -> Egress | None:
        """Set the network for the tests in the agent's container.

        Return the network access (proxy) if the tests are sealed and run in a container of their own. Return
        None for all other tests.

        Raises:
            EngineError: If the engine refuses.
        """
        given = test_network(self._settings, step)
        if self.exit is None or self._proxy is None:
            await self._environments.set_network(place, self._settings, given)
            return None
        policy = self._of_tests(given, step, instruction)
        if not sealed or step.same_shell:
            self.exit.grant.phase, self.exit.grant.policy = "tests", policy
            return None
        if policy is None:
            await (
                self.exit.revoke_access()
            )  # so that programs that the agent left running have no network either
        return self._exit("tests", policy, self._settings)

    def verifier_egress(self, verifier: TaskSettings, step: Step, instruction: str) -> Egress | None:
        """Return the network access (proxy) of tests in a separate container.

        Return None if their network is unfiltered.
        """
        if self._proxy is None or not self._rules.uses_proxy([verifier.network]):
            return None
        return self._exit("tests", self._of_tests(verifier.network, step, instruction), verifier)

    def _of_tests(self, given: NetworkAccess, step: Step, instruction: str) -> EgressPolicy | None:
        texts = read_test_texts(self._folder, step)
        named = [host for text in (*texts, instruction) for host in hosts_in(text)]
        return self._rules.egress_policy(given, [*named, *find_network_needs(texts).hosts])

    def _agents_exit(self) -> Egress | None:
        if self._proxy is None or not self._rules.uses_proxy(phase_networks(self._settings)):
            return None
        return self._exit("agent", self._rules.egress_policy(self._settings.network), self._settings)

    def _exit(self, phase: TrialPhase, policy: EgressPolicy | None, settings: TaskSettings) -> Egress:
        assert self._proxy is not None, "there is a proxy where there is an exit"
        return Egress(self._proxy, self._rules, phase, policy, names_of_neighbours(settings))


def find_test_network_needs(rules: NetworkRules, settings: TaskSettings, folder: Path) -> NetworkNeeds:
    """Return the programs and hosts for which a task's test scripts need the network.

    `closed_by` of the result states whether the network option or the task's own settings close the network
    to them.
    """
    found = [
        (needs, test_network(settings, step))
        for step in settings.steps
        if (needs := find_network_needs(read_test_texts(folder, step, only=".sh"))).programs
    ]
    closed: NetworkClosedBy = ""
    if any(not rules.has_network(given) for _, given in found):
        closed = "option" if any(given and not rules.has_network(given) for _, given in found) else "task"
    programs = dict.fromkeys(program for needs, _ in found for program in needs.programs)
    hosts = dict.fromkeys(host for needs, _ in found for host in needs.hosts)
    return NetworkNeeds(tuple(programs), tuple(hosts), closed)


def needs_proxy(rules: NetworkRules, settings: TaskSettings) -> bool:
    """Return True if any container of a task gets its network through the proxy."""
    verifiers = [step.verifier.network for step in settings.steps if step.verifier is not None]
    return rules.uses_proxy(phase_networks(settings)) or rules.uses_proxy(verifiers)
