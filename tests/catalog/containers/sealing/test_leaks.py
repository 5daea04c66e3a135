"""What an image holds of a solution is found before an agent begins; in a real container."""

from __future__ import annotations

import pytest

from benchwright.catalog.containers.sealing import leaks
from benchwright.catalog.containers.sealing.leaks import Leaks, find_fixed_copies, find_identical_files
from benchwright.sandbox.docker import DockerSandbox, DockerSandboxes, SandboxSpec

pytestmark = pytest.mark.slow

SOLUTION = b"#!/bin/bash\n# The solution of the task, which nobody should find.\necho 42 >/app/answer\n"
PATCH = """\
diff --git a/shop/prices.py b/shop/prices.py
--- a/shop/prices.py
+++ b/shop/prices.py
@@ -1,2 +1,4 @@
 def total(prices):
-    return sum(prices)
+    if not prices:
+        return Decimal("0.00")
+    return sum(prices, Decimal("0.00"))
"""
BROKEN = b"def total(prices):\n    return sum(prices)\n"
FIXED = b"""\
def total(prices):
    if not prices:
        return Decimal("0.00")
    return sum(prices, Decimal("0.00"))
"""


async def found(sandboxes: DockerSandboxes, image: str, files: dict[str, bytes], **known: bytes) -> Leaks:
    """What is found in a container with these files: identical ones, or without any known, copies of what was fixed."""
    async with sandboxes.start(SandboxSpec(image, read_only=False)) as sandbox:
        await sandbox.write_files(files)
        if known:
            return await find_identical_files(sandbox, known.items())
        return await find_fixed_copies(sandbox, "/testbed", PATCH)


async def test_a_file_of_the_solution_is_found_wherever_it_lies(
    workshop: str, sandboxes: DockerSandboxes
) -> None:
    files = {
        "/opt/a folder/.hidden": SOLUTION,
        "/app/other.sh": SOLUTION.replace(b"42", b"43"),
        "/app/x": b"x = 1",
    }
    leaks = await found(sandboxes, workshop, files, solve=SOLUTION, short=b"x = 1", other=b"-" * 99)
    assert leaks == Leaks({"/opt/a folder/.hidden": "solve"})


async def test_a_copy_of_a_fixed_file_is_found_and_the_file_itself_is_none(
    workshop: str, sandboxes: DockerSandboxes
) -> None:
    files = {
        "/testbed/shop/prices.py": BROKEN,
        "/testbed/build/lib/shop/prices.py": BROKEN,
        "/opt/site-packages/shop/prices.py": FIXED,
        "/testbed/shop/prices.py.orig": FIXED,
        "/opt/other/prices.py": FIXED,
    }
    leaks = await found(sandboxes, workshop, files)
    assert set(leaks.found) == {"/opt/site-packages/shop/prices.py", "/testbed/shop/prices.py.orig"}
    assert [flag.kind for flag in leaks.flags] == ["solution_in_image"] * 2


async def test_what_cannot_be_searched_is_said_and_nothing_is_found(
    sandboxes: DockerSandboxes, workshop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaks, "SEARCH_SECONDS", 1.0)
    async with sandboxes.start(SandboxSpec(workshop, read_only=False)) as sandbox:
        slow = {"/bin/xargs": b"#!/bin/sh\nsleep 60\n"}
        await DockerSandbox(sandbox.container, SandboxSpec(workshop, read_only=False, user="0")).write_files(
            slow
        )
        late = await find_identical_files(sandbox, [("solve", SOLUTION)])
        await sandbox.run(["rm", "/bin/sha256sum"], seconds=5)
        missing = await find_identical_files(sandbox, [("solve", SOLUTION)])
    assert late.problem == "the search of the image was ended after 1 s"
    assert missing.problem == "the image could not be searched: there is no sha256sum"
