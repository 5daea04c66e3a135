"""Prefix cache of a simulated server: blocks of tokens, shared by prompts with the same beginning, as in vLLM.

A block is identified by its tokens and by the block before it. So the same tokens in another place are
another block. Later requests can find a block once it is full and computed. Blocks that running requests hold
are never evicted. Other blocks are evicted in the order of their last use, but a block is always evicted
before its predecessor. If two requests compute equal blocks at the same time, each request holds its own
block, and one of the two blocks is kept.

https://docs.vllm.ai/en/stable/design/prefix_caching/
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence


class RequestTokens:
    """The tokens of one request (prompt, then answer), and the request's blocks in the cache.

    `digests`: the digests of the full blocks. `blocks`: the number of blocks that the request holds while it
    runs. `room`: the number of tokens that fit into these blocks. `shared`: how many of the first blocks
    other requests can find. `copies`: the digests of those shared blocks that could already be found in
    another block. `before`: the number of tokens that the request's prefill covers. `cached`: the number of
    these tokens that were found in the cache. `start`, `end`: the times of the prefill (ns).
    """

    __slots__ = ("before", "blocks", "cached", "copies", "digests", "end", "prompt", "room", "shared",
                 "start")  # fmt: skip

    def __init__(self, prompt: int, digests: Sequence[int] = ()) -> None:
        self.prompt = prompt
        self.digests = digests
        self.copies: set[int] = set()
        self.blocks = self.room = self.shared = self.before = self.cached = self.start = self.end = 0

    def prefilled_tokens(self, now: int) -> int:
        """Return the number of tokens that the prefill has computed at the time `now`.

        Tokens that were found in the cache count as computed.
        """
        if now >= self.end:
            return self.before
        return self.cached + max(now - self.start, 0) * (self.before - self.cached) // (self.end - self.start)


class PrefixCache:
    """The blocks of one process: at most `capacity` of `size` tokens each."""

    def __init__(self, capacity: int, size: int) -> None:
        self.size = size
        self._capacity = capacity
        self._holders: dict[int, int] = {}  # number of running requests that hold each block
        self._idle: OrderedDict[int, None] = OrderedDict()  # held by no request, the next to be evicted first
        self._own = 0  # number held by one request and not findable
        self._prefilling: dict[RequestTokens, None] = {}
        self._latest = 0

    @property
    def used_blocks(self) -> int:
        """Number of blocks that running requests hold."""
        return len(self._holders) + self._own

    @property
    def reusable_blocks(self) -> int:
        """Number of blocks that hold computed tokens which later requests can find."""
        return len(self._holders) + len(self._idle)

    def assign_blocks(self, tokens: RequestTokens, number: int, now: int) -> bool:
        """Assign blocks to a request for its first `number` tokens.

        Return False if not enough blocks are left.

        `tokens.cached` is set to the number of tokens found in the cache. Only full blocks are found. The
        last token is never found, because it must be computed to generate the next token.
        """
        self._latest = max(now, self._latest)
        for one in list(self._prefilling):
            self._share(one, one.prefilled_tokens(self._latest))
            if self._latest >= one.end:
                del self._prefilling[one]
        found = self._find(tokens.digests[: max(number - 1, 0) // self.size])
        blocks = max(-(-number // self.size), 1)
        revived = sum(digest in self._idle for digest in found)
        if self.used_blocks + revived + blocks - len(found) > self._capacity:
            return False
        self._hold(found)
        self._own += blocks - len(found)
        self._make_room()
        tokens.before, tokens.blocks, tokens.shared = number, blocks, len(found)
        tokens.room = blocks * self.size
        tokens.cached = len(found) * self.size
        self._prefilling[tokens] = None
        return True

    def assign_more_blocks(self, tokens: RequestTokens, number: int) -> bool:
        """Assign blocks to a running request for its first `number` tokens.

        Return False if no blocks are left.
        """
        self._share(tokens, number - 1)
        while tokens.room < number:
            if self.used_blocks >= self._capacity:
                return False
            tokens.blocks += 1
            tokens.room += self.size
            self._own += 1
            self._make_room()
        return True

    def release_blocks(self, tokens: RequestTokens, number: int, now: int) -> None:
        """Take back the blocks of a request that ends after `number` tokens.

        Later requests can find the blocks that were computed.
        """
        in_prefill = now < tokens.end
        self._share(tokens, tokens.prefilled_tokens(now) if in_prefill else max(tokens.before, number - 1))
        self._prefilling.pop(tokens, None)
        self._own -= tokens.blocks - tokens.shared + len(tokens.copies)
        holders, idle, copies = self._holders, self._idle, tokens.copies
        for digest in reversed(tokens.digests[: tokens.shared]):
            number_of_holders = 0 if digest in copies else holders.pop(digest)
            if number_of_holders > 1:
                holders[digest] = number_of_holders - 1
            elif digest not in holders and digest not in idle:
                idle[digest] = None
        tokens.blocks = tokens.room = tokens.shared = 0
        copies.clear()

    def _find(self, digests: Sequence[int]) -> Sequence[int]:
        holders, idle = self._holders, self._idle
        for number, digest in enumerate(digests):
            if digest not in holders and digest not in idle:
                return digests[:number]
        return digests

    def _share(self, tokens: RequestTokens, computed: int) -> None:
        """Let later requests find the blocks of the first `computed` tokens."""
        holders, idle = self._holders, self._idle
        full = tokens.digests[tokens.shared : computed // self.size]
        for digest in full:
            if digest in holders or digest in idle:
                tokens.copies.add(digest)
            else:
                holders[digest] = 1
                self._own -= 1
        tokens.shared += len(full)

    def _hold(self, digests: Sequence[int]) -> None:
        holders, idle = self._holders, self._idle
        for digest in digests:
            idle.pop(digest, None)
            holders[digest] = holders.get(digest, 0) + 1

    def _make_room(self) -> None:
        for _ in range(self.used_blocks + len(self._idle) - self._capacity):
            self._idle.popitem(last=False)
