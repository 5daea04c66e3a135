"""The right patch of an instance, and wrong ones that must not count."""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.records import Message, Sample

DONE = "I am done."
BESIDE_THE_POINT = """\
diff --git a/beside-the-point.txt b/beside-the-point.txt
new file mode 100644
--- /dev/null
+++ b/beside-the-point.txt
@@ -0,0 +1 @@
+This changes nothing.
"""
_END = "END_OF_THIS_PATCH"


def agent_checks(sample: Sample) -> Iterator[Check]:
    """An agent that applies the right patch, one that changes nothing that matters, and one that does nothing."""
    yield Check(GOLD, [applying(sample.content["patch"]), assistant(DONE)])
    yield Check("beside the point", [applying(BESIDE_THE_POINT), assistant(DONE)], passes=False)
    yield Check("no patch", [assistant(DONE)], passes=False)


def answer_checks(sample: Sample) -> Iterator[Check]:
    """The same in one answer."""
    yield Check(GOLD, [assistant(f"<patch>\n{sample.content['patch']}</patch>")])
    yield Check("beside the point", [assistant(f"```diff\n{BESIDE_THE_POINT}```")], passes=False)
    yield Check("no patch", [assistant("I would rather not say.")], passes=False)
    yield Check("empty", [assistant("")], passes=False)


def no_checks(sample: Sample) -> Iterator[Check]:
    """Of predictions from a file nothing can be checked."""
    return iter(())


def applying(patch: str) -> Message:
    """An answer that applies a patch with the tool `bash`."""
    command = f"git apply - <<'{_END}'\n{patch}{_END}"
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    call = {"id": "call_apply", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
