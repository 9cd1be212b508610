"""What a database has of the tables that this version knows: all of them where it is ours, less beside an older Hive.

A Hive that runs on its own database made the tables of its own release. What these lack is read as if it were there and
empty, or had the one value that it could have (store/stand_ins.py); what is written leaves it out. So no rule and no
statement of the store knows of releases. Found are tables and columns, not releases: the number in VERSION only says
whether somebody has tried this.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sqlalchemy import Connection, Table, text

from hmstats.errors import MetaError, SchemaError
from hmstats.store.schema import METADATA

SUPPORTED = ("2.3.0", "3.1.0", "4.0.0")
"""Hive's schemas, as VERSION names them, that a server can be beside."""
LOGGING = ("4.0.0",)
"""Those whose Hive logs each change of tables, partitions and statistics in the same transaction, if it logs at all.

Of the others the listener is not told of statistics (tests/beside/test_events.py).
"""
OURS = "HMSTATS_"

_UNIQUE_INDEX = "HMSTATS_TAB_COL_STATS_UNIQUE"
"""Only a database that we made has it."""
_COLUMNS = text("""
    SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)
""")
_INDEX = text("SELECT count(*) FROM pg_class c WHERE c.relname = :name AND pg_table_is_visible(c.oid)")
_VERSION = text('SELECT "SCHEMA_VERSION" FROM "VERSION"')


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """Which tables a database lacks, and which columns of those that it has; `hive` is None where the database is ours.

    `hive` is the schema of the Hive that the database belongs to, 3.1.0 for example.
    """

    hive: str | None = None
    absent_tables: frozenset[str] = frozenset()
    absent_columns: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def beside_hive(self) -> bool:
        """Whether a Hive writes to the database too, whose tables have no unique index for us."""
        return self.hive is not None

    @property
    def can_follow(self) -> bool:
        """Whether the notification log of a Hive that writes here may tell of all its changes (LOGGING)."""
        return self.hive in LOGGING and self.adopted

    @property
    def adopted(self) -> bool:
        """Whether our own tables are there, all of them."""
        return not any(name.startswith(OURS) for name in self.absent_tables)

    def lacks(self, table: Table) -> bool:
        """Whether the table is not there."""
        return table.name in self.absent_tables

    def absent(self, table: Table) -> Collection[str]:
        """The columns that are not there of a table that is."""
        return self.absent_columns.get(table.name, ())

    def present(self, table: Table, names: Iterable[str]) -> list[str]:
        """Those of the columns that are there. Raises MetaError where the table itself is not."""
        if self.lacks(table):
            raise MetaError(f"the schema {self.hive} of this database has no table {table.name} to keep this in")
        absent = self.absent(table)
        return [name for name in names if name not in absent]


WHOLE = Shape()
"""Of a database that is ours."""


def read(connection: Connection) -> Shape:
    """The shape of a connection's database. Raises SchemaError when it is of a Hive that is not supported.

    A database without tables counts as ours: it can become that.
    """
    if connection.dialect.name == "sqlite":
        return WHOLE
    columns: dict[str, set[str]] = {}
    for table, column in connection.execute(_COLUMNS):
        columns.setdefault(table, set()).add(column)
    if "VERSION" not in columns or "TBLS" not in columns:
        return WHOLE
    if connection.execute(_INDEX, {"name": _UNIQUE_INDEX}).scalar_one():
        return WHOLE
    return _of_hive(_version(connection), columns)


def _version(connection: Connection) -> str:
    found = connection.execute(_VERSION).scalars().all()
    if len(found) != 1 or found[0] not in SUPPORTED:
        raise SchemaError(
            f"the database's Hive must have one of the schemas {', '.join(SUPPORTED)}, "
            f"found {', '.join(found) or 'none'} in its table VERSION"
        )
    return str(found[0])


def _of_hive(version: str, columns: Mapping[str, Collection[str]]) -> Shape:
    known = METADATA.tables.values()
    lacking = {each.name: frozenset(each.c.keys()) - set(columns.get(each.name, ())) for each in known}
    return Shape(
        version,
        frozenset(name for name in lacking if name not in columns),
        MappingProxyType({name: absent for name, absent in lacking.items() if absent and name in columns}),
    )
