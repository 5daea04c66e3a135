"""A sealed repository, in a real container: nothing later than HEAD can be had of it, and all before it is there."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from benchwright.catalog.containers.sealing.commit_removal import remove_later_commits
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import DockerSandbox, DockerSandboxes, SandboxSpec, connect

SECRET = "the fix"

pytestmark = pytest.mark.asyncio(loop_scope="module")

REPOSITORY = """
set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
git init -q -b main .
commit() { echo "$1" >>code.txt; git add -A; git commit -q -m "$1"; }
commit first; git tag v1.0; git tag -a -m 'annotated' v1.1
commit second
"""
"""Two commits, the first of them with tags; what a test adds comes after."""


class Repository:
    """A repository of one test's own in a container that all of them share."""

    def __init__(self, sandbox: DockerSandbox, directory: str) -> None:
        self.sandbox = sandbox
        self.directory = directory

    async def shell(self, commands: str) -> str:
        """What commands print that must succeed."""
        ended = await self.sandbox.run(["bash", "-ec", commands], seconds=60, cwd=self.directory)
        assert ended.succeeded, ended.error_line
        return ended.stdout.decode("utf-8", "replace").strip()

    async def seal(self) -> None:
        await remove_later_commits(self.sandbox, self.directory)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def container(workshop: str) -> AsyncIterator[DockerSandbox]:
    async with connect() as engine:
        sandboxes = DockerSandboxes(engine, f"test-{secrets.token_hex(6)}")
        async with sandboxes.start(SandboxSpec(workshop, read_only=False)) as sandbox:
            yield sandbox


@pytest_asyncio.fixture(loop_scope="module")
async def repository(container: DockerSandbox) -> Repository:
    made = Repository(container, f"/{secrets.token_hex(6)}")
    await container.run(["mkdir", made.directory], seconds=10)
    await made.shell(REPOSITORY)
    return made


LATER = f"""
git checkout -q -b later; echo '{SECRET}' >fix.txt; git add -A
git -c user.name=A -c user.email=a@b commit -q -m '{SECRET}'
later=$(git rev-parse HEAD); git checkout -q main
"""
"""A commit after HEAD on a branch that is called `later`, as `$later`."""

HIDDEN = {
    "a branch": LATER,
    "a remote": f"{LATER} git remote add origin https://example.org/project; "
    "git update-ref refs/remotes/origin/main $later; git branch -q -D later",
    "a tag": f"{LATER} git tag v2.0 later; git -c user.name=A -c user.email=a@b tag -a -m x v2.1 later; "
    "git branch -q -D later",
    "any other ref": f"{LATER} git update-ref refs/pull/7/head $later; git branch -q -D later",
    "the reflog": f"{LATER} git branch -q -D later",
    "nothing but its hash": f"{LATER} git branch -q -D later; rm -rf .git/logs",
    "a pack without a name": f"{LATER} git repack -a -d -q; touch $(ls .git/objects/pack/*.pack | sed s/pack$/keep/); "
    "git branch -q -D later; rm -rf .git/logs",
    "a pack of a partial clone": f"{LATER} git repack -a -d -q; "
    "touch $(ls .git/objects/pack/*.pack | sed s/pack$/promisor/); git config extensions.partialClone origin; "
    "git branch -q -D later; rm -rf .git/logs",
    "a stash": f"echo '{SECRET}' >code.txt; git -c user.name=A -c user.email=a@b stash -q; "
    "later=$(git rev-parse stash)",
    "a work tree": f"{LATER} git worktree add -q --detach $PWD-elsewhere later; "
    "git branch -q -D later; rm -rf .git/logs",
    "what was fetched last": f"{LATER} echo $later >.git/FETCH_HEAD; echo $later >.git/ORIG_HEAD; "
    "git branch -q -D later; rm -rf .git/logs",
    "a replacement": f"{LATER} git replace HEAD later; git branch -q -D later; rm -rf .git/logs",
    "another store": f"{LATER} git repack -a -d -q; mkdir $PWD-store; cp -r .git/objects/pack $PWD-store/; "
    "echo $PWD-store >.git/objects/info/alternates; git branch -q -D later; rm -rf .git/logs",
    "a blob of the index": f"echo '{SECRET}' >fix.txt; git add fix.txt; later=$(git rev-parse :fix.txt); rm fix.txt",
}


@pytest.mark.parametrize("place", HIDDEN)
async def test_a_later_commit_cannot_be_had_wherever_it_was(repository: Repository, place: str) -> None:
    later = await repository.shell(f"{HIDDEN[place]}\ngit cat-file -e $later; echo $later")
    await repository.seal()
    assert await repository.shell(f"git cat-file -e {later} 2>&1 && echo there || echo gone") == "gone"
    everything = "git cat-file --batch-all-objects --batch-check='%(objectname)' | git cat-file --batch"
    assert SECRET not in await repository.shell(everything)
    assert (
        await repository.shell("git log --all --topo-order --format=%s; git stash list; git remote")
        == "second\nfirst"
    )
    assert await repository.shell("ls -d $PWD-elsewhere $PWD-store 2>/dev/null || true") == ""


async def test_what_lies_before_stays_with_its_tags_and_the_work_tree_as_it_was(
    repository: Repository,
) -> None:
    changes = "echo changed >>code.txt; echo new >new.txt; mkdir build; echo x >build/ignored; echo build >.gitignore"
    look = "git rev-parse HEAD v1.0 v1.1^0; git log --format=%H; git describe --tags; git symbolic-ref HEAD; "
    look += "git status --porcelain --ignored; cat code.txt; git blame -s code.txt"
    before = await repository.shell(f"{LATER} {changes}\n{look}")
    await repository.seal()
    assert await repository.shell(look) == before


async def test_a_commit_that_is_checked_out_by_its_hash_is_the_end_of_history(
    repository: Repository,
) -> None:
    first = await repository.shell("git checkout -q --detach HEAD~1; git rev-parse HEAD")
    await repository.seal()
    assert await repository.shell("git rev-list --all") == first
    assert await repository.shell("git rev-parse HEAD; git tag") == f"{first}\nv1.0\nv1.1"


async def test_work_goes_on_as_before(repository: Repository) -> None:
    await repository.shell(LATER)
    await repository.seal()
    author = "-c user.name=A -c user.email=a@b"
    work = f"echo x >>code.txt; git {author} commit -aqm mine; git {author} stash list; git checkout -q -b mine; "
    assert await repository.shell(f"{work} git log --all --topo-order --format=%s") == "mine\nsecond\nfirst"


async def test_a_repository_that_cannot_be_sealed_is_an_error_that_says_so(repository: Repository) -> None:
    await repository.shell("rm -rf .git")
    with pytest.raises(ExecutionError, match=r"cannot be sealed .*--no-seal"):
        await repository.seal()
