"""A bench pack as a task of the engine: its scenarios are the samples, a cell is a trial."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay, RelayedRequest, relay_environment
from benchwright.endpoint.serving.listener import LOOPBACK
from benchwright.engine.protocols import Scorer, Solver
from benchwright.formats import counted
from benchwright.packs.bridge import PackProcess
from benchwright.packs.configuration import PackConfiguration
from benchwright.packs.context import PackDirectories, RelayAccess, host_context
from benchwright.packs.manifest import PackManifest
from benchwright.packs.solver import CellSettings, PackSolver
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.packs.watching import RunningVerifiers, Watcher
from benchwright.records import Record, Sample, TaskSpec
from benchwright.runs.keys import fingerprint


class PackRunSetup(Record, frozen=True):
    """A pack that is to be run: where it is, what it says of itself, and how it is to be run.

    `models` maps slots to models; `digest` stands for the pack's files. With `direct`, the pack asks its providers
    itself, and nothing is metered. `listed` is how many scenarios the pack has.
    """

    directory: Path
    manifest: PackManifest
    digest: str
    scenarios: Sequence[ScenarioMeta]
    configuration: PackConfiguration
    models: Mapping[str, RegisteredModel]
    directories: PackDirectories
    cells: CellSettings
    direct: bool = False
    listed: int = 0

    @property
    def scope(self) -> str:
        """How many scenarios are run, of how many that the pack lists."""
        return scope_of(len(self.scenarios), self.listed)


def scope_of(chosen: int, listed: int) -> str:
    """The number of scenarios in words; of a choice of them, with how many there are."""
    return counted(chosen, "scenario") if chosen >= listed else f"{chosen:,} of {counted(listed, 'scenario')}"


class PackTask:
    """The task: every scenario of the pack for every model. `pack` is its process, which lists and scores as well."""

    scorers: Sequence[Scorer] = ()

    def __init__(
        self,
        setup: PackRunSetup,
        pack: PackProcess,
        clients: Mapping[str, EndpointClient],
        verifiers: AbstractAsyncContextManager[RunningVerifiers],
        watcher: Watcher,
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
        """Name, version and fingerprint."""
        return self._spec

    def begin(self, run: Path) -> None:
        """Tells which run this is, before it is opened; the pack may write into a directory of it."""
        setup = self.setup
        self.setup = msgspec.structs.replace(
            setup,
            cells=msgspec.structs.replace(setup.cells, run_id=run.name),
            directories=msgspec.structs.replace(setup.directories, run=run / "pack"),
        )

    def samples(self) -> Iterator[Sample]:
        """One sample per scenario; its content is the scenario as the pack lists it."""
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
        """The number of scenarios."""
        return len(self.setup.scenarios)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Starts verifiers and the relay, prepares the pack, and has it put its things away at the end.

        Raises:
            UserError: a required verifier is not available.
            ExecutionError: the pack does not load, or its `prepare` fails.
        """
        setup = self.setup
        setup.directories.create()
        async with AsyncExitStack() as stack:
            verifiers = await stack.enter_async_context(self._verifiers)
            relay, access = None, None
            if not setup.direct:
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
            self._watcher.prepared()
            yield PackSolver(self._pack, setup.models, setup.cells, relay, verifiers, self._watcher)

    def _share(self, relay: Relay, gateway: str | None) -> RelayAccess:
        """A token for requests that belong to no cell; models go by their ids and by their providers' names."""
        models = self.setup.models
        clients = {model.id: self._clients[slot] for slot, model in models.items()}
        for slot, model in models.items():
            clients.setdefault(model.model, self._clients[slot])
        grant = relay.share(clients, self._note)
        docker = None if gateway is None else relay.base_url.replace("127.0.0.1", "host.docker.internal")
        return RelayAccess(relay.base_url, grant.token, docker)

    def _way(self, access: RelayAccess) -> dict[str, str]:
        """The variables in which clients of the pack find the relay; a model only where the run has but one."""
        models = [model.model for model in self.setup.models.values()]
        return relay_environment(access.base_url, access.token, models[0] if len(models) == 1 else None)

    def _note(self, relayed: RelayedRequest) -> None:
        self._watcher.request(relayed.record)


def _success(scenario: ScenarioMeta) -> str | None:
    """What the pack says that success is, where one of its cards does."""
    cards = (card.content for card in scenario.detail_cards if "success" in card.title.lower())
    return next(cards, None)


def _apart(gateway: str | None) -> str | None:
    """The gateway, unless it is an address at which the relay listens anyway."""
    return None if gateway == LOOPBACK else gateway
