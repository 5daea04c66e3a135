"""Files task.toml as people write them and as nobody should: fields of Harbor's format at random, right and wrong."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

NETWORKS = ("", "", 'network_mode = "public"\n', 'network_mode = "no-network"\n', 'network_mode = "none"\n')
TIMES = ("", "timeout_sec = 5\n", "timeout_sec = 5.5\n", 'timeout_sec = "7"\n', 'timeout_sec = "soon"\n')
USERS = ("", "user = 1000\n", 'user = "dev"\n', "user = []\n")
MODES = ("", "", *(f'environment_mode = "{mode}"\n' for mode in ("shared", "separate", "apart")))
MEMORY = (
    *("", "memory_mb = 512\n", 'memory = "4G"\n', 'memory = "4G"\nmemory_mb = 4096\n'),
    *('memory = "4G"\nmemory_mb = 1\n', 'memory = "lots"\n'),
)
CPUS = ("", "cpus = 2\n", "cpus = 1.5\n", 'cpus = "3"\n')
OTHERS = (
    "",
    'os = "LINUX"\n',
    "gpus = 0\n",
    "mcp_servers = []\n",
    'workdir = "/w"\n',
    'docker_image = "a:1"\n',
)


def made_up_tasks(count: int, seed: int) -> Iterator[str]:
    """So many files, the same for the same seed."""
    for number in range(count):
        yield _Writer(Random(f"{seed} {number}")).task()


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._one_of = random.choice

    def task(self) -> str:
        strategy = self._one_of(("", "", 'multi_step_reward_strategy = "final"\n'))
        top = strategy + self._one_of(("", 'artifacts = ["/a"]\n', 'artifacts = ["/a/../b"]\n'))
        names = self._random.sample(("one", "two", "Two", "a/b"), self._random.choice((0, 0, 1, 2)))
        tables = [self.environment("environment"), self.agent("agent"), self.verifier("verifier")]
        return top + "".join(self.step(name) for name in names) + "".join(filter(self._often, tables))

    def step(self, name: str) -> str:
        parts = [self.agent("steps.agent"), self.verifier("steps.verifier")]
        least = self._one_of(("", "min_reward = 0.5\n"))
        return f'[[steps]]\nname = "{name}"\n{least}{"".join(filter(self._often, parts))}'

    def environment(self, name: str) -> str:
        internet = self._one_of(("", "", "allow_internet = false\n"))
        env = self._one_of(("", 'env = {A = "1"}\n', "env = {A = 1}\n"))
        lines = [self._one_of(some) for some in (CPUS, MEMORY, NETWORKS, OTHERS)]
        return f"[{name}]\n{''.join(lines)}{internet}{env}"

    def agent(self, name: str) -> str:
        return f"[{name}]\n" + "".join(self._one_of(some) for some in (TIMES, USERS, NETWORKS))

    def verifier(self, name: str) -> str:
        own = self.environment(f"{name}.environment") if self._random.random() < 0.3 else ""
        return f"{self.agent(name)}{self._one_of(MODES)}{own}"

    def _often(self, text: str) -> bool:
        return self._random.random() < 0.6
