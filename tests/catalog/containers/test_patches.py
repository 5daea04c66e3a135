"""Patches: where they are in an answer, what is taken from a work tree, and how they are applied."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.containers.workshop import WORKSHOP, workshop

from benchwright.catalog.containers.patches import apply_patch, diff_work_tree, drop_binary_parts, find_patch
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import DockerSandboxes, Sandbox, SandboxSpec

__all__ = ["workshop"]

DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"
OTHER = "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-3\n+4\n"


@pytest.mark.parametrize(
    "answer",
    [
        DIFF,
        f"```diff\n{DIFF}```",
        f"Think.\n```python\n--- not this\n```\n```diff\n{DIFF}```\nThen:\n```diff\n{OTHER}```",
        f"```patch\n\n{DIFF}\n```",
        f"<patch>\n{DIFF}</patch>\n```diff\n{OTHER}```",
        f"```\n{DIFF}```",
        f"It is\n{DIFF}",
        DIFF.rstrip("\n"),
    ],
)
def test_a_patch_is_found(answer: str) -> None:
    assert find_patch(answer) == DIFF


def test_fences_inside_a_patch_are_lines_of_it() -> None:
    inner = "--- a/README.md\n+++ b/README.md\n@@ -1 +1,3 @@\n ```\n+```\n+```diff\n"
    assert find_patch(f"```diff\n{inner}```\n") == inner


@pytest.mark.parametrize("answer", ["", "No.", "```python\nx\n```", "- a\n+ b", "```diff\n\n```"])
def test_an_answer_without_a_patch_has_none(answer: str) -> None:
    assert find_patch(answer) == ""


@given(st.text())
def test_what_is_found_is_empty_or_ends_with_its_line(answer: str) -> None:
    patch = find_patch(answer)
    assert patch == "" or patch.endswith("\n")


def test_binary_files_and_submodules_are_left_out() -> None:
    text = f"diff --git a/x b/x\n{DIFF}"
    parts = [
        "diff --git a/p.png b/p.png\nnew file mode 100644\nBinary files /dev/null and b/p.png differ\n",
        text,
        "diff --git a/q b/q\nindex 1..2 100644\nGIT binary patch\nliteral 3\nabc\n\n",
        "diff --git a/sub b/sub\nnew file mode 160000\n--- /dev/null\n+++ b/sub\n@@ -0,0 +1 @@\n+Subproject\n",
    ]
    assert drop_binary_parts("".join(parts)) == text
    assert drop_binary_parts(text) == text


def test_text_about_binary_files_stays() -> None:
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n Binary files a and b differ\n+GIT binary patch\n"
    assert drop_binary_parts(text) == text


START = """
mkdir /repo && cd /repo && git init --quiet && printf '1\\n2\\n3\\n' > x && echo '*.log' > .gitignore && git add -A &&
git -c user.name=n -c user.email=e commit --quiet -m start && git rev-parse HEAD
"""


class Repository:
    """A repository in a sandbox, and its first commit."""

    def __init__(self, sandbox: Sandbox, base: str) -> None:
        self.sandbox = sandbox
        self.base = base

    async def sh(self, command: str) -> str:
        ended = await self.sandbox.run(["bash", "-c", command], seconds=20, cwd="/repo")
        assert ended.succeeded, ended.stderr
        return ended.stdout.decode()

    async def patch(self) -> str:
        return (await diff_work_tree(self.sandbox, "/repo", self.base)).patch


@pytest.fixture
async def repository(workshop: str, sandboxes: DockerSandboxes) -> AsyncIterator[Repository]:
    async with sandboxes.start(SandboxSpec(WORKSHOP, read_only=False)) as sandbox:
        ended = await sandbox.run(["sh", "-c", START], seconds=20)
        yield Repository(sandbox, ended.stdout.decode().strip())


class TestWorkTree:
    async def test_nothing_changed_is_an_empty_patch(self, repository: Repository) -> None:
        found = await diff_work_tree(repository.sandbox, "/repo", repository.base)
        assert (found.patch, found.problem) == ("", None)

    async def test_all_that_is_text_comes_along_and_applies_elsewhere(self, repository: Repository) -> None:
        await repository.sh(
            "printf '1\\n2\\n4\\n' > x; mkdir d; echo new > d/n; head -c 50 /bin/git > b; echo l > a.log"
        )
        await repository.sh(
            "git add d; git -c user.name=n -c user.email=e commit -qm mine; chmod +x x; ln -s x l"
        )
        patch = await repository.patch()
        await repository.sh(f"git reset -q --hard {repository.base}; git clean -qfdx")
        applied = await apply_patch(repository.sandbox, "/repo", patch)
        assert applied.succeeded, applied.log
        assert await repository.sh("cat x d/n; ls; readlink l; test -x x") == "1\n2\n4\nnew\nd\nl\nx\nx\n"

    async def test_settings_of_git_change_nothing(self, repository: Repository) -> None:
        await repository.sh(
            "git config diff.noprefix true; git config color.ui always; git config diff.external false"
        )
        await repository.sh("echo 4 >> x; touch .git/index.lock")
        assert "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n" in await repository.patch()

    async def test_a_repository_that_is_no_more_is_told(self, repository: Repository) -> None:
        await repository.sh("rm -rf .git")
        found = await diff_work_tree(repository.sandbox, "/repo", repository.base)
        assert found.patch == ""
        assert str(found.problem).startswith("git cannot show the changes: ")

    async def test_more_than_a_patch_can_be_is_told(self, repository: Repository) -> None:
        await repository.sh("yes 0123456789 | head -c 5000000 > big")
        found = await diff_work_tree(repository.sandbox, "/repo", repository.base)
        assert (found.patch, found.problem) == ("", "the changes are larger than 4 MiB")

    async def test_a_container_that_is_gone_is_an_error(self, repository: Repository) -> None:
        await repository.sandbox.container.kill("somebody")  # type: ignore[attr-defined]
        with pytest.raises(ExecutionError):
            await repository.patch()


class TestApplying:
    async def test_a_patch_that_fits_is_applied(self, repository: Repository) -> None:
        patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
        assert (await apply_patch(repository.sandbox, "/repo", patch)).succeeded
        assert await repository.sh("cat x") == "1\ntwo\n3\n"

    async def test_a_patch_that_nearly_fits_is_applied_by_the_last_way(self, repository: Repository) -> None:
        patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-2\n+two\n 3\n"
        assert not (await apply_patch(repository.sandbox, "/repo", patch, [("git", "apply")])).succeeded
        assert (await apply_patch(repository.sandbox, "/repo", patch)).succeeded
        assert await repository.sh("cat x") == "1\ntwo\n3\n"

    @pytest.mark.parametrize("patch", ["--- a/n\n+++ b/n\n@@ -1 +1 @@\n-1\n+2\n", "no patch at all\n"])
    async def test_a_patch_that_does_not_fit_is_told(self, patch: str, repository: Repository) -> None:
        applied = await apply_patch(repository.sandbox, "/repo", patch)
        assert not applied.succeeded
        assert applied.log

    @pytest.mark.parametrize("patch", ["", "\n"])
    async def test_an_empty_patch_is_not_applied(self, patch: str, repository: Repository) -> None:
        applied = await apply_patch(repository.sandbox, "/repo", patch)
        assert (applied.succeeded, applied.log) == (False, "the patch is empty")

    async def test_a_patch_cannot_leave_the_directory(self, repository: Repository) -> None:
        patch = "--- /dev/null\n+++ b/../../outside\n@@ -0,0 +1 @@\n+x\n"
        assert not (await apply_patch(repository.sandbox, "/repo", patch)).succeeded
        assert await repository.sh("ls / | grep outside || echo none") == "none\n"
