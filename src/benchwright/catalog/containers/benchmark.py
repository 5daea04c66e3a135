"""A benchmark whose trials run in containers, and the options of its agents."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from benchwright.catalog.asking import no_figures
from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.containers.agent import CommandFormat
from benchwright.catalog.containers.container_agents import ShellAgent, TaskAgent, open_command_line_agent
from benchwright.catalog.containers.exploits import Exploit, exploit_checks
from benchwright.catalog.containers.images import FindTaskImages, ImageRetention, with_image_removal
from benchwright.catalog.containers.network_needs import NetworkNeeds
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.engine.run_context import current_run_id
from benchwright.errors import ExecutionError, UserError
from benchwright.recipes.recipe import Recipe
from benchwright.records import Record, Sample
from benchwright.sandbox.docker import DockerSandboxes, Engine, connect, remove_leftovers
from benchwright.sandbox.egress import EgressProxy


class ContainerBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    """A `benchmark.Benchmark` whose trials run in containers.

    - `solver`: builds the solver once the engine is connected.
    - `max_containers`: largest number of containers at the same time.
    - `images_of`: returns the images that a task needs.
    - `image_gib`: mean disk space per image in GiB, without shared layers; None if unknown.
    - `image_retention`: decides which images are removed.
    - `exploits`: checks that try to break the seal.
    - `agent_turns`: the agent's largest number of turns; None if there is no agent.
    - `agent`: the command-line agent that replaces the built-in shell agent.
    - `create_egress_proxy`: creates the proxy of a trial whose containers may reach only a list of hosts.
    - `network_needs`: returns the network needs of a task's tests; None if unknown.
    - `program`: name and version of another program whose answers are graded.
    """

    about: About
    samples: Callable[[Source], Iterator[Sample]]
    solver: Callable[[Containers], Solver]
    scorers: Sequence[Scorer]
    checks: Callable[[Sample], Iterator[Check]]
    max_containers: int
    figures: Callable[[Iterable[GradedTrial]], Sequence[Figure]] = no_figures
    departures: Sequence[str] = ()
    images_of: FindTaskImages | None = None
    image_gib: float | None = None
    image_retention: ImageRetention | None = None
    exploits: Sequence[Exploit] = ()
    agent_turns: int | None = None
    agent: Recipe | None = None
    create_egress_proxy: Callable[[], EgressProxy] = EgressProxy
    network_needs: Callable[[Sample], NetworkNeeds] | None = None
    program: str = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Connect to the engine, start the agent and yield the solver; disconnect on exit."""
        async with AsyncExitStack() as stack:
            opened = await stack.enter_async_context(open_containers(self.max_containers))
            opened.new_proxy = self.create_egress_proxy
            if self.agent is not None:
                opened.agent = await stack.enter_async_context(open_command_line_agent(self.agent))
            solver, engine, keeping = (
                self.solver(opened),
                opened.engine,
                self.image_retention or ImageRetention(),
            )
            engine.purpose, engine.pulls = self.about.full_name, keeping.pulls
            if self.images_of is None:
                yield solver
                return
            async with with_image_removal(solver, engine, self.images_of, keeping.keep) as kept:
                yield kept


def with_exploits(benchmark: Benchmark) -> ContainerBenchmark:
    """Return the benchmark with exploits (scripted agents that cheat) in place of its other checks.

    Raises:
        UserError: If the benchmark has no agent that could be sealed.
    """
    if not isinstance(benchmark, ContainerBenchmark) or not benchmark.exploits:
        raise UserError(f"{benchmark.about.full_name} has no seal that exploits could be tried on.")
    tried = benchmark.exploits
    return msgspec.structs.replace(benchmark, checks=lambda sample: exploit_checks(tried))


class Containers:
    """The container engine of a run, and the sandboxes started on it."""

    def __init__(self, engine: Engine, run_id: str, at_once: int) -> None:
        self.engine = engine
        self.run_id = run_id
        self.sandboxes = DockerSandboxes(engine, run_id, at_once=at_once)
        self.agent: TaskAgent | None = None
        self.new_proxy: Callable[[], EgressProxy] = EgressProxy

    def select_agent(self, commands: CommandFormat) -> TaskAgent:
        """Return the run's command-line agent. If there is none, return the built-in shell agent.

        `commands`: how the shell agent's model sends commands.
        """
        return self.agent or ShellAgent(commands)

    def create_proxy(self) -> EgressProxy:
        """Create the network proxy of one trial. The context manager is returned without being entered.

        Raises:
            ExecutionError: If containers cannot reach a proxy on this machine. The message states what to do.
        """
        if sys.platform != "linux" or not self.engine.address.is_local:
            raise ExecutionError(
                "the network goes by a proxy on this machine, which containers reach only where it runs Linux and the "
                "engine; --option network=open leaves the network unfiltered, --no-seal runs the official protocol"
            )
        return self.new_proxy()


@asynccontextmanager
async def open_containers(at_once: int) -> AsyncIterator[Containers]:
    """Connect to the engine; disconnect on exit. Remove containers that this user's dead processes have left.

    Raises:
        EngineUnavailable: If no engine can be used. The message states how to get one.
    """
    async with connect() as engine:
        await remove_leftovers(engine)
        yield Containers(engine, current_run_id(), at_once)


DEFAULT_MAX_CONTAINERS = 4
_COMMANDS: tuple[CommandFormat, ...] = ("auto", "tools", "fences")


class AgentOptions(Record, frozen=True):
    """The parsed values of the options that `agent_options` lists."""

    containers: int
    max_turns: int
    command_seconds: int
    commands: CommandFormat


def read_agent_options(options: Options, max_turns: int, command_seconds: int) -> AgentOptions:
    """Read the agent's options. `max_turns` and `command_seconds` are the defaults.

    Raises:
        UserError: If a value cannot be used.
    """
    chosen = options.choice("commands", _COMMANDS)
    return AgentOptions(
        containers=options.integer("containers", DEFAULT_MAX_CONTAINERS, 1),
        max_turns=options.integer("max_turns", max_turns, 1),
        command_seconds=options.integer("command_seconds", command_seconds, 1),
        commands=next(one for one in _COMMANDS if one == chosen),
    )
