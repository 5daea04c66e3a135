"""Sandboxes for untrusted code: programs written by models, servers of such code, and graders.

    sandbox = LocalSandbox(limits=Limits(wall_seconds=10))
    ended = await sandbox.run(["python3", "main.py"], files={"main.py": source})
    verdict = await run_python(sandbox, program)
    async with sandbox.start_process(["python3", "server.py"], files={"server.py": source}) as process:
        await process.send(b'{"call": "add"}')
        line = await process.receive(timeout=5)

docs/sandbox.md states what each protection prevents and what it does not.
"""

from benchwright.sandbox.isolation_methods import IsolationMethod, choose_isolation_method
from benchwright.sandbox.limits import Limits, SandboxResult
from benchwright.sandbox.local_sandbox import LocalSandbox
from benchwright.sandbox.process import SandboxProcess
from benchwright.sandbox.python_programs import PythonVerdict, run_python

__all__ = [
    "IsolationMethod",
    "Limits",
    "LocalSandbox",
    "PythonVerdict",
    "SandboxProcess",
    "SandboxResult",
    "choose_isolation_method",
    "run_python",
]
