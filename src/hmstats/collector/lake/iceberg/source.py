"""An Iceberg table's newest metadata, as JSON and as PyIceberg's table.

A metastore and a database name a table's metadata file, and nothing else of them is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hmstats.client.iceberg_commits import METADATA
from hmstats.collector.lake.iceberg import table_files
from hmstats.collector.lake.opened import Hadoop
from hmstats.errors import InvalidInput, SettingsError, StatementError
from hmstats.extras import install_advice
from hmstats.files.counted_reads import Reads
from hmstats.model.catalog.objects import Table

_ERRORS: tuple[type[Exception], ...] = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, NotImplementedError),
    pa.ArrowException,
)
"""The errors that PyIceberg raises besides its own exceptions."""
_UNKNOWN_TO_PYICEBERG = ("statistics", "partition-statistics")
"""Parts of metadata that PyIceberg refuses if they have blobs of Hive or Presto; they are not needed to read rows."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table's metadata as JSON, and PyIceberg's table of it.

    `reads` counts reads of the table's files; None if PyIceberg's own access to files reads them.
    """

    metadata: Mapping[str, Any]
    opened: Any
    reads: Reads | None = None


def source_of(table: Table, hadoop: Hadoop) -> Source:
    """The source of a table of the metastore; `hadoop` returns a setting of Hadoop by its name.

    Raises SettingsError if PyIceberg is not installed; StatementError if there is no metadata file, or if it cannot be
    read.
    """
    shown = table.name.short
    try:
        from hmstats.collector.lake.iceberg.file_io import PlacesFileIO  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SettingsError(
            f"table {shown} is of the format Iceberg, whose reader is not installed: {install_advice('iceberg')}"
        ) from error
    location = table.parameters.get(METADATA)
    if not location:
        raise StatementError(f"table {shown} is of the format Iceberg, but has no parameter {METADATA}")
    reads = Reads()
    return source_at(shown, location, lambda properties: PlacesFileIO(properties, hadoop, reads), reads)


def source_at(
    shown: str, location: str, open_io: Callable[[Mapping[str, str]], Any], reads: Reads | None = None
) -> Source:
    """The source in a metadata file; `open_io` returns PyIceberg's access to files by the table's properties.

    `reads` counts reads through that access, if it supports this.

    Raises StatementError, in which the table is named as `shown`, if it cannot be read.
    """
    from pyiceberg.catalog.noop import NoopCatalog  # noqa: PLC0415 - an extra
    from pyiceberg.table import StaticTable  # noqa: PLC0415
    from pyiceberg.table.metadata import TableMetadataUtil  # noqa: PLC0415

    errors: tuple[type[Exception], ...] = (InvalidInput, *pyiceberg_errors())
    try:
        metadata = table_files.read_metadata(open_io({}), location)
        known = {name: value for name, value in metadata.items() if name not in _UNKNOWN_TO_PYICEBERG}
        parsed = TableMetadataUtil.parse_obj(known)
        opened = StaticTable(("static", location), parsed, location, open_io(parsed.properties), NoopCatalog("static"))
    except errors as error:
        raise StatementError(f"table {shown} cannot be read at {location}: {error}") from error
    return Source(metadata, opened, reads)


def pyiceberg_errors() -> tuple[type[Exception], ...]:
    """The errors that PyIceberg raises for files that are missing, damaged, or of an unknown form."""
    from pyiceberg.exceptions import ResolveError, ValidationError  # noqa: PLC0415 - an extra

    return (*_ERRORS, ResolveError, ValidationError)
