"""Tables: TBLS with its parameters, partition keys and storage."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    CompoundSelect,
    Connection,
    Select,
    bindparam,
    cast,
    null,
    or_,
    select,
    union_all,
    update,
)

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import (
    DEFAULT_CATALOG,
    MATERIALIZED_VIEW,
    PARTITION_PRIVILEGES,
    Column,
    DatabaseName,
    KeyedTable,
    Table,
    TableName,
    TableSummary,
    says_own_privileges,
)
from hmstats.store.catalog import constraint_columns, databases
from hmstats.store.changes import versions
from hmstats.store.history import before_writes
from hmstats.store.partitions import partitions
from hmstats.store.schema import (
    DBS,
    HMSTATS_COLUMN_PROVENANCE,
    HMSTATS_HEALTH,
    HMSTATS_NUMBER_BLOCK,
    HMSTATS_NUMBER_INDEX,
    HMSTATS_PENDING,
    HMSTATS_PENDING_COLUMN,
    HMSTATS_PREFERENCE,
    HMSTATS_RUN_LEASE,
    HMSTATS_STATISTICS_LOCK,
    HMSTATS_TOP_K,
    HMSTATS_VECTOR_BLOCK,
    HMSTATS_VECTOR_INDEX,
    KEY_CONSTRAINTS,
    PARTITION_KEYS,
    PARTITIONS,
    TAB_COL_STATS,
    TABLE_PARAMS,
    TBL_COL_PRIVS,
    TBL_PRIVS,
    TBLS,
)
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.statements import queued
from hmstats.store.statements.ordering import by_bytes, by_bytes_of
from hmstats.store.statements.single_read import SingleRead
from hmstats.store.statements.value_sets import bound, one_of, one_of_bound
from hmstats.store.storage import descriptors, file_changes, parameters
from hmstats.store.storage.descriptor_rows import COLUMNS, OWNERS, Storages, read_parts, with_descriptor
from hmstats.store.storage.parameters import OF_TABLES
from hmstats.store.storage.parts import PartQuery, Parts
from hmstats.store.unit import ids
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

_NAMED = TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
_TABLE_ID_COLUMNS = (
    KEY_CONSTRAINTS.c.PARENT_TBL_ID,
    KEY_CONSTRAINTS.c.CHILD_TBL_ID,
    *(
        table.c.TBL_ID
        for table in (
            TBL_PRIVS,
            TBL_COL_PRIVS,
            HMSTATS_COLUMN_PROVENANCE,
            HMSTATS_PENDING,
            HMSTATS_PENDING_COLUMN,
            HMSTATS_PREFERENCE,
            HMSTATS_HEALTH,
            HMSTATS_RUN_LEASE,
            HMSTATS_STATISTICS_LOCK,
            HMSTATS_TOP_K,
            HMSTATS_NUMBER_BLOCK,
            HMSTATS_NUMBER_INDEX,
            HMSTATS_VECTOR_BLOCK,
            HMSTATS_VECTOR_INDEX,
            TAB_COL_STATS,
            TABLE_PARAMS,
            PARTITION_KEYS,
            TBLS,
        )
    ),
)
"""The columns with a table's id in all tables with rows of it, its own last."""
_VERSIONED = _NAMED.outerjoin(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID)
QUERY = select(TBLS, VERSIONS.c.VERSION, *COLUMNS).select_from(with_descriptor(_VERSIONED, TBLS.c.SD_ID))
"""The query for tables with version and storage, without their parts."""
_KEY, _PARAMETER = "key of table", "parameter of table"
_K, _P = PARTITION_KEYS.c, TABLE_PARAMS.c
PARTS = (
    PartQuery(_KEY, OWNERS, _K.TBL_ID, _K.INTEGER_IDX, (_K.PKEY_NAME, _K.PKEY_TYPE, _K.PKEY_COMMENT)),
    PartQuery(_PARAMETER, OWNERS, _P.TBL_ID, None, (_P.PARAM_KEY, _P.PARAM_VALUE)),
)
"""The parts of tables beside those of their storages."""
HERE = (DBS.c.NAME == bindparam("database")) & (DBS.c.CTLG_NAME == bindparam("catalog"))
"""The condition that a table is in a database; its parameters are catalog and database."""
ID = select(TBLS.c.TBL_ID).select_from(_NAMED).where(HERE, TBLS.c.TBL_NAME == bindparam("table"))
"""The query for a table's id; its parameters are catalog, database and table."""
_LOCK = ID.with_for_update(of=TBLS).execution_options(**PREPARED)
_KEYED = (
    select(TBLS.c.TBL_ID, VERSIONS.c.VERSION, _P.PARAM_VALUE, _K.PKEY_NAME, _K.PKEY_TYPE, _K.PKEY_COMMENT)
    .select_from(
        _VERSIONED.outerjoin(
            TABLE_PARAMS, (_P.TBL_ID == TBLS.c.TBL_ID) & (_P.PARAM_KEY == bindparam("parameter"))
        ).outerjoin(PARTITION_KEYS, _K.TBL_ID == TBLS.c.TBL_ID)
    )
    .where(HERE, TBLS.c.TBL_NAME == bindparam("table"))
    .order_by(_K.INTEGER_IDX)
)
_NEW_TABLE_QUERY = (
    select(DBS.c.DB_ID, DBS.c.DB_LOCATION_URI, DBS.c.TYPE, TBLS.c.TBL_ID, file_changes.ARE_ANY)
    .outerjoin_from(DBS, TBLS, (TBLS.c.DB_ID == DBS.c.DB_ID) & (TBLS.c.TBL_NAME == bindparam("table")))
    .where(HERE)
    .execution_options(**PREPARED)
)
NAMES = SingleRead(lambda _: select(TBLS.c.TBL_NAME).select_from(_NAMED).where(HERE))
"""The query for the names of a database's tables, in no order."""
NAMES_OF_TYPE = SingleRead(lambda _: NAMES.query.where(TBLS.c.TBL_TYPE == bindparam("table_type")))
"""The query for the names of a database's tables of one type, in no order."""


class KnownParts(NamedTuple):
    """Texts of which a name has at least one: at its beginning, or anywhere."""

    beginnings: Sequence[str]
    inner: Sequence[str]


def get(connection: Connection, name: TableName) -> Table | None:
    """The table; None if it does not exist."""
    tables = get_many(connection, name.parent, [name.table])
    return tables[0] if tables else None


def get_many(connection: Connection, database: DatabaseName, names: Sequence[str]) -> list[Table]:
    """The named tables in name order, without missing ones; notes their versions. A constant number of statements."""
    sent = {"catalog": database.catalog, "database": database.database, "names": bound(connection, names)}
    rows = connection.execute(_named_query(connection.dialect.name), sent).all()
    if not rows:
        return []
    for row in rows:
        versions.note_read(row.TBL_ID, row.VERSION)
    parts = read_parts(connection, [row.SD_ID for row in rows], rows, [row.TBL_ID for row in rows], PARTS)
    return tables_of(database, rows, parts, Storages(parts, connection))


def tables_of(database: DatabaseName, rows: Sequence[Any], parts: Parts, storages: Storages) -> list[Table]:
    """The tables in rows of QUERY, which has their columns at its end, and their parts."""
    keys, parameters_found = parts.rows(_KEY), parts.pairs(_PARAMETER)
    return [
        Table(
            name=TableName(database.catalog, database.database, row.TBL_NAME),
            id=row.TBL_ID,
            owner=row.OWNER,
            owner_type=row.OWNER_TYPE,
            created_seconds=row.CREATE_TIME,
            last_access_seconds=row.LAST_ACCESS_TIME,
            retention=row.RETENTION,
            storage=storages.of(row.SD_ID, row),
            partition_keys=tuple(Column(*each) for each in keys.get(row.TBL_ID, ())),
            parameters=parameters_found.get(row.TBL_ID) or {},
            view_original_text=row.VIEW_ORIGINAL_TEXT,
            view_expanded_text=row.VIEW_EXPANDED_TEXT,
            table_type=row.TBL_TYPE,
            rewrite_enabled=row.IS_REWRITE_ENABLED,
            write_id=row.WRITE_ID or 0,
        )
        for row in rows
    ]


def names(connection: Connection, database: DatabaseName) -> list[str]:
    """The sorted names of a database's tables."""
    return sorted(connection.execute(NAMES.query, databases.name_parameters(database)).scalars())


def names_for_rewriting(connection: Connection, database: DatabaseName | None) -> dict[DatabaseName, list[str]]:
    """The names of the materialized views enabled for query rewriting, by database; None is the default catalog."""
    query = select(DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME).select_from(_NAMED)
    query = query.where(TBLS.c.TBL_TYPE == MATERIALIZED_VIEW, TBLS.c.IS_REWRITE_ENABLED)
    query = query.where(DBS.c.CTLG_NAME == DEFAULT_CATALOG if database is None else _inside(database))
    names: dict[DatabaseName, list[str]] = {}
    for catalog, parent, name in connection.execute(query.order_by(by_bytes(connection, TBLS.c.TBL_NAME))):
        names.setdefault(DatabaseName(catalog, parent), []).append(name)
    return names


def summaries(
    connection: Connection,
    catalog: str,
    of_databases: Sequence[str],
    parts: KnownParts | None = None,
    table_types: Sequence[str] = (),
) -> list[TableSummary]:
    """Summaries of the tables of some databases of a catalog, by database and name.

    With `parts`, only tables whose names have one of them; with `table_types` (empty: all), only these.
    """
    p = TABLE_PARAMS.c
    comment = TABLE_PARAMS, (p.TBL_ID == TBLS.c.TBL_ID) & (p.PARAM_KEY == "comment")
    query = (
        select(DBS.c.NAME, TBLS.c.TBL_NAME, TBLS.c.TBL_TYPE, p.PARAM_VALUE, TBLS.c.OWNER, TBLS.c.OWNER_TYPE)
        .select_from(_NAMED.outerjoin(*comment))
        .where(DBS.c.CTLG_NAME == catalog, one_of(connection, DBS.c.NAME, of_databases))
        .order_by(by_bytes(connection, DBS.c.NAME), by_bytes(connection, TBLS.c.TBL_NAME))
    )
    if parts is not None:
        query = query.where(TBLS.c.TBL_ID.in_(_ids_by_parts(parts)))
    if table_types:
        query = query.where(one_of(connection, TBLS.c.TBL_TYPE, table_types))
    return [
        TableSummary(TableName(catalog, database, name), table_type or "", text, owner, owner_type)
        for database, name, table_type, text, owner, owner_type in connection.execute(query)
    ]


def _ids_by_parts(parts: KnownParts) -> Select[Any]:
    """The ids of tables by their names alone, which are looked at without the rest of 100,000 tables."""
    named = TBLS.alias()
    begun = (named.c.TBL_NAME.startswith(each, autoescape=True) for each in parts.beginnings)
    within = (named.c.TBL_NAME.contains(each, autoescape=True) for each in parts.inner)
    return select(named.c.TBL_ID).where(or_(*begun, *within))


def find_keyed(connection: Connection, name: TableName, partitions: Collection[str] | None = None) -> KeyedTable | None:
    """The part of a table that is needed to find its partitions; None if the table does not exist. One statement.

    Its version is noted for a read of these partitions, by default of any.
    """
    sent = {**name_parameters(name), "parameter": PARTITION_PRIVILEGES}
    rows = connection.execute(_KEYED, sent).cursor.fetchall()
    if not rows:
        return None
    table_id, version, privileges, *_ = rows[0]
    versions.note_read(table_id, version, partitions)
    keys = tuple(Column(*row[3:]) for row in rows if row[3] is not None)
    return KeyedTable(name, table_id, version, keys, own_privileges=says_own_privileges(privileges))


def find_id(connection: Connection, name: TableName) -> int | None:
    """The table's id; None if it does not exist."""
    return connection.execute(ID, name_parameters(name)).scalar_one_or_none()


def find_name(connection: Connection, table_id: int) -> TableName | None:
    """The current name of a table; None if it does not exist."""
    query = select(DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME).select_from(_NAMED).where(TBLS.c.TBL_ID == table_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else TableName(*row)


def bump_every(unit: Unit) -> None:
    """Raise the versions of all tables, whose writers wait until the unit ends."""
    query = select(TBLS.c.TBL_ID).order_by(TBLS.c.TBL_ID).with_for_update()
    versions.bump_all(unit, list(unit.connection.execute(query).scalars()))


def lock(unit: Unit, name: TableName) -> int | None:
    """The table's id, its row locked until the unit ends; None if it does not exist."""
    return unit.connection.execute(_LOCK, name_parameters(name)).scalar_one_or_none()


def lock_by_id(unit: Unit, table_id: int) -> TableName | None:
    """The table's current name, its row locked until the unit ends; None if it does not exist."""
    unit.connection.execute(select(TBLS.c.TBL_ID).where(TBLS.c.TBL_ID == table_id).with_for_update())
    return find_name(unit.connection, table_id)


class NewTablePlacement(NamedTuple):
    """The database for a new table, with its location and whether it is remote; `table_exists` if the name is taken.

    `files_busy` if any change of files is in progress (file_changes.py).
    """

    database_id: int
    location: str
    remote: bool
    table_exists: bool
    files_busy: bool


def find_placement(connection: Connection, name: TableName) -> NewTablePlacement | None:
    """The placement of a new table of this name; None if its database does not exist."""
    row = connection.execute(_NEW_TABLE_QUERY, name_parameters(name)).one_or_none()
    return (
        None
        if row is None
        else NewTablePlacement(row[0], row[1], row[2] == databases.REMOTE, row[3] is not None, bool(row[4]))
    )


def ids_in(connection: Connection, database: DatabaseName) -> list[int]:
    """The ids of a database's tables."""
    return list(connection.execute(select(TBLS.c.TBL_ID).select_from(_NAMED).where(_inside(database))).scalars())


def lock_in(unit: Unit, database_id: int) -> list[int]:
    """The ids of a database's tables, their rows locked until the unit ends, in the order of the ids."""
    query = select(TBLS.c.TBL_ID).where(TBLS.c.DB_ID == database_id).order_by(TBLS.c.TBL_ID).with_for_update()
    return list(unit.connection.execute(query).scalars())


def insert_one(unit: Unit, table: Table, database_id: int | None = None) -> int:
    """Insert a table. Returns its id. Raises NoSuchObject if its database (looked up unless given) does not exist."""
    table_id = unit.ids(ids.Sequence.TABLE, 1)[0]
    parent = _database_id(unit.connection, table) if database_id is None else database_id
    storage_id = descriptors.insert_many(unit, [table.storage])[0] if table.storage else None
    row = {"TBL_ID": table_id, "SD_ID": storage_id, "DB_ID": parent, **_row(table)}
    queued.insert(unit, TBLS, {name: [value] for name, value in row.items()})
    _add_keys(unit, table_id, table.partition_keys)
    parameters.add(unit, OF_TABLES, {table_id: table.parameters})
    versions.begin(unit, table_id)
    return table_id


def replace(unit: Unit, stored: Table, table: Table) -> None:
    """Replace a table that the unit has locked and read, except partitions and statistics. Writes what differs.

    Raises NoSuchObject if its new database does not exist.
    """
    table_id = stored.id
    assert table_id is not None, f"table {stored.name} was not read from the database"
    row = _row(table)
    if table.name.parent != stored.name.parent:
        row["DB_ID"] = _database_id(unit.connection, table)
    if not descriptors.are_same(stored.storage, table.storage):
        _replace_storage(unit, table_id, table, row)
    elif row != _row(stored):
        _update(unit, table_id, row)
    if table.partition_keys != stored.partition_keys:
        queued.delete(unit, PARTITION_KEYS.c.TBL_ID, [table_id])
        _add_keys(unit, table_id, table.partition_keys)
    if table.parameters != stored.parameters:
        parameters.replace(unit, OF_TABLES, {table_id: table.parameters})


def _replace_storage(unit: Unit, table_id: int, table: Table, row: dict[str, Any]) -> None:
    """Update a table's row together with its storage; constraints follow the columns."""
    old = unit.connection.execute(select(TBLS.c.SD_ID).where(TBLS.c.TBL_ID == table_id)).scalar_one()
    new = descriptors.replace(unit, old, table.storage)
    _update(unit, table_id, {**row, "SD_ID": new})
    if old is not None and new != old:
        constraint_columns.follow(unit, table_id, new)
        descriptors.remove_many(unit, [old])


def _update(unit: Unit, table_id: int, row: Mapping[str, Any]) -> None:
    here = TBLS.c.TBL_ID == table_id
    unit.connection.execute(update(TBLS).where(here).values(row).execution_options(**PREPARED))


def remove_many(unit: Unit, table_ids: Sequence[int]) -> None:
    """Remove tables with their partitions, statistics and all other rows of theirs."""
    connection = unit.connection
    rows = connection.execute(_owned_query(connection.dialect.name), {"ids": bound(connection, table_ids)}).all()
    storages = descriptors.find_rows(connection, [each for _, each in rows if each is not None])
    before_writes.of_dropped_tables(unit, table_ids)
    partitions.remove_rows(unit, [each for each, _ in rows if each is not None])
    for column in _TABLE_ID_COLUMNS:
        queued.delete(unit, column, table_ids)
    versions.remove(unit, table_ids)
    descriptors.remove_rows(unit, storages)


@lru_cache(maxsize=2)
def _owned_query(dialect_name: str) -> CompoundSelect[Any]:
    """The query for ids and storages of tables' partitions, and for the tables' own storages."""
    p, t = PARTITIONS.c, TBLS.c
    return union_all(
        select(p.PART_ID, p.SD_ID).where(one_of_bound(dialect_name, p.TBL_ID, "ids")),
        select(cast(null(), BigInteger), t.SD_ID).where(one_of_bound(dialect_name, t.TBL_ID, "ids")),
    ).execution_options(**PREPARED)


def _inside(database: DatabaseName) -> Any:
    return (DBS.c.NAME == database.database) & (DBS.c.CTLG_NAME == database.catalog)


def name_parameters(name: TableName) -> dict[str, str]:
    """The parameters of a query for one table by its name, such as ID."""
    return {"catalog": name.catalog, "database": name.database, "table": name.table}


@lru_cache(maxsize=2)
def _named_query(dialect_name: str) -> Select[Any]:
    """The query for the named tables in name order; cached, since it takes long to build."""
    named = QUERY.where(HERE, one_of_bound(dialect_name, TBLS.c.TBL_NAME, "names"))
    return named.order_by(by_bytes_of(dialect_name, TBLS.c.TBL_NAME)).execution_options(**PREPARED)


def _add_keys(unit: Unit, table_id: int, keys: Sequence[Column]) -> None:
    columns: dict[str, Sequence[Any]] = {
        "TBL_ID": [table_id] * len(keys),
        "PKEY_NAME": [key.name for key in keys],
        "PKEY_TYPE": [key.type for key in keys],
        "PKEY_COMMENT": [key.comment for key in keys],
        "INTEGER_IDX": list(range(len(keys))),
    }
    queued.insert(unit, PARTITION_KEYS, columns)


def _database_id(connection: Connection, table: Table) -> int:
    database_id = databases.find_id(connection, table.name.parent)
    if database_id is None:
        raise NoSuchObject(f"database {table.name.parent} of table {table.name.table} not found")
    return database_id


def _row(table: Table) -> dict[str, Any]:
    """The table's row, without its id, database and storage."""
    return {
        "TBL_NAME": table.name.table,
        "OWNER": table.owner,
        "OWNER_TYPE": table.owner_type,
        "CREATE_TIME": table.created_seconds,
        "LAST_ACCESS_TIME": table.last_access_seconds,
        "RETENTION": table.retention,
        "TBL_TYPE": table.table_type,
        "VIEW_ORIGINAL_TEXT": table.view_original_text,
        "VIEW_EXPANDED_TEXT": table.view_expanded_text,
        "IS_REWRITE_ENABLED": table.rewrite_enabled,
        "WRITE_ID": table.write_id,
    }
