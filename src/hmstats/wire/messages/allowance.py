"""The limits of one request: its bytes, and the structs, lists, sets and maps (containers) in it.

Each container becomes an object of 100 to 300 bytes, even if one byte of the request stands for it, and takes most of
the time to read. Numbers and texts cost a few times their bytes at most. So the number of containers is limited by the
request's bytes.
"""

from dataclasses import dataclass

from hmstats.errors import MessageTooLarge

BYTES_OF_CONTAINER = 10
"""Bytes of a request in binary form for each container; requests of clients have 16 or more."""
COMPACT_BYTES_OF_CONTAINER = 4
"""Bytes of a request in compact form for each container, checked too; requests of clients have 6 or more."""
MOST_CONTAINERS = 4_000_000
"""Containers that a request may have at most, however long; the default of max_message_containers."""
FREE_CONTAINERS = 10_000
"""Containers that any request may have, however short."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits of a request. If `dense`, its containers are not limited by its bytes."""

    message_bytes: int
    containers: int = MOST_CONTAINERS
    dense: bool = False

    def check(self, containers: int, at: int, least_bytes: int = BYTES_OF_CONTAINER) -> int:
        """How many containers may stand before byte `at`, if each takes `least_bytes`.

        Raises MessageTooLarge if `containers` is more.
        """
        paid = self.containers if self.dense else FREE_CONTAINERS + at // least_bytes
        allowed = min(self.containers, paid)
        if containers <= allowed:
            return allowed
        if allowed == self.containers:
            raise MessageTooLarge(f"a message may hold {allowed} structs, lists, sets and maps, found more")
        raise MessageTooLarge(
            f"a message may hold {FREE_CONTAINERS} structs, lists, sets and maps, and one more for each "
            f"{least_bytes} of its bytes, found {containers} in {at}"
        )
