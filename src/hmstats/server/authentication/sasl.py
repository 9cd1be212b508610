"""The mechanisms of SASL (RFC 4422) that a server offers: each takes a client's responses until its user is proven."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from hmstats.model.access.principal import Principal


class Protection(IntEnum):
    """The protection of data after a negotiation; the numbers are those of RFC 4752, section 3.3."""

    AUTHENTICATION = 1
    """Not at all: only the user is proven."""
    INTEGRITY = 2
    """Nobody can change it."""
    PRIVACY = 4
    """Nobody can read or change it."""


class Seal(Protocol):
    """Protects the data after a negotiation. Only one thread at a time may use it."""

    @property
    def piece_bytes(self) -> int:
        """The most bytes that one call of `wrap` takes."""

    def wrap(self, data: bytes) -> bytes:
        """The protected form of data. Raises OSError."""

    def unwrap(self, data: bytes) -> bytes:
        """The data of a protected form. Raises OSError if it was changed, or is less protected than was agreed."""


class Conversation(Protocol):
    """One client's way through a mechanism. Steps may compute for long; one runs at a time."""

    @property
    def principal(self) -> Principal:
        """The proven user, after the last step."""

    @property
    def seal(self) -> Seal | None:
        """The protection of data after the last step; None without any."""

    @property
    def ended(self) -> bool:
        """Whether the proof counts no more, so that the connection is to end."""

    @property
    def success(self) -> bytes:
        """The bytes that are sent to the client with its success, after the last step."""

    def step(self, response: bytes) -> bytes | None:
        """The challenge in answer to a response; None if the user is proven. Raises NotAuthenticated."""


@dataclass(frozen=True, slots=True)
class SaslMechanism:
    """One mechanism of SASL."""

    name: str
    """The name that clients begin with: GSSAPI, DIGEST-MD5 or PLAIN."""
    begin: Callable[[str, bool], Conversation]
    """Begins with a client at an address, over TLS or not."""
    over_tls_only: bool = False
    slow: bool = False
    """Whether a step computes for long, so that others should not wait behind it."""
