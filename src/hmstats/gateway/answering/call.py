"""A client's call that is being answered, with the two that can answer it: the upstream and this server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hmstats.server.calls.relaying import Here, Relayed
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.server.rpc.caller import Session
from hmstats.wire.idl import methods


@dataclass(frozen=True, slots=True)
class Call:
    """A client's call. `relay` passes it to the upstream, `here` answers it from this server."""

    request: Request
    session: Session
    relay: Callable[[], Relayed]
    here: Here

    @property
    def name(self) -> str:
        """The name of the call's method."""
        return self.request.head.name

    def arguments(self) -> dict[str, Any]:
        """The call's arguments, decoded again at each use. Raises ProtocolError."""
        return arguments_of(self.request)


def arguments_of(request: Request) -> dict[str, Any]:
    """The arguments of a request. Raises ProtocolError."""
    return decode_arguments(methods()[request.head.name], request.message, request.head.body_at)
