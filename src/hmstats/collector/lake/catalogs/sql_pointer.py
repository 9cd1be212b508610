"""A SQL catalog's pointer to a table's metadata file, moved as PyIceberg and Iceberg's JdbcCatalog move it.

PyIceberg's own commit does not write metadata of version 3, and does not load tables with blobs of Hive or of Presto.
This pointer needs neither.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from hmstats.collector.lake.catalogs.errors import translate_errors


@dataclass(frozen=True, slots=True)
class SqlPointer:
    """The pointer of a table in PyIceberg's SqlCatalog."""

    catalog: Any
    identifier: tuple[str, ...]

    def lock(self) -> AbstractContextManager[None]:
        """Does nothing: SQL catalogs have no lock, since the condition of replace is enough."""
        return nullcontext()

    def location(self) -> str | None:
        """The metadata file; None if there is no such table. Raises ServiceError."""
        from pyiceberg.catalog.sql import IcebergTables  # noqa: PLC0415 - an extra

        rows: Any = IcebergTables.__table__
        with self._translate_errors(), self.catalog.engine.connect() as connection:
            found: str | None = connection.execute(
                rows.select().with_only_columns(rows.c.metadata_location).where(*self._row(rows))
            ).scalar()
        return found

    def replace(self, before: str, after: str) -> bool:
        """Point to another file; False if `before` is no longer the table's file. Raises ServiceError."""
        from pyiceberg.catalog.sql import IcebergTables  # noqa: PLC0415 - an extra

        rows: Any = IcebergTables.__table__
        moved = (
            rows.update()
            .where(*self._row(rows), rows.c.metadata_location == before)
            .values(metadata_location=after, previous_metadata_location=before)
        )
        with self._translate_errors(), self.catalog.engine.begin() as connection:
            count: int = connection.execute(moved).rowcount
        return count > 0

    def _row(self, rows: Any) -> tuple[Any, ...]:
        *namespace, table = self.identifier
        return (
            rows.c.catalog_name == self.catalog.name,
            rows.c.table_namespace == ".".join(namespace),
            rows.c.table_name == table,
        )

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.catalog.name, f"table {'.'.join(self.identifier)}")
