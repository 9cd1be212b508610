"""The envelope of an accumulator's state between processes: a magic word, a version, a checksum.

The bytes live as long as a job. If they are of another version, they are refused, not converted.
"""

import struct
import zlib
from collections.abc import Sequence

from hmstats.errors import SketchError

_VERSION = 1
_HEADER = struct.Struct("<4sBI")
_LENGTH = struct.Struct("<I")


def seal(magic: bytes, payload: bytes) -> bytes:
    """The payload with its header. `magic` is four bytes."""
    return _HEADER.pack(magic, _VERSION, zlib.crc32(payload)) + payload


def unseal(magic: bytes, data: bytes) -> bytes:
    """The payload. Raises SketchError when the bytes are of another kind or version, or are damaged."""
    if len(data) < _HEADER.size:
        raise SketchError(f"the state {magic.decode()} has at least {_HEADER.size} bytes, not {len(data)}")
    found, version, checksum = _HEADER.unpack_from(data)
    payload = data[_HEADER.size :]
    if found != magic or version != _VERSION:
        raise SketchError(f"expected the state {magic.decode()} of version {_VERSION}, found {found!r} {version}")
    if zlib.crc32(payload) != checksum:
        raise SketchError(f"the state {magic.decode()} of {len(data)} bytes is damaged: its checksum is another")
    return payload


def join(parts: Sequence[bytes]) -> bytes:
    """Concatenate parts, each after its length."""
    return b"".join(_LENGTH.pack(len(part)) + part for part in parts)


def first(data: bytes) -> bytes:
    """The first of the parts that were joined. Raises SketchError when it is cut off."""
    length = int.from_bytes(data[: _LENGTH.size], "little")
    if _LENGTH.size + length > len(data):
        raise SketchError(f"a part of a state has {length} bytes, but {max(0, len(data) - _LENGTH.size)} are left")
    return data[_LENGTH.size : _LENGTH.size + length]


def split(data: bytes) -> list[bytes]:
    """The parts that were joined. Raises SketchError when the lengths do not add up."""
    parts, start = [], 0
    while start < len(data):
        start += _LENGTH.size
        length = int.from_bytes(data[start - _LENGTH.size : start], "little")
        if start + length > len(data):
            raise SketchError(f"a part of a state has {length} bytes, but {max(0, len(data) - start)} are left")
        parts.append(data[start : start + length])
        start += length
    return parts
