"""Structs of arguments and results <-> bytes, by thriftpy2.

Only messages that the scanner passed come here: thriftpy2 skips values of unknown types without end. Reading goes
through a buffered transport, which raises at the end of its bytes; thriftpy2's memory buffer reads past it.
"""

from dataclasses import dataclass
from io import BytesIO
from typing import Any

from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TException
from thriftpy2.transport import TCyBufferedTransport, TCyMemoryBuffer

from hmstats.errors import ProtocolError
from hmstats.server.list_keys import put_back, take_out
from hmstats.server.maps import check_maps
from hmstats.wire.idl import Method

_LEAST_BUFFER_BYTES = 1024
"""thriftpy2 refuses smaller buffers."""

_UNDECODABLE = (TException, ValueError, TypeError, RecursionError, SystemError, OverflowError)
"""What thriftpy2 raises for bytes that are not what the IDL says; ValueError includes text that is not UTF-8."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result struct in binary form, stop byte included: what a call returns to skip the encoding."""

    result: bytes


def decode_arguments(method: Method, message: bytes, body_at: int) -> dict[str, Any]:
    """The arguments by their names; those that the client left out have their defaults. Raises ProtocolError."""
    check_maps(method.arguments, message, body_at)
    message, taken = take_out(method.arguments, message, body_at)
    reader = BytesIO(message)
    reader.seek(body_at)
    transport = TCyBufferedTransport(reader, max(_LEAST_BUFFER_BYTES, len(message) - body_at))
    arguments = method.arguments()
    try:
        TCyBinaryProtocol(transport, strict_decode=True).read_struct(arguments)
    except _UNDECODABLE as error:
        raise ProtocolError(f"the arguments of {method.name} cannot be read: {error}") from error
    put_back(arguments, taken)
    return dict(vars(arguments))


def encode_struct(struct: Any) -> bytes:
    """A struct in binary form, stop byte included."""
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(struct)
    encoded: bytes = buffer.getvalue()
    return encoded
