"""Checks of benchmarks that ask for a patch: the gold patch must resolve the issue, and no patch must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import GOLD, Check

_END = "END_OF_THE_GOLD_PATCH"

_APPLY = f"""\
```bash
cat > /tmp/gold.diff <<'{_END}'
{{patch}}
{_END}
git apply --verbose /tmp/gold.diff && rm /tmp/gold.diff
```"""


def patch_checks(patch: str, mode: Literal["agent", "patch"], reason: str | None = None) -> Iterator[Check]:
    """The gold patch, and one that changes nothing; `reason` says why the gold one is known to fail.

    In agent mode a command applies the patch, so that what is taken from the work tree is tested.
    """
    text = patch.rstrip("\n")
    if mode == "agent":
        work, nothing = assistant(_APPLY.format(patch=text)), assistant("There is nothing to do.")
        yield Check(GOLD, [work, assistant("Done.")], reason=reason)
    else:
        nothing = assistant("I cannot do this.")
        yield Check(GOLD, [assistant(f"```diff\n{text}\n```")], reason=reason)
    yield Check("no change", [nothing], passes=False)
