"""Recognises tables of formats with their own metadata of files: Iceberg, Delta Lake, Hudi and Paimon.

Their folders also hold files of older versions and of uncommitted writes, so a listing does not tell the table's files.
The marks are those that the formats' catalogs and engines set: `table_type`, Spark's provider, the storage handler, and
the input format.
"""

from hmstats.model.catalog.objects import Table

_NAMES = {"iceberg": "Iceberg", "delta": "Delta Lake", "hudi": "Hudi", "paimon": "Paimon"}
_PARTS = {"iceberg": "Iceberg", "io.delta.": "Delta Lake", "hudi": "Hudi", "hoodie": "Hudi", "paimon": "Paimon"}
"""A part of the names of a format's classes, in lower case."""


def table_format(table: Table) -> str | None:
    """The name of the table's format if it is one of these; None for any other."""
    given = table.parameters
    marks = (given.get("table_type"), given.get("spark.sql.sources.provider"))
    for mark in marks:
        if mark and mark.lower() in _NAMES:
            return _NAMES[mark.lower()]
    storage = table.storage
    classes = (given.get("storage_handler"), storage.input_format if storage else None)
    return next((_PARTS[part] for name in classes if name for part in _PARTS if part in name.lower()), None)


def format_of_provider(provider: str | None) -> str | None:
    """The name of such a format as Spark's USING or format() names it; None for any other."""
    return _NAMES.get((provider or "").lower())
