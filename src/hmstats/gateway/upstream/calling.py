"""Messages of the gateway's own calls, and the values in their answers."""

from typing import Any

from thriftpy2.thrift import TType

from hmstats.errors import CallRefused, ProtocolError, UpstreamUnavailable
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_fault, decode_result, encode_struct
from hmstats.wire.faults import from_thrift
from hmstats.wire.idl import methods
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import CALL, EXCEPTION, Head, Pieces, encode_head, read_answer_head
from hmstats.wire.messages.scanner import end_of_value

_MISSING = "NoSuchObjectException"
_ALLOWANCE = Allowance(2**31 - 1)
"""The limit for answers that are decoded here: structs, lists and maps take much more memory than their bytes."""


class WholeAnswer:
    """The stream of the gateway's own calls, whose answers are never passed on in parts."""

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


def with_arguments(request: Request, /, **arguments: Any) -> Request:
    """A copy of the call with other arguments."""
    head = request.head
    begin = encode_head(head.name, CALL, head.sequence)
    message = begin + encode_struct(methods()[head.name].arguments(**arguments))
    return Request(message, Head(head.name, CALL, head.sequence, len(begin)))


def value_of(method: str, relayed: Relayed) -> Any:
    """The value in an answer that was not streamed.

    Raises CallRefused if it is an exception, UpstreamUnavailable if it cannot be read.
    """
    message = b"".join(relayed.rest)
    try:
        head = _scan_head(message)
        if head.kind == EXCEPTION:
            raise from_thrift(method, decode_fault(message, head.body_at))
        result = decode_result(methods()[method], message, head.body_at)
    except ProtocolError as error:
        raise _unreadable(method, str(error)) from error
    spec = methods()[method]
    for field in spec.throws.values():
        if (raised := getattr(result, field)) is not None:
            raise from_thrift(method, raised)
    value = getattr(result, "success", None)
    if value is None and spec.returns_value:
        raise _unreadable(method, "it has no value")
    return value


def is_missing(method: str, relayed: Relayed) -> bool:
    """Whether the upstream refuses a call because something does not exist."""
    found = _refusal(method, relayed)
    return found is not None and found.kind == _MISSING


def _refusal(method: str, relayed: Relayed) -> CallRefused | None:
    try:
        value_of(method, relayed)
    except CallRefused as error:
        return error
    except UpstreamUnavailable:  # unreadable: the client may make something of it
        return None
    return None


def _scan_head(message: bytes) -> Head:
    """The head of an answer, which is a whole message within the allowance. Raises ProtocolError."""
    head = read_answer_head(message)
    if head is None or end_of_value(message, TType.STRUCT, head.body_at, _ALLOWANCE) != len(message):
        raise ProtocolError("the bytes are no whole message")
    return head


def _unreadable(method: str, reason: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(f"the upstream's answer to {method} cannot be used: {reason}")
