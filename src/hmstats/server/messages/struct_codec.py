"""Structs of arguments and results <-> bytes, by thriftpy2.

Only messages that the scanner passed come here: thriftpy2 skips values of unknown types without end. Reading goes
through a buffered transport, which raises at the end of its bytes; thriftpy2's memory buffer reads past it.
"""

from dataclasses import dataclass
from typing import Any

from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TApplicationException, TException
from thriftpy2.transport import TCyBufferedTransport, TCyMemoryBuffer

from hmstats.errors import ProtocolError
from hmstats.server.messages.list_keyed_maps import remove_maps, restore_maps
from hmstats.server.messages.map_types import check_maps
from hmstats.wire.idl import Method

_BUFFER_BYTES = 64 * 1024

_UNDECODABLE = (TException, ValueError, TypeError, RecursionError, SystemError, OverflowError)
"""The errors of thriftpy2 for bytes that do not fit the IDL; ValueError includes text that is not UTF-8."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result struct in binary form, stop byte included: what a call returns to skip the encoding."""

    result: bytes


def decode_arguments(method: Method, message: bytes, body_at: int) -> dict[str, Any]:
    """The arguments by name; an argument that was not sent has its default. Raises ProtocolError."""
    return dict(vars(_decode(method.arguments, message, body_at, f"the arguments of {method.name}")))


def decode_result(method: Method, message: bytes, body_at: int) -> Any:
    """The result struct of a method. Raises ProtocolError."""
    return _decode(method.result, message, body_at, f"the result of {method.name}")


def decode_fault(message: bytes, body_at: int) -> TApplicationException:
    """The exception in an answer of type EXCEPTION. Raises ProtocolError."""
    fault: TApplicationException = _decode(TApplicationException, message, body_at, "the exception")
    return fault


def _decode(struct_class: Any, message: bytes, at: int, subject: str) -> Any:
    check_maps(struct_class, message, at)
    message, taken = remove_maps(struct_class, message, at)
    transport = TCyBufferedTransport(_Reader(message, at), _BUFFER_BYTES)
    struct = struct_class()
    try:
        TCyBinaryProtocol(transport, strict_decode=True).read_struct(struct)
    except _UNDECODABLE as error:
        raise ProtocolError(f"{subject} cannot be read: {error}") from error
    restore_maps(struct, taken)
    return struct


class _Reader:
    """A message that is read in pieces, so that other threads can run in between: thriftpy2's C code holds the GIL."""

    def __init__(self, message: bytes, at: int) -> None:
        self._view = memoryview(message)
        self._at = at

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""
        begin, self._at = self._at, self._at + size
        return bytes(self._view[begin : self._at])


def encode_struct(struct: Any) -> bytes:
    """A struct in binary form, stop byte included."""
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(struct)
    encoded: bytes = buffer.getvalue()
    return encoded
