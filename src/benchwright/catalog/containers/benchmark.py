"""A benchmark in containers: the containers of its run, and the options of its agents."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from benchwright.catalog.asking import no_figures
from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, Graded, Options
from benchwright.catalog.containers.agent import Commands
from benchwright.catalog.containers.exploits import Exploit, exploit_checks
from benchwright.catalog.containers.images import ImagesOf, Keeping, keeping_images
from benchwright.catalog.containers.network_needs import Needs
from benchwright.catalog.containers.players import ModelInShell, Player, player_of
from benchwright.data.datasets import Source
from benchwright.engine.current import current_run
from benchwright.engine.protocols import Scorer, Solver
from benchwright.errors import ExecutionError, UserError
from benchwright.recipes.recipe import Recipe
from benchwright.records import Record, Sample
from benchwright.sandbox.docker import DockerSandboxes, Engine, connected, remove_leftovers
from benchwright.sandbox.egress import EgressProxy


class ContainerBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    """See `benchmark.Benchmark`; `solver` is made when the engine is connected, `at_once` bounds containers.

    `images` says which images a task needs, and `image_gib` how much disk one of them takes on average beside the
    others; None where that is not known. `keeping` says what becomes of them. `exploits` are checks of the seal.
    `agent_turns` is how many turns an agent has, None where none works; `agent` works in place of the model in our
    shell. `egress` makes the proxy of a trial whose containers have a list of hosts. `network_needs` says what a
    task's tests need of a network, None where nothing is known. `program` is another program whose answers are graded,
    with its version.
    """

    about: About
    samples: Callable[[Source], Iterator[Sample]]
    solver: Callable[[Containers], Solver]
    scorers: Sequence[Scorer]
    checks: Callable[[Sample], Iterator[Check]]
    at_once: int
    figures: Callable[[Iterable[Graded]], Sequence[Figure]] = no_figures
    departures: Sequence[str] = ()
    images: ImagesOf | None = None
    image_gib: float | None = None
    keeping: Keeping | None = None
    exploits: Sequence[Exploit] = ()
    agent_turns: int | None = None
    agent: Recipe | None = None
    egress: Callable[[], EgressProxy] = EgressProxy
    network_needs: Callable[[Sample], Needs] | None = None
    program: str = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Connects to the engine."""
        async with AsyncExitStack() as stack:
            opened = await stack.enter_async_context(containers(self.at_once))
            opened.new_proxy = self.egress
            if self.agent is not None:
                opened.agent = await stack.enter_async_context(player_of(self.agent))
            solver, engine, keeping = self.solver(opened), opened.engine, self.keeping or Keeping()
            engine.purpose, engine.pulls = self.about.full_name, keeping.pulls
            if self.images is None:
                yield solver
                return
            async with keeping_images(solver, engine, self.images, keeping.keep) as kept:
                yield kept


def with_exploits(benchmark: Benchmark) -> ContainerBenchmark:
    """The same with exploits in place of its other checks.

    Raises:
        UserError: it has no agents that could be sealed.
    """
    if not isinstance(benchmark, ContainerBenchmark) or not benchmark.exploits:
        raise UserError(f"{benchmark.about.full_name} has no seal that exploits could be tried on.")
    tried = benchmark.exploits
    return msgspec.structs.replace(benchmark, checks=lambda sample: exploit_checks(tried))


class Containers:
    """The engine of a run, and the sandboxes that are started on it."""

    def __init__(self, engine: Engine, run_id: str, at_once: int) -> None:
        self.engine = engine
        self.run_id = run_id
        self.sandboxes = DockerSandboxes(engine, run_id, at_once=at_once)
        self.agent: Player | None = None
        self.new_proxy: Callable[[], EgressProxy] = EgressProxy

    def player(self, commands: Commands) -> Player:
        """Who works in the sandboxes: the run's agent, else the model in a shell, giving `commands` so."""
        return self.agent or ModelInShell(commands)

    def proxy(self) -> EgressProxy:
        """The proxy of one trial, to be entered.

        Raises:
            ExecutionError: containers cannot reach it; says what to do.
        """
        if sys.platform != "linux" or not self.engine.address.is_local:
            raise ExecutionError(
                "the network goes by a proxy on this machine, which containers reach only where it runs Linux and the "
                "engine; --option network=open leaves the network unfiltered, --no-seal runs the official protocol"
            )
        return self.new_proxy()


@asynccontextmanager
async def containers(at_once: int) -> AsyncIterator[Containers]:
    """Connects to the engine, and removes what dead processes of this user left there.

    Raises:
        EngineUnavailable: there is no engine that can be used; says how to get one.
    """
    async with connected() as engine:
        await remove_leftovers(engine)
        yield Containers(engine, current_run(), at_once)


CONTAINERS = 4
_COMMANDS: tuple[Commands, ...] = ("auto", "tools", "fences")


class AgentOptions(Record, frozen=True):
    """The values of the options that `agent_options` names."""

    containers: int
    max_turns: int
    command_seconds: int
    commands: Commands


def read_agent_options(options: Options, max_turns: int, command_seconds: int) -> AgentOptions:
    """The options as given; the numbers are the defaults.

    Raises:
        UserError: a value cannot be used.
    """
    chosen = options.choice("commands", _COMMANDS)
    return AgentOptions(
        containers=options.integer("containers", CONTAINERS, 1),
        max_turns=options.integer("max_turns", max_turns, 1),
        command_seconds=options.integer("command_seconds", command_seconds, 1),
        commands=next(one for one in _COMMANDS if one == chosen),
    )
