"""What the tests of work in containers share: an image with bash, and a model that follows a script."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from io import BytesIO
from typing import Any

from tests.sandbox.docker.stand_ins import IMAGE, docker

from benchwright.catalog.containers import BashSession
from benchwright.catalog.containers.bash_session import STATE_DIRECTORY
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply, assistant_message
from benchwright.engine.agent_requests import AgentAccess
from benchwright.records import Message, Target
from benchwright.sandbox.docker import DockerSandbox, DockerSandboxes, Resources, SandboxSpec
from benchwright.sandbox.docker.containers import MiB
from benchwright.sandbox.docker.errors import EngineError

BASH_IMAGE = "benchwright-stand-in/bash:1"

SMALL = Resources(memory_bytes=128 * MiB, processes=64, disk_bytes=16 * MiB)
WITH_SH = SandboxSpec(IMAGE, read_only=False, resources=SMALL)
WITH_BASH = SandboxSpec(BASH_IMAGE, read_only=False, resources=SMALL)

Line = Reply | BaseException | Callable[[], Awaitable[Reply]]


def make_bash_image() -> None:
    """Busybox with this machine's bash and the libraries that it needs, where it is not there yet."""
    if docker("images", "--quiet", BASH_IMAGE):
        return
    program = shutil.which("bash")
    assert program is not None
    listed = subprocess.run(["ldd", program], capture_output=True, check=True, text=True).stdout
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
        archive.add(program, "bin/bash")
        for library in re.findall(r"/\S+", listed):
            archive.add(library, library.lstrip("/"))
    container = docker("create", IMAGE, "sh")
    try:
        docker("cp", "-", f"{container}:/", stdin=packed.getvalue())
        docker("commit", container, BASH_IMAGE)
    finally:
        docker("rm", container)


class Places:
    """Containers by what they are to be: `shared` ones stay until the last test has ended."""

    def __init__(self, sandboxes: DockerSandboxes, stack: AsyncExitStack) -> None:
        self.sandboxes = sandboxes
        self._stack = stack
        self._shared: dict[str, DockerSandbox] = {}

    async def shared(self, spec: SandboxSpec) -> BashSession:
        """A fresh session in a container that others have used before, or a new one where they have ended it."""
        used = self._shared.get(spec.image)
        if used is not None:
            try:
                await used.run(["rm", "-rf", STATE_DIRECTORY], seconds=10)
                return BashSession(used)
            except EngineError:  # what a test could not end otherwise was ended with its container
                pass
        self._shared[spec.image] = await self._stack.enter_async_context(self.sandboxes.start(spec))
        return BashSession(self._shared[spec.image])

    @asynccontextmanager
    async def own(self, spec: SandboxSpec) -> AsyncIterator[BashSession]:
        """A session in a container of its own."""
        async with self.sandboxes.start(spec) as sandbox:
            yield BashSession(sandbox)


class Model:
    """A session whose model says the next line of a script each time it is asked, or fails as the line says.

    `asked` are the questions as they were put: the messages, and whether tools were offered.
    """

    def __init__(self, *script: Line) -> None:
        self.target = Target("primary", "scripted", "http://127.0.0.1:1/v1")
        self.asked: list[tuple[list[Message], bool]] = []
        self.shown: list[str] = []
        self._script = list(script)

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        self.asked.append((list(messages), "tools" in params))
        line = self._script.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line if isinstance(line, Reply) else await line()

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        raise AssertionError("agents chat")

    async def count_tokens(self, text: str) -> int | None:
        return None

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        raise AssertionError("agents ask themselves")

    def progress(self, text: str) -> None:
        self.shown.append(text)


def says(text: str, finish_reason: str = "stop") -> Reply:
    """An answer in words."""
    return Reply(assistant_message(text, [], None), text=text, finish_reason=finish_reason)


def calls(*commands: str) -> Reply:
    """An answer that gives commands by calls of the tool."""
    return called(*(json.dumps({"command": command}) for command in commands))


def called(*arguments: str, name: str = "bash") -> Reply:
    """An answer that calls a tool with arguments as they stand."""
    made = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": text}}
        for number, text in enumerate(arguments)
    ]
    return Reply(assistant_message("", made, None), tool_calls=made, finish_reason="tool_calls")


def fenced(*commands: str) -> Reply:
    """An answer that gives commands in fenced blocks."""
    return says("\n\n".join(f"Then:\n```bash\n{command}\n```" for command in commands))


async def killed_when_there_is(path: str, container: str) -> None:
    """Kills a container from outside, as somebody else would, when a program in it has made a file."""
    while f"A {path}" not in await asyncio.to_thread(docker, "diff", container):
        await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)
    await asyncio.to_thread(docker, "kill", container)


def shown_last(model: Model) -> str:
    """What the model was told last."""
    return str(model.asked[-1][0][-1]["content"])
