"""Accesses files of an Iceberg table through PyIceberg, whose configuration has credentials and endpoints."""

import gzip
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hmstats.errors import InvalidInput

_PACKED = ".gz.metadata.json"


def read_bytes(io: Any, location: str) -> bytes:
    """A file's bytes. Raises OSError."""
    with io.new_input(location).open() as stream:
        found: bytes = stream.read()
    return found


def write_new(io: Any, location: str, data: bytes) -> None:
    """Write a file that does not exist yet. Raises OSError."""
    with io.new_output(location).create() as stream:
        stream.write(data)


def remove(io: Any, location: str) -> None:
    """Remove a file that no metadata names; one that cannot be removed stays as an orphan."""
    with suppress(OSError, ValueError):
        io.delete(location)


def read_metadata(io: Any, location: str) -> Mapping[str, Any]:
    """The JSON object in a metadata file, compressed or not. Raises OSError, and InvalidInput if there is none."""
    data = read_bytes(io, location)
    try:
        found = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (ValueError, EOFError) as error:
        raise InvalidInput(f"{location} is no metadata file of Iceberg: {error}") from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{location} is no metadata file of Iceberg: it is no JSON object")
    return found


def write_metadata(io: Any, location: str, data: bytes) -> None:
    """Write a new metadata file, compressed if its name says so. Raises OSError."""
    write_new(io, location, gzip.compress(data) if location.endswith(_PACKED) else data)
