"""Hive's filters over tables: by name, type, owner, last access and parameters, in the language of partition filters.

hive_filter_field_owner__ = "ada" and hive_filter_field_params__table_type like "ICEBERG"
"""

import re

from hmstats.errors import InvalidOperation, NoSuchObject
from hmstats.model.catalog.objects import DatabaseName
from hmstats.service.catalog.filter_text import parse
from hmstats.store.catalog import table_filters
from hmstats.store.catalog.table_filters import Field
from hmstats.store.database.store import Store

_PREFIX = "hive_filter_field_"
_FIELDS = {
    f"{_PREFIX}owner__": Field.OWNER,
    f"{_PREFIX}last_access__": Field.LAST_ACCESS,
    f"{_PREFIX}tablename__": Field.NAME,
    f"{_PREFIX}tabletype__": Field.TYPE,
}
"""Keys are matched without case, so that Hive's tableName and tableType are found."""
_PARAMETER = f"{_PREFIX}params__"
_PARAMETERS = re.compile(rf"{_PARAMETER}(\w+)", re.IGNORECASE)


class TableFilters:
    """Finds tables by filter."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def names(self, database: DatabaseName, text: str | None, limit: int) -> list[str]:
        """The names of the tables that a filter selects, sorted, at most `limit`; a negative limit means all.

        An empty filter selects every table.
        Raises NoSuchObject if the database has no name, InvalidOperation if there is no filter, MetaError if it is
        malformed. A database that does not exist has no tables.
        """
        if not database.catalog or not database.database:
            raise NoSuchObject("DB name is null or empty")
        if text is None:
            raise InvalidOperation(f"{database} cannot apply null filter")
        keys = _keys_of(text)
        parsed = parse(text, list(keys), "is no field of tables") if text.strip() else None
        with self._store.read() as connection:
            return table_filters.names(connection, database, parsed, keys, None if limit < 0 else limit)


def _keys_of(text: str) -> table_filters.Keys:
    """What the keys of a filter are about, by the key in lower case; names of parameters keep their case."""
    parameters = {f"{_PARAMETER}{name}".lower(): name for name in _PARAMETERS.findall(text)}
    return {**_FIELDS, **parameters}
