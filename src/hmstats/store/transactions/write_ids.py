"""NEXT_WRITE_ID and TXN_TO_WRITE_ID: write ids of tables for transactions, counted for each table from 1.

Write ids can also be taken of a table that is not in the catalog, as in Hive.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.model.catalog.names import database_text
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.store.schema import NEXT_WRITE_ID, TXN_TO_WRITE_ID
from hmstats.store.statements import queued
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

_N, _T = NEXT_WRITE_ID.c, TXN_TO_WRITE_ID.c


def of_transactions(connection: Connection, name: TableName, transactions: Sequence[int]) -> dict[int, int]:
    """The table's write ids by transaction, for these transactions."""
    is_transaction = one_of(connection, _T.T2W_TXNID, transactions)
    query = select(_T.T2W_TXNID, _T.T2W_WRITEID).where(*_of(TXN_TO_WRITE_ID, name), is_transaction)
    return {row.T2W_TXNID: row.T2W_WRITEID for row in connection.execute(query)}


def allocate(unit: Unit, name: TableName, transactions: Sequence[int]) -> dict[int, int]:
    """Allocate the table's next write ids to these transactions, which have none, in order. Returns them."""
    count = len(transactions)
    dialect = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    new = dialect.insert(NEXT_WRITE_ID).values(**_name_values(NEXT_WRITE_ID, name), NWI_NEXT=1 + count)
    upsert = new.on_conflict_do_update(
        index_elements=["NWI_DATABASE", "NWI_TABLE"], set_={"NWI_NEXT": _N.NWI_NEXT + count}
    )
    end = unit.connection.execute(upsert.returning(_N.NWI_NEXT)).scalar_one()
    write_ids = dict(zip(transactions, range(end - count, end), strict=True))
    rows = [
        {"T2W_TXNID": transaction, "T2W_WRITEID": write_id, **_name_values(TXN_TO_WRITE_ID, name)}
        for transaction, write_id in write_ids.items()
    ]
    unit.connection.execute(insert(TXN_TO_WRITE_ID), rows)
    return write_ids


def release(unit: Unit, name: TableName, transactions: Sequence[int]) -> None:
    """Delete these transactions' write ids of the table; they are not given again."""
    mine = one_of(unit.connection, _T.T2W_TXNID, transactions)
    unit.connection.execute(delete(TXN_TO_WRITE_ID).where(*_of(TXN_TO_WRITE_ID, name), mine))


def last(connection: Connection, name: TableName) -> int:
    """The highest write id that the table has given; 0 before the first."""
    query = select(_N.NWI_NEXT).where(*_of(NEXT_WRITE_ID, name))
    return (connection.execute(query).scalar_one_or_none() or 1) - 1


def start_after(unit: Unit, name: TableName, last_id: int) -> bool:
    """Continue a table's write ids after `last_id`. Returns False, and changes nothing, if it has given some."""
    dialect = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    row = dialect.insert(NEXT_WRITE_ID).values(**_name_values(NEXT_WRITE_ID, name), NWI_NEXT=last_id + 1)
    return unit.connection.execute(row.on_conflict_do_nothing()).rowcount == 1


def visible_up_to(connection: Connection, name: TableName, transaction_mark: int) -> tuple[int, list[tuple[int, int]]]:
    """The table's write ids that can be visible with transactions up to the mark.

    Returns the highest write id of these transactions, or else the highest given; and the pairs of transaction and
    write id up to it, by write id.
    """
    is_table = _of(TXN_TO_WRITE_ID, name)
    highest_under_mark = select(func.max(_T.T2W_WRITEID)).where(*is_table, _T.T2W_TXNID <= transaction_mark)
    highest = connection.execute(highest_under_mark).scalar_one_or_none() or last(connection, name)
    query = select(_T.T2W_TXNID, _T.T2W_WRITEID).where(*is_table, _T.T2W_WRITEID <= highest).order_by(_T.T2W_WRITEID)
    return highest, [(transaction, write_id) for transaction, write_id in connection.execute(query)]


def transaction_of(connection: Connection, name: TableName, write_id: int) -> int | None:
    """The transaction with a write id of the table; None if there is none."""
    query = select(_T.T2W_TXNID).where(*_of(TXN_TO_WRITE_ID, name), _T.T2W_WRITEID == write_id)
    return connection.execute(query).scalar_one_or_none()


def rename_table(unit: Unit, old: TableName, new: TableName) -> None:
    """Rename the table in its write ids; those of the new name are deleted."""
    remove_of_table(unit, new)
    for table in (NEXT_WRITE_ID, TXN_TO_WRITE_ID):
        unit.connection.execute(update(table).where(*_of(table, old)).values(_name_values(table, new)))


def remove_of_table(unit: Unit, name: TableName) -> None:
    """Delete a dropped table's write ids, so that a new table with its name counts from 1."""
    for table in (NEXT_WRITE_ID, TXN_TO_WRITE_ID):
        queued.delete_equal(unit, table, _name_values(table, name))


def remove_of_database(unit: Unit, name: DatabaseName) -> None:
    """Delete the write ids of every table of a dropped database."""
    for column in (_N.NWI_DATABASE, _T.T2W_DATABASE):
        unit.connection.execute(delete(column.table).where(column == database_text(name)))


def _name_values(table: Table, name: TableName) -> Mapping[str, str]:
    prefix = "NWI" if table is NEXT_WRITE_ID else "T2W"
    return {f"{prefix}_DATABASE": database_text(name.parent), f"{prefix}_TABLE": name.table}


def _of(table: Table, name: TableName) -> list[ColumnElement[Any]]:
    return [table.c[column] == value for column, value in _name_values(table, name).items()]
