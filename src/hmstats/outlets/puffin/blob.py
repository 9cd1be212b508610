"""A blob of a Puffin file: what the footer says of it, and its bytes as they are stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hmstats.errors import InvalidInput

_CODECS = ("lz4", "zstd")
"""Both as a frame, which Arrow reads under these names."""
CREATED_BY = "created-by"
"""The property that names the writer: of files by Iceberg's specification, and of our blobs, since files are mixed."""
OURS = "hmstats "
"""The beginning of the value in blobs of ours."""
MOST_CONTENT_BYTES = 256 * 1024 * 1024
"""The most bytes of a decompressed blob; a theta sketch has some 32 KiB."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob. `fields` are the ids of its columns, `stored` its bytes, compressed by `codec` (None: not at all).

    `snapshot_id` and `sequence_number` are of the snapshot that the blob was computed from.
    """

    type: str
    fields: tuple[int, ...]
    snapshot_id: int
    sequence_number: int
    stored: bytes
    codec: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether hmstats has computed the blob."""
        return self.properties.get(CREATED_BY, "").startswith(OURS)

    def content(self) -> bytes:
        """The bytes, decompressed. Raises InvalidInput for an unknown codec, damaged bytes or far too many."""
        if self.codec is None:
            return self.stored
        if self.codec not in _CODECS:
            raise InvalidInput(f"a {self.type} blob is compressed by {self.codec}, expected {' or '.join(_CODECS)}")
        try:
            with pa.CompressedInputStream(pa.BufferReader(self.stored), self.codec) as stream:
                content: bytes = stream.read(MOST_CONTENT_BYTES + 1)
        except (OSError, pa.ArrowException) as error:
            raise InvalidInput(f"a {self.type} blob of {len(self.stored)} bytes is damaged: {error}") from error
        if len(content) > MOST_CONTENT_BYTES:
            raise InvalidInput(f"a {self.type} blob has more than {MOST_CONTENT_BYTES:,} bytes when decompressed")
        return content

    def metadata_entry(self) -> dict[str, Any]:
        """The blob's entry in a table's metadata: without its place in the file."""
        found: dict[str, Any] = {
            "type": self.type,
            "fields": list(self.fields),
            "snapshot-id": self.snapshot_id,
            "sequence-number": self.sequence_number,
        }
        return {**found, "properties": dict(self.properties)} if self.properties else found


def compress(content: bytes) -> bytes:
    """Content as one zstd frame with its size in the header, without which Java cannot read it."""
    found: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return found
