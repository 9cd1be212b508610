"""Commits of statistics to Iceberg tables whose catalog has a pointer to the table's metadata file.

The next metadata file is whole before the pointer moves, and the pointer moves only from the file that it follows.
"""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from hmstats.client.iceberg_commits import IcebergCommits
from hmstats.collector.lake.iceberg import table_files as files
from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.registration import Base
from hmstats.model.catalog.objects import TableName


class Pointer(Protocol):
    """A catalog's pointer to a table's metadata file."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep out committers that take the catalog's lock."""

    def location(self) -> str | None:
        """The metadata file; None if the table is no longer one of Iceberg."""

    def replace(self, before: str, after: str) -> bool:
        """Point to another file; False, with nothing changed, if `before` is no longer the table's file."""


@dataclass(frozen=True, slots=True)
class MetastorePointer:
    """The pointer of a table of a metastore."""

    commits: IcebergCommits
    table: TableName

    def lock(self) -> AbstractContextManager[None]:
        """Hold the metastore's lock on the table. Raises ServiceError if others hold it too long."""
        return self.commits.lock(self.table)

    def location(self) -> str | None:
        """The metadata file; None if the table is no longer one of Iceberg."""
        return self.commits.metadata_location(self.table)

    def replace(self, before: str, after: str) -> bool:
        """Point to another file; False if `before` is no longer the table's file."""
        return self.commits.replace(self.table, before, after)


@dataclass(frozen=True, slots=True)
class FileCommits:
    """Commits of a table by its pointer; `io` is PyIceberg's access to the table's files."""

    pointer: Pointer
    io: Any

    def lock(self) -> AbstractContextManager[None]:
        """Keep out committers that take the catalog's lock."""
        return self.pointer.lock()

    def newest(self) -> Base | None:
        """The newest metadata; None if the table is no longer one of Iceberg. Raises OSError and InvalidInput."""
        location = self.pointer.location()
        return None if location is None else Base(files.read_metadata(self.io, location), location)

    def commit(self, base: Base, entry: Mapping[str, Any]) -> bool:
        """Register an entry on top of `base`; False if another commit came first. Raises OSError."""
        after = metadata_of.next_location(base.metadata, base.location)
        next_metadata = metadata_of.with_entry(base.metadata, entry, base.location, time.time_ns() // 1_000_000)
        files.write_metadata(self.io, after, metadata_of.encode(next_metadata))
        if self.pointer.replace(base.location, after):
            return True
        files.remove(self.io, after)
        return False
