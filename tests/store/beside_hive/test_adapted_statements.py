from collections.abc import Iterator

import pytest
from sqlalchemy import delete, insert, select, update
from tests.store.beside import rows_of, store_beside, twice
from tests.store.catalog_values import NAME, TABLE, make_table

from hmstats.errors import MetaError
from hmstats.model.statistics.provenance import Provenance
from hmstats.store.catalog import databases, tables
from hmstats.store.database.store import Store
from hmstats.store.schema import CTLGS, DATACONNECTORS, PART_COL_STATS, TAB_COL_STATS, TBLS
from hmstats.store.statistics import column_statistics, details, provenance


@pytest.fixture
def beside(hive_database: str) -> Iterator[Store]:
    with store_beside(hive_database) as store:
        yield store


OLDER = pytest.mark.parametrize("hive_generation", ["2.3", "3.1"], indirect=True)
"""Those that lack something."""


def test_a_table_comes_back(beside: Store) -> None:
    table_id = make_table(beside)
    with beside.read() as connection:
        found = tables.get(connection, NAME)
        of_database = databases.get(connection, NAME.parent)
    assert found is not None
    assert (found.id, found.storage, found.partition_keys) == (table_id, TABLE.storage, TABLE.partition_keys)
    assert of_database is not None
    assert of_database.name == NAME.parent


def test_of_two_rows_the_newer_is_read(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5), (900_002, 30, 7), (900_003, 20, 6))
    with beside.read() as connection:
        (found,) = column_statistics.read_table(connection, table_id, ["id"], None)
    assert [each.data.ndv for each in found.columns] == [7]  # type: ignore[union-attr]
    assert found.last_analyzed_seconds == 30


def test_of_two_rows_of_one_time_the_later_made_is_read(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5), (900_002, 10, 7))
    with beside.read() as connection:
        (found,) = column_statistics.read_table(connection, table_id, ["id"], None)
    assert [each.data.ndv for each in found.columns] == [7]  # type: ignore[union-attr]


@OLDER
def test_what_is_absent_is_read_as_its_only_value(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5))
    with beside.read() as connection:
        c = TAB_COL_STATS.c
        query = select(c.ENGINE, c.HISTOGRAM, TBLS.c.WRITE_ID).select_from(TAB_COL_STATS.join(TBLS))
        assert tuple(connection.execute(query).one()) == ("hive", None, 0)
        assert connection.execute(select(CTLGS.c.NAME)).scalars().all() == ["hive"]
        assert connection.execute(select(DATACONNECTORS.c.NAME)).all() == []


@OLDER
def test_what_is_absent_is_not_changed(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5))
    statements = (
        update(TBLS).values(WRITE_ID=7),
        update(DATACONNECTORS).values(URL="x"),
        delete(DATACONNECTORS),
        delete(TAB_COL_STATS).where(TAB_COL_STATS.c.ENGINE == "spark"),
        update(PART_COL_STATS).values(ENGINE="spark"),
    )
    changed = beside.write(lambda unit: [unit.connection.execute(each).rowcount for each in statements])
    assert changed == [0] * len(statements)
    assert rows_of(beside) == [(900_001, 10, 5)]


@OLDER
def test_what_is_written_to_an_absent_table_is_refused(beside: Store) -> None:
    with pytest.raises(MetaError, match="has no table DATACONNECTORS to store this in"):
        beside.write(lambda unit: unit.connection.execute(insert(DATACONNECTORS), {"NAME": "x"}))
    with pytest.raises(MetaError, match="has no table DATACONNECTORS to store this in"):
        beside.write(
            lambda unit: unit.connection.execute(
                update(DATACONNECTORS).values(URL="x").returning(DATACONNECTORS.c.NAME)
            )
        )


def test_what_is_beside_statistics_goes_when_hive_writes_others(beside: Store) -> None:
    table_id = make_table(beside)
    made = Provenance(writer="ann", written_at_seconds=20)
    beside.write(lambda unit: provenance.write(unit, table_id, "hive", {details.OF_TABLE: {"id": made}}))
    twice(beside, table_id, (900_001, 20, 5))
    with beside.read() as connection:
        assert [each.provenance for each in details.read_table(connection, table_id, None)] == [made]
    twice(beside, table_id, (900_002, 21, 6))
    with beside.read() as connection:
        assert details.read_table(connection, table_id, None) == []
