"""A call of the gateway's own as a message, and the value in its answer."""

from typing import Any

from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TCyBufferedTransport, TCyMemoryBuffer

from hmstats.errors import CallRefused, UnknownCall
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.envelope import CALL, EXCEPTION, Head, Pieces, encode_head
from hmstats.server.messages.list_keyed_maps import put_back, take_out
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import encode_struct
from hmstats.wire.faults import from_thrift
from hmstats.wire.idl import SUCCESS_FIELD, methods

MISSING = "NoSuchObjectException"
_KIND_AT = 3
"""The byte of a strict message with its type."""


class WholeAnswer:
    """Where answers to the gateway's own calls go: nowhere in parts."""

    possible = begun = abandoned = False

    def send(self, pieces: Pieces) -> None:
        """Never called: no part is passed on."""


def request_of(method: str, *arguments: Any) -> Request:
    """The message of a call."""
    spec = methods()[method]
    names = [each[1] for _, each in sorted(spec.arguments.thrift_spec.items())]
    head = encode_head(method, CALL, 0)
    message = head + encode_struct(spec.arguments(**dict(zip(names, arguments, strict=True))))
    return Request(message, Head(method, CALL, 0, len(head)))


def value_of(method: str, relayed: Relayed) -> Any:
    """The value in an answer that was not streamed. Raises CallRefused if it is an exception."""
    message = b"".join(relayed.rest)
    body_at = len(encode_head(method, CALL, 0))
    if message[_KIND_AT] == EXCEPTION:
        fault = TApplicationException()
        _read(fault, message[body_at:])
        raise from_thrift(method, fault)
    spec = methods()[method]
    result = spec.result()
    patched, taken = take_out(spec.result, message, body_at)
    _read(result, patched[body_at:])
    put_back(result, taken)
    for number, each in spec.result.thrift_spec.items():
        if number != SUCCESS_FIELD and getattr(result, each[1]) is not None:
            raise from_thrift(method, getattr(result, each[1]))
    return getattr(result, "success", None)


def is_missing(method: str, relayed: Relayed) -> bool:
    """Whether the upstream refuses a call because something does not exist."""
    found = _refusal(method, relayed)
    return found is not None and found.kind == MISSING


def is_unknown(method: str, relayed: Relayed) -> bool:
    """Whether the upstream refuses a call because it does not know it."""
    return isinstance(_refusal(method, relayed), UnknownCall)


def _refusal(method: str, relayed: Relayed) -> CallRefused | None:
    try:
        value_of(method, relayed)
    except CallRefused as error:
        return error
    return None


def _read(struct: Any, data: bytes) -> None:
    TCyBinaryProtocol(TCyBufferedTransport(TCyMemoryBuffer(data))).read_struct(struct)
