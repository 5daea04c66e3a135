"""What a pack sees of the machine's other processes: not their environment, where keys may be, though it is the same
user's. Its own files stay as open as they were.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.packs.bridge.bridge_kit import run, running, scenario_pack

from benchwright.packs.bridge.child_process import SUPERVISOR_IMPORT_FOLDERS
from benchwright.python_commands import standard_library_command

SPIES = """
const fs = require("node:fs");
const seen = [];
for (const pid of ["HOST", "self"]) {
  for (const file of ["environ", "mem", "fd/1"]) {
    try {
      fs.closeSync(fs.openSync(`/proc/${pid}/${file}`));
      seen.push(`${pid} ${file}`);
    } catch {}
  }
}
return passed(input, { note: seen.join(",") });
"""
WRITES = """
const fs = require("node:fs");
fs.writeFileSync(`${__dirname}/made.txt`, "made");
const { uid } = fs.statSync(`${__dirname}/made.txt`);
return passed(input, { note: `${uid} ${process.getuid()}` });
"""
TRIES = """
import os, sys
sys.path[:0] = sys.argv[1:2]
from inside.apart import fork_apart
if user := int(sys.argv[2]):
    os.setgid(user)
    os.setuid(user)
pid, apart = fork_apart()
if pid == 0:
    os._exit(os.getuid() != user or os.getgid() != user)
print(apart, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def tried(user: int = 0) -> str:
    command = standard_library_command(TRIES, SUPERVISOR_IMPORT_FOLDERS[1], str(user))
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(not tried().startswith("True"), reason="this machine does not allow user namespaces")
async def test_other_processes_are_closed_to_it(tmp_path: Path) -> None:
    spies = SPIES.replace("HOST", str(os.getpid()))
    async with running(scenario_pack(tmp_path / "pack", spies=spies)) as pack:
        cell = await run(pack, "spies")
    assert cell.result.note == "self environ,self mem,self fd/1"


async def test_its_files_belong_to_the_same_user_as_ever(tmp_path: Path) -> None:
    async with running(scenario_pack(tmp_path / "pack", writes=WRITES)) as pack:
        cell = await run(pack, "writes")
    assert cell.result.note == f"{os.getuid()} {os.getuid()}"


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's process can be started by root only")
def test_an_ordinary_user_keeps_its_number_whether_it_can_be_kept_apart_or_not() -> None:
    assert tried(user=12345) in ("True 0", "False 0")
