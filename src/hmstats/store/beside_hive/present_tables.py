"""The tables and columns that a database has: all that this version knows, or fewer beside an older Hive.

A Hive's database has the tables of its release. Missing tables and columns are read as if they were empty or had the
only value that they can have (adapted_statements.py), and are left out of writes. So no rule and no statement of the
store depends on a release. The shape is read from tables and columns, not from releases: the version in VERSION only
says whether the release has been tested.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sqlalchemy import Connection, Table, text

from hmstats.errors import MetaError, SchemaError
from hmstats.store.schema import METADATA

SUPPORTED = ("2.3.0", "3.1.0", "4.0.0", "4.1.0", "4.2.0")
"""The versions of Hive's schema, as in VERSION, beside which a server can run."""
LOGGING = ("4.0.0",)
"""The versions whose Hive logs each change of tables, partitions and statistics in its transaction, if it logs at all.

Older versions do not log changes of statistics (tests/beside/test_events.py). 4.1.0 logs the truncation of a table in
another transaction, and the listener of 4.1.0 and 4.2.0 is in no package.
"""
OURS = "HMSTATS_"

_UNIQUE_INDEX = "HMSTATS_TAB_COL_STATS_UNIQUE"
"""An index that only hmstats' own databases have."""
_COLUMNS = text("""
    SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)
""")
_INDEX = text("SELECT count(*) FROM pg_class c WHERE c.relname = :name AND pg_table_is_visible(c.oid)")
_VERSION = text('SELECT "SCHEMA_VERSION" FROM "VERSION"')


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """The tables and columns that a database lacks; `hive` is None if the database is hmstats' own.

    `hive` is the schema version of the Hive that owns the database, such as 3.1.0.
    """

    hive: str | None = None
    absent_tables: frozenset[str] = frozenset()
    absent_columns: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def beside_hive(self) -> bool:
        """Whether the database is a Hive's: Hive writes to it too, and its tables lack our unique indexes."""
        return self.hive is not None

    @property
    def can_follow(self) -> bool:
        """Whether the notification log of this Hive can tell of all its changes (LOGGING)."""
        return self.hive in LOGGING and self.adopted

    @property
    def adopted(self) -> bool:
        """Whether all of our own tables exist."""
        return not any(name.startswith(OURS) for name in self.absent_tables)

    def lacks(self, table: Table) -> bool:
        """Whether the table is missing."""
        return table.name in self.absent_tables

    def absent(self, table: Table) -> Collection[str]:
        """The missing columns of an existing table."""
        return self.absent_columns.get(table.name, ())

    def present(self, table: Table, names: Iterable[str]) -> list[str]:
        """The existing ones of these columns. Raises MetaError if the table is missing."""
        if self.lacks(table):
            raise MetaError(f"the database has no table {table.name} to store this in: its Hive has schema {self.hive}")
        absent = self.absent(table)
        return [name for name in names if name not in absent]


COMPLETE = Shape()
"""The shape of hmstats' own databases: nothing is missing."""


def read(connection: Connection) -> Shape:
    """The shape of a connection's database. Raises SchemaError if it belongs to an unsupported Hive.

    A database without tables counts as hmstats' own.
    """
    if connection.dialect.name == "sqlite":
        return COMPLETE
    columns: dict[str, set[str]] = {}
    for table, column in connection.execute(_COLUMNS):
        columns.setdefault(table, set()).add(column)
    if "VERSION" not in columns or "TBLS" not in columns:
        return COMPLETE
    if connection.execute(_INDEX, {"name": _UNIQUE_INDEX}).scalar_one():
        return COMPLETE
    return _of_hive(_version(connection), columns)


def _version(connection: Connection) -> str:
    versions = connection.execute(_VERSION).scalars().all()
    if len(versions) != 1 or versions[0] not in SUPPORTED:
        raise SchemaError(
            f"the database's Hive must have one of the schemas {', '.join(SUPPORTED)}, "
            f"found {', '.join(versions) or 'none'} in its table VERSION"
        )
    return str(versions[0])


def _of_hive(version: str, columns: Mapping[str, Collection[str]]) -> Shape:
    known = METADATA.tables.values()
    lacking = {each.name: frozenset(each.c.keys()) - set(columns.get(each.name, ())) for each in known}
    return Shape(
        version,
        frozenset(name for name in lacking if name not in columns),
        MappingProxyType({name: absent for name, absent in lacking.items() if absent and name in columns}),
    )
