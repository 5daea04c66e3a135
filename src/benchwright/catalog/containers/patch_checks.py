"""Checks of benchmarks that ask for a patch: the gold patch must resolve the issue, and decoys must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from benchwright.catalog.asking import assistant, tool_call
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.records import Message

DONE_MESSAGE = "I am done."

IRRELEVANT_PATCH = """\
diff --git a/beside-the-point.txt b/beside-the-point.txt
new file mode 100644
--- /dev/null
+++ b/beside-the-point.txt
@@ -0,0 +1 @@
+This changes nothing.
"""
_END = "END_OF_THIS_PATCH"


def patch_checks(patch: str, mode: Literal["agent", "patch"], reason: str | None = None) -> Iterator[Check]:
    """Yield the checks: the gold patch, a patch without any effect, and no patch.

    `mode`: `agent` if the model works in a container. A command then applies the patch, so that the changes
    in the work tree are tested. `patch` if the model sends the patch in its only response. An empty response
    is then checked, too. `reason`: why the gold patch is known to fail; None if it is expected to pass.
    """
    if mode == "agent":
        yield Check(GOLD, [apply_patch_message(patch), assistant(DONE_MESSAGE)], reason=reason)
        yield Check(
            "beside the point", [apply_patch_message(IRRELEVANT_PATCH), assistant(DONE_MESSAGE)], passes=False
        )
        yield Check("no patch", [assistant(DONE_MESSAGE)], passes=False)
    else:
        yield Check(GOLD, [_fenced(patch)], reason=reason)
        yield Check("beside the point", [_fenced(IRRELEVANT_PATCH)], passes=False)
        yield Check("no patch", [assistant("I would rather not say.")], passes=False)
        yield Check("empty", [assistant("")], passes=False)


def apply_patch_message(patch: str) -> Message:
    """Build a model message that applies a patch by a call of the tool `bash`."""
    text = patch.rstrip("\n")
    return tool_call("bash", {"command": f"git apply - <<'{_END}'\n{text}\n{_END}"})


def _fenced(patch: str) -> Message:
    text = patch.rstrip("\n")
    return assistant(f"```diff\n{text}\n```")
