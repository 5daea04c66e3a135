"""An engine that dies in the middle of a run: what it had is reported at once, and is gone at the next start.

The engine is one of the test's own: its socket, its data, and namespaces for its network and its mounts. In the
machine's own network one without a bridge would remove that of the others.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.docker.stand_ins import IMAGE, answers, docker, make_busybox
from tests.sandbox.docker.test_leftovers import left_of, other_process

from benchwright.sandbox.docker import connect, remove_leftovers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

START_SECONDS = 60.0
RUN = "test-engine-death"
AT_WORK = """
import asyncio
from benchwright.sandbox.docker import DockerSandboxes, EngineUnavailable, SandboxSpec, connect
from benchwright.sandbox.docker.networks import private_network
from benchwright.sandbox.docker.snapshots import temporary_snapshot

async def main():
    async with connect() as engine:
        sandboxes = DockerSandboxes(engine, {run_id!r})
        try:
            async with sandboxes.start(SandboxSpec({image!r})) as sandbox:
                async with temporary_snapshot(engine, sandbox.container, {run_id!r}) as image:
                    spec = SandboxSpec(image, network_container=sandbox.container.name)
                    async with sandboxes.start_sharing_network(spec) as verifier:
                        print("started", flush=True)
                        await verifier.run(["sleep", "120"], seconds=120)
        except EngineUnavailable as error:
            print(type(error).__name__, flush=True)

asyncio.run(main())
"""


class OwnEngine:
    """An engine that nobody else uses, below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.host = f"unix://{folder}/s"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it; all that `docker` and Benchwright do in this process and its children goes to it then."""
        places = [f"--{name}={self._folder}/{name}" for name in ("data-root", "exec-root", "pidfile")]
        no_network = ("--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false")
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["unshare", "--net", "--mount", "dockerd", f"--host={self.host}", *places, *no_network],
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_SECONDS
        while not answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.skip(
                    f"no engine of its own: {(self._folder / 'log').read_text(errors='replace')[-300:]}"
                )
            time.sleep(0.2)

    def end(self, number: signal.Signals) -> None:
        """Ends it by a signal, and what says that it runs."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)
        for left in ("pidfile", "exec-root/containerd/containerd.pid"):
            (self._folder / left).unlink(missing_ok=True)


@pytest.fixture
def own_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnEngine]:
    """It runs, and has the stand-in image."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("dockerd", "docker", "unshare"))):
        pytest.skip("only root can start an engine (Debian and Ubuntu: apt-get install docker.io)")
    folder = Path(tempfile.mkdtemp(prefix="bw-"))
    engine = OwnEngine(folder)
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    try:
        engine.start()
        make_busybox()
        yield engine
    finally:
        engine.end(signal.SIGTERM)
        shutil.rmtree(folder, ignore_errors=True)


async def test_the_death_of_the_engine_is_reported_and_the_next_start_leaves_nothing(
    own_engine: OwnEngine,
) -> None:
    with other_process(AT_WORK.format(run_id=RUN, image=IMAGE)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        own_engine.end(signal.SIGKILL)
        assert process.stdout.readline() == "EngineUnavailable\n"
        assert process.wait(30) == 0
    own_engine.start()
    assert left_of(RUN) != "", "nobody could remove it while the engine was away"
    async with connect() as engine:
        await remove_leftovers(engine)
    assert left_of(RUN) == ""
    assert docker("images", "--quiet", "--filter", "dangling=true") == ""
