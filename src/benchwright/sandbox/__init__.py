"""Sandboxes for untrusted code: programs written by models, servers of such code, and graders.

    sandbox = LocalSandbox(limits=Limits(wall_seconds=10))
    ended = await sandbox.run(["python3", "main.py"], files={"main.py": source})
    verdict = await run_python(sandbox, program)
    async with sandbox.start_process(["python3", "server.py"], files={"server.py": source}) as process:
        await process.send(b'{"call": "add"}')
        line = await process.receive(timeout=5)

docs/sandbox.md states what each protection prevents and what it does not.
"""

from benchwright.sandbox.isolation_methods import Protection, choose_protection
from benchwright.sandbox.limits import Limits, SandboxResult
from benchwright.sandbox.local import LocalSandbox
from benchwright.sandbox.process import SandboxProcess
from benchwright.sandbox.python_programs import PythonVerdict, run_python

__all__ = [
    "Limits",
    "LocalSandbox",
    "Protection",
    "PythonVerdict",
    "SandboxProcess",
    "SandboxResult",
    "choose_protection",
    "run_python",
]
