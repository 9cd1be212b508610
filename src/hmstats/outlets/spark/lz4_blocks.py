"""The stream of LZ4 blocks that Java programs write (net.jpountz.lz4.LZ4BlockOutputStream), for short data.

A block is 8 bytes `LZ4Block`, a byte with the method and the block size, then little-endian: compressed length, length,
checksum (xxHash32 of the data, 28 bits of it), and the data. A block of length 0 ends the stream. This is not the frame
format of the lz4 program.
"""

import struct

import pyarrow as pa
from xxhash import xxh32_intdigest

from hmstats.errors import SketchError

_MAGIC = b"LZ4Block"
_HEAD = struct.Struct("<8sBiiI")
_RAW, _LZ4 = 0x10, 0x20
_METHOD, _LEVEL = 0xF0, 0x0F
_LEAST_BITS = 10
_BLOCK_BYTES, _BLOCK_LEVEL = 1 << 16, 6
_SEED, _CHECKED = 0x9747B28C, 0x0FFFFFFF


def compress(data: bytes) -> bytes:
    """The stream that holds these bytes."""
    starts = range(0, len(data), _BLOCK_BYTES)
    end = _HEAD.pack(_MAGIC, _RAW | _BLOCK_LEVEL, 0, 0, 0)
    return b"".join(_block(data[start : start + _BLOCK_BYTES]) for start in starts) + end


def decompress(stream: bytes) -> bytes:
    """The bytes that a stream holds. Raises SketchError when it is corrupt or does not end."""
    parts: list[bytes] = []
    at = 0
    while True:
        if len(stream) < at + _HEAD.size:
            raise SketchError(f"a stream of LZ4 blocks must end with an empty block, found {len(stream)} bytes")
        magic, token, compressed, length, checksum = _HEAD.unpack_from(stream, at)
        at += _HEAD.size
        if magic != _MAGIC or not 0 <= length <= 1 << (_LEAST_BITS + (token & _LEVEL)):
            raise SketchError(f"an LZ4 block must begin with {_MAGIC!r} and a length, found {magic!r} and {length}")
        if length == 0:
            return b"".join(parts)
        body = stream[at : at + max(0, compressed)]
        at += len(body)
        parts.append(_data(token & _METHOD, body, compressed, length, checksum))


def _block(data: bytes) -> bytes:
    packed = _codec().compress(data, asbytes=True)
    method, body = (_LZ4, packed) if len(packed) < len(data) else (_RAW, data)
    return _HEAD.pack(_MAGIC, method | _BLOCK_LEVEL, len(body), len(data), _checksum(data)) + body


def _data(method: int, body: bytes, compressed: int, length: int, checksum: int) -> bytes:
    if len(body) != compressed or method not in (_RAW, _LZ4) or (method == _RAW and compressed != length):
        raise SketchError(f"an LZ4 block must have {compressed} bytes of a known method, found {len(body)}")
    try:
        data = body if method == _RAW else _codec().decompress(body, length, asbytes=True)
    except (OSError, ValueError) as error:
        raise SketchError(f"an LZ4 block cannot be decompressed: {error}") from error
    found = _checksum(data)
    if len(data) != length or found != checksum:
        raise SketchError(f"an LZ4 block must have the checksum {checksum:x}, found {found:x}")
    return bytes(data)


def _codec() -> pa.Codec:
    return pa.Codec("lz4_raw")


def _checksum(data: bytes) -> int:
    return xxh32_intdigest(data, _SEED) & _CHECKED
