"""Removes later commits from a repository: only commits and objects that HEAD leads to remain.

Branches, remotes, stashes and tags of later commits are removed, and so are the reflogs and objects that only
they led to. Nothing can then be found by name or by hash. HEAD, its ancestors and their tags stay, because
version numbers are made from them.
"""

from __future__ import annotations

from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import Sandbox

SEAL_SECONDS = 900.0
"""Time limit in seconds for sealing a repository. A large repository is packed anew, which takes long."""

HISTORY_DEPARTURE = "sealed: agents find no commits later than the one that they start from"
"""The departure from the official protocols that later commits are removed."""

_FORGET = r"""
set -e
git config --global --add safe.directory "$PWD"
common=$(git rev-parse --git-common-dir)
common=$(cd "$common" && pwd)
head=$(git rev-parse --verify HEAD^0)
branch=$(git symbolic-ref --quiet HEAD || true)

git remote | while read -r remote; do git remote remove "$remote"; done
git worktree list --porcelain | sed -n 's/^worktree //p' | tail -n +2 | while read -r tree; do
  git worktree remove --force "$tree" || true
done
rm -rf "$common"/worktrees "$common"/logs "$common"/lost-found "$common"/rr-cache "$common"/rebase-* \
  "$common"/sequencer "$common"/BISECT_* "$common"/shallow.lock "$common"/info/grafts "$common"/gc.pid
for left in "$common"/*_HEAD; do rm -f "$left"; done
git for-each-ref --merged="$head" --format='%(refname)' refs/tags >"$common/benchwright-tags"
git for-each-ref --format='%(refname) %(objectname)' | while read -r name object; do
  [ "$name" = "$branch" ] && continue
  case $name in refs/tags/*) grep -qxF "$name" "$common/benchwright-tags" && continue;; esac
  case $name in refs/remotes/*|refs/stash|refs/replace/*) ;; *) [ "$object" = "$head" ] && continue;; esac
  echo "delete $name"
done | git update-ref --no-deref --stdin
rm -f "$common/benchwright-tags"
git reset --quiet || true

stores=$(cat "$common"/objects/info/alternates 2>/dev/null || true)
rm -rf "$common"/objects/info/commit-graph* "$common"/objects/pack/*.keep "$common"/objects/pack/*.bitmap \
  "$common"/objects/pack/*.promisor
git config --unset-all extensions.partialClone || true
git -c core.logAllRefUpdates=false repack -a -d -q
printf '%s\n' "$stores" | while read -r store; do
  case $store in '') ;; /*) rm -rf "$store";; *) rm -rf "$common/objects/$store";; esac
done
rm -f "$common"/objects/info/alternates
git prune --expire=now
git prune-packed -q
git pack-refs --all

left=$(git rev-list --all --not "$head" | head -n 3
  git fsck --no-reflogs --unreachable --connectivity-only --no-progress 2>&1 | grep '^unreachable' | head -n 3)
[ -z "$left" ] || { echo "later objects are left: $left" >&2; exit 1; }
"""


async def remove_later_commits(sandbox: Sandbox, directory: str) -> None:
    """Remove all commits and objects that HEAD does not lead to from a repository, and check the result.

    `directory`: the repository's work tree. Call this in an agent's container before the agent begins. Do not
    call it in the container of the tests, because tests may need later commits.

    Raises:
        ExecutionError: If later objects cannot be removed. The message states what to do.
        EngineError: If the engine does not respond.
    """
    ended = await sandbox.run(["sh", "-c", _FORGET], seconds=SEAL_SECONDS, cwd=directory)
    if not ended.succeeded:
        raise ExecutionError(
            f"the history of {directory} cannot be sealed ({ended.error_line}); --no-seal leaves it as it is"
        )
