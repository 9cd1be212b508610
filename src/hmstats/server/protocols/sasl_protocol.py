"""Requests behind a SASL negotiation: binary or compact messages, one after the other.

HTTP, frames and another layer are not accepted there: SASL has proven the user for the whole connection.
"""

from typing import Protocol

from hmstats.errors import ProtocolError
from hmstats.server.limits import Limits
from hmstats.server.messages.encodings import Recognise, encoding_of
from hmstats.server.messages.request import Request
from hmstats.server.protocols.protocols import PlainProtocol, WireProtocol, recognise


class Layer(Protocol):
    """The layer through which requests come."""

    @property
    def held_bytes(self) -> int:
        """Memory in bytes of what the layer holds of a request."""

    @property
    def has_large(self) -> bool:
        """Whether a thread is at work on a part of a request."""


class SaslProtocol(PlainProtocol):
    """Messages whose bytes come through a layer, which may hold a part of them."""

    def __init__(self, layer: Layer, recognise_request: Recognise, limits: Limits) -> None:
        """`recognise_request` recognises requests that need no scan for their end."""
        super().__init__(encoding_of(0, limits.allowance, recognise_request))
        self._layer = layer
        self._recognise_request = recognise_request
        self._limits = limits
        self._has_encoding = False
        """Whether the client's encoding was told from its first bytes."""

    @property
    def begun(self) -> bool:
        """Whether the layer holds a part of the next request."""
        return self._layer.held_bytes > 0

    @property
    def held_bytes(self) -> int:
        """Bytes that the layer and the encoding hold."""
        return self._layer.held_bytes + super().held_bytes

    def take_request(self, inbox: bytearray) -> Request | None:
        """Remove the next message from the inbox, in binary form; None if incomplete. Raises ProtocolError."""
        if not inbox or self._layer.has_large:
            return None
        if not self._has_encoding:
            protocol = recognise(inbox, self._recognise_request, self._limits)
            if protocol is None:
                return None
            self._set_encoding(protocol, inbox[0])
        return super().take_request(inbox)

    def _set_encoding(self, protocol: WireProtocol, first_byte: int) -> None:
        if type(protocol) is not PlainProtocol:
            raise ProtocolError("behind SASL a request must be a binary or compact message, found another protocol")
        self._encoding = encoding_of(first_byte, self._limits.allowance, self._recognise_request)
        self._has_encoding = True
