"""Puffin files: blobs one after the other, then a footer of JSON (Iceberg's format/puffin-spec.md).

    PFA1, the blobs, PFA1, the footer's JSON, its length as int32, 4 bytes of flags, PFA1

Little-endian. The footer is written plainly: PyIceberg and DuckDB read no compressed one. Files of others are read with
either, if LZ4's only flag is set.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hmstats.errors import InvalidInput
from hmstats.outlets.puffin.blob import Blob

_MAGIC = b"PFA1"
_AFTER_PAYLOAD_BYTES = 12
_LEAST_BYTES = 2 * len(_MAGIC) + _AFTER_PAYLOAD_BYTES
_COMPRESSED = 1
_MOST_FOOTER_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PuffinFile:
    """A file's blobs and properties, of which `created-by` names the writer."""

    blobs: tuple[Blob, ...]
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PuffinBytes:
    """The bytes of a file; `footer_bytes` are those of its footer with both magics, as a table's metadata has them."""

    data: bytes
    footer_bytes: int


def write(file: PuffinFile) -> PuffinBytes:
    """The bytes of a file. Blobs are stored as they come, compressed or not."""
    parts, entries, offset = [_MAGIC], [], len(_MAGIC)
    for blob in file.blobs:
        entries.append(_entry(blob, offset))
        parts.append(blob.stored)
        offset += len(blob.stored)
    footer: dict[str, Any] = {"blobs": entries}
    if file.properties:
        footer["properties"] = dict(file.properties)
    payload = json.dumps(footer, separators=(",", ":"), ensure_ascii=False).encode()
    tail = [_MAGIC, payload, len(payload).to_bytes(4, "little"), bytes(4), _MAGIC]
    return PuffinBytes(b"".join((*parts, *tail)), sum(map(len, tail)))


def read(data: bytes) -> PuffinFile:
    """The blobs and properties of a whole file. Raises InvalidInput, saying what is wrong, if it is no Puffin file."""
    payload, end = _payload(data)
    before = data[:end]
    try:
        footer = json.loads(payload)
        blobs = tuple(_blob(each, before) for each in footer["blobs"])
        properties = _texts(footer.get("properties"))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidInput(f"a Puffin file has a footer that is not as specified: {error!r}") from error
    return PuffinFile(blobs, properties)


def _entry(blob: Blob, offset: int) -> dict[str, Any]:
    """The blob in the footer, its keys in the order of Iceberg's own writer."""
    found = blob.metadata_entry()
    properties = found.pop("properties", None)
    found |= {"offset": offset, "length": len(blob.stored)}
    if blob.codec is not None:
        found["compression-codec"] = blob.codec
    return {**found, "properties": properties} if properties else found


def _payload(data: bytes) -> tuple[bytes, int]:
    """The footer's JSON, and where the footer begins."""
    if len(data) < _LEAST_BYTES or not data.startswith(_MAGIC) or not data.endswith(_MAGIC):
        raise InvalidInput(f"a Puffin file begins and ends with PFA1, found {data[:4]!r} and {data[-4:]!r}")
    end = len(data) - _AFTER_PAYLOAD_BYTES
    length = int.from_bytes(data[end : end + 4], "little", signed=True)
    flags = int.from_bytes(data[end + 4 : end + 8], "little")
    start = end - length
    if length < 0 or start < 2 * len(_MAGIC) or data[start - len(_MAGIC) : start] != _MAGIC:
        raise InvalidInput(f"a Puffin file of {len(data)} bytes has no footer of {length} bytes")
    if flags & ~_COMPRESSED:
        raise InvalidInput(f"a Puffin file has flags {flags:#x}, expected 0 or 1")
    return _decompress(data[start:end]) if flags else data[start:end], start - len(_MAGIC)


def _decompress(payload: bytes) -> bytes:
    try:
        with pa.CompressedInputStream(pa.BufferReader(payload), "lz4") as stream:
            found: bytes = stream.read(_MOST_FOOTER_BYTES)
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput(f"a Puffin file has a damaged footer: {error}") from error
    return found


def _blob(entry: Mapping[str, Any], data: bytes) -> Blob:
    """A blob in the bytes before the footer."""
    offset, length = int(entry["offset"]), int(entry["length"])
    if offset < len(_MAGIC) or length < 0 or offset + length > len(data):
        raise InvalidInput(
            f"a Puffin file with {len(data)} bytes before its footer has a blob of {length} bytes at {offset}"
        )
    codec = entry.get("compression-codec")
    return Blob(
        type=str(entry["type"]),
        fields=tuple(int(each) for each in entry["fields"]),
        snapshot_id=int(entry["snapshot-id"]),
        sequence_number=int(entry["sequence-number"]),
        stored=data[offset : offset + length],
        codec=None if codec is None else str(codec),
        properties=_texts(entry.get("properties")),
    )


def _texts(found: Mapping[str, Any] | None) -> dict[str, str]:
    return {str(name): str(value) for name, value in (found or {}).items()}
