"""A bench pack as an engine task. Scenarios are samples. Each cell (a scenario with a model) is a trial."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay, RelayedRequest, relay_environment
from benchwright.endpoint.serving.listener import LOOPBACK_HOST
from benchwright.engine.protocols import Scorer, Solver
from benchwright.formats import count_with_noun
from benchwright.packs.bridge import PackProcess
from benchwright.packs.configuration import PackConfiguration
from benchwright.packs.context import PackDirectories, RelayAccess, host_context
from benchwright.packs.manifest import PackManifest
from benchwright.packs.pack_interfaces import PackWatcher, RunningVerifiers
from benchwright.packs.solver import CellSettings, PackSolver
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.records import Record, Sample, TaskSpec
from benchwright.runs.keys import fingerprint


class PackRunSetup(Record, frozen=True):
    """Everything needed to run a pack: its directory, manifest, scenarios, models and settings.

    `models`: a mapping from the slot (the id of the model in the run) to the model. `digest`: the digest of
    the pack's files. `bypasses_relay`: True if the pack sends requests to its providers itself, so that nothing is
    metered. `listed_scenario_count`: the number of all scenarios of the pack.
    """

    directory: Path
    manifest: PackManifest
    digest: str
    scenarios: Sequence[ScenarioMeta]
    configuration: PackConfiguration
    models: Mapping[str, RegisteredModel]
    directories: PackDirectories
    cells: CellSettings
    bypasses_relay: bool = False
    listed_scenario_count: int = 0

    @property
    def scenario_count_text(self) -> str:
        """The number of scenarios to run. If the pack has more scenarios, their number is added."""
        return format_scenario_count(len(self.scenarios), self.listed_scenario_count)


def format_scenario_count(chosen: int, listed: int) -> str:
    """Format the number of chosen scenarios. If only some are chosen, the number of all scenarios is added."""
    return (
        count_with_noun(chosen, "scenario")
        if chosen >= listed
        else f"{chosen:,} of {count_with_noun(listed, 'scenario')}"
    )


class PackTask:
    """The engine task of a pack: every scenario for every model.

    `pack`: the pack's process, which also lists the scenarios and scores the results.
    """

    scorers: Sequence[Scorer] = ()

    def __init__(
        self,
        setup: PackRunSetup,
        pack: PackProcess,
        clients: Mapping[str, EndpointClient],
        verifiers: AbstractAsyncContextManager[RunningVerifiers],
        watcher: PackWatcher,
    ) -> None:
        self.setup = setup
        self._pack = pack
        self._clients = clients
        self._verifiers = verifiers
        self._watcher = watcher
        manifest = setup.manifest
        self._spec = TaskSpec(
            name=manifest.id,
            version=manifest.version,
            fingerprint=fingerprint(
                "pack", manifest.id, manifest.version, setup.digest, setup.cells.generation
            ),
        )

    @property
    def spec(self) -> TaskSpec:
        """Name, version and fingerprint of the task."""
        return self._spec

    def set_run_directory(self, run: Path) -> None:
        """Set the run's id and directory. Must be called before the task is opened.

        The pack may write to the subdirectory `pack` of that directory.
        """
        setup = self.setup
        self.setup = msgspec.structs.replace(
            setup,
            cells=msgspec.structs.replace(setup.cells, run_id=run.name),
            directories=msgspec.structs.replace(setup.directories, run=run / "pack"),
        )

    def samples(self) -> Iterator[Sample]:
        """Yield one sample per scenario. The sample's content is the scenario as the pack listed it."""
        for scenario in self.setup.scenarios:
            labels = {} if scenario.category is None else {"category": scenario.category}
            yield Sample(
                scenario.id,
                scenario.raw,
                labels=labels,
                input=scenario.prompt_text or scenario.description or scenario.title,
                target=_success(scenario),
            )

    def size(self) -> int:
        """Return the number of scenarios."""
        return len(self.setup.scenarios)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Start the verifiers and the relay, prepare the pack, and yield the solver.

        On exit, dispose of the pack, and stop the verifiers and the relay.

        Raises:
            UserError: If a required verifier is not available.
            ExecutionError: If the pack does not load, or its `prepare` fails.
        """
        setup = self.setup
        setup.directories.create()
        async with AsyncExitStack() as stack:
            verifiers = await stack.enter_async_context(self._verifiers)
            relay, access = None, None
            if not setup.bypasses_relay:
                relay = await stack.enter_async_context(
                    Relay(also_at=_apart(verifiers.gateway), keeps_idle=True)
                )
                access = self._share(relay, verifiers.gateway)
            stack.push_async_callback(self._pack.dispose)
            await self._pack.prepare(
                host_context(
                    setup.manifest,
                    setup.directory,
                    setup.directories,
                    setup.configuration,
                    list(setup.models.values()),
                    verifiers.endpoints,
                    access,
                ),
                None if relay is None else relay.base_url,
                {} if access is None else self._way(access),
            )
            self._watcher.on_prepared()
            yield PackSolver(self._pack, setup.models, setup.cells, relay, verifiers, self._watcher)

    def _share(self, relay: Relay, gateway: str | None) -> RelayAccess:
        """Give the pack a token of the relay for requests outside any cell, and return its access to the relay.

        Such a request names a model by its id, or by the provider's name for the model.
        """
        models = self.setup.models
        clients = {model.id: self._clients[slot] for slot, model in models.items()}
        for slot, model in models.items():
            clients.setdefault(model.model, self._clients[slot])
        grant = relay.open_shared_grant(clients, self._note)
        docker = None if gateway is None else relay.base_url.replace("127.0.0.1", "host.docker.internal")
        return RelayAccess(relay.base_url, grant.token, docker)

    def _way(self, access: RelayAccess) -> dict[str, str]:
        """Return the environment variables that tell the pack's clients the relay's address, token and model.

        The model is included only if the run has exactly one.
        """
        models = [model.model for model in self.setup.models.values()]
        return relay_environment(access.base_url, access.token, models[0] if len(models) == 1 else None)

    def _note(self, relayed: RelayedRequest) -> None:
        self._watcher.on_request(relayed.record)


def _success(scenario: ScenarioMeta) -> str | None:
    """Return the text of a scenario's first card with "success" in its title. Return None if there is none."""
    cards = (card.content for card in scenario.detail_cards if "success" in card.title.lower())
    return next(cards, None)


def _apart(gateway: str | None) -> str | None:
    """Return the address at which containers reach this machine. Return None if it is the loopback.

    The relay listens on the loopback anyway.
    """
    return None if gateway == LOOPBACK_HOST else gateway
