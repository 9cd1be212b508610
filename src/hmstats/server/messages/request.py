"""A request from the moment that it is whole: what is learnt of it stays with it until its reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hmstats.errors import ProtocolError
from hmstats.wire.messages.envelope import Head, read_head

if TYPE_CHECKING:
    from hmstats.tracing import Carrier
    from hmstats.wire.statistics.written_statistics import Written


class Verdict(NamedTuple):
    """The verdict of the access rules about a request: its objects, and the rule that decides (None: no rule)."""

    objects: tuple[str, ...]
    allowed: bool
    rule: int | None


CacheKey: TypeAlias = tuple[str, bytes]
"""The key of a request in the cache: its method's name and the bytes of its arguments."""


class Request:
    """A whole request in binary form, whatever the client's encoding.

    `cache_key` is set when its answer is looked up, `written` when the statistics that it writes were read to find its
    end, `verdict` when the access rules have been asked, `carrier` when the client names a trace that it is a part of.
    """

    __slots__ = ("cache_key", "carrier", "head", "message", "verdict", "written")

    def __init__(self, message: bytes, head: Head, written: Written | None = None) -> None:
        self.message = message
        self.head = head
        self.cache_key: CacheKey | None = None
        self.written = written
        self.verdict: Verdict | None = None
        self.carrier: Carrier | None = None

    @classmethod
    def of(cls, message: bytes) -> Request:
        """The request of a message. Raises ProtocolError if it has no whole, valid head."""
        head = read_head(message)
        if head is None:
            raise ProtocolError(f"a request must have a whole head, found {len(message)} bytes")
        return cls(message, head)
