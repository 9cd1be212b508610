"""Revision 0007 and back: provenance in a row for each column becomes one in a row for each partition."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import create_engine, insert, select, text, update
from tests.store.beside import store_beside
from tests.store.catalog_values import NAME, make_partitions, make_table

from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.store.database.store import Store
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.migration import migrate
from hmstats.store.schema import HMSTATS_COLUMN_PROVENANCE, HMSTATS_PROVENANCE
from hmstats.store.statistics import column_statistics, details, provenance
from hmstats.store.statistics.details import OF_TABLE

BEFORE = "0006"
COLUMNS = ("c", 'a"b', "ü", "$.x", "d")
_NAMES = {
    "exact": "EXACT",
    "ndv_standard_error": "NDV_STANDARD_ERROR",
    "rows_seen": "ROWS_SEEN",
    "sample_fraction": "SAMPLE_FRACTION",
    "writer": "WRITER",
    "tool": "TOOL",
    "written_at_seconds": "WRITTEN_AT",
}
MADE = (
    Provenance(
        exact=True,
        ndv_standard_error=0.1 + 0.2,
        rows_seen=2**62 + 1,
        sample_fraction=1 / 3,
        writer='a"\\ü',
        tool="null",
        written_at_seconds=100,
    ),
    Provenance(exact=False, written_at_seconds=101),
    Provenance(writer="", ndv_standard_error=5e-324, sample_fraction=1.0, written_at_seconds=102),
    Provenance(ndv_standard_error=1e300, rows_seen=0, tool="t", written_at_seconds=103),
    Provenance(written_at_seconds=104),
)
Key = tuple[int, int, str, str]


def rows(store: Store) -> dict[Key, Provenance]:
    """The old table's rows, by its key."""
    c = HMSTATS_PROVENANCE.c
    query = select(c.TBL_ID, c.PART_ID, c.COLUMN_NAME, c.ENGINE, *(c[name] for name in _NAMES.values()))
    with store.read() as connection:
        return {
            tuple(row[:4]): Provenance(**dict(zip(_NAMES, row[4:], strict=True))) for row in connection.execute(query)
        }


def insert_old(store: Store, given: Mapping[Key, Provenance]) -> None:
    """Write rows as a server of the version before does."""
    names = ("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE", *_NAMES.values())
    each = [
        dict(zip(names, (*key, *(getattr(made, field) for field in _NAMES)), strict=True))
        for key, made in given.items()
    ]
    store.write(lambda unit: unit.connection.execute(insert(HMSTATS_PROVENANCE), each))


def analyze(store: Store, table_id: int, partition_ids: Sequence[int], engine: str) -> None:
    """Statistics that are older than all provenance."""
    columns = tuple(ColumnStatistics(name, "bigint", LongStatistics(ndv=1)) for name in COLUMNS)

    def write(unit: Any) -> None:
        column_statistics.write_table(unit, table_id, NAME, StatisticsSet(columns, None, engine, 1))
        sets = {each: StatisticsSet(columns, "p", engine, 1) for each in partition_ids}
        column_statistics.write_partitions(unit, NAME, sets)

    store.write(write)


@pytest.fixture
def filled(database_url: str) -> tuple[Store, dict[Key, Provenance]]:
    """A store at the revision before, with provenance of a table and two partitions, of two engines."""
    store = Store.open(database_url)
    table_id = make_table(store)
    ids = [*make_partitions(store, table_id, "1", "2").values()]
    for engine in ("hive", "impala"):
        analyze(store, table_id, ids, engine)
    migrate.downgrade(database_url, BEFORE)
    places = [(owner, engine) for owner in (OF_TABLE, *ids) for engine in ("hive", "impala")]
    given = {
        (table_id, owner, column, engine): MADE[(number + shift) % len(MADE)]
        for shift, (owner, engine) in enumerate(places)
        for number, column in enumerate(COLUMNS[shift % 2 :])
    }
    insert_old(store, given)
    return store, given


def read(store: Store, table_id: int) -> dict[tuple[str | None, str, str], Provenance | None]:
    """The provenance that a server of this version reads, by partition, column and engine."""
    with store.read() as connection:
        found = [
            *details.read_table(connection, table_id, None),
            *details.read_partitions(connection, table_id, None, None),
        ]
    return {(each.partition, each.column, each.engine): each.provenance for each in found}


def test_upgrade_brings_every_column(filled: tuple[Store, dict[Key, Provenance]], database_url: str) -> None:
    store, given = filled
    migrate.upgrade(database_url)
    names = {OF_TABLE: None, 1: "p=1", 2: "p=2"}
    expected = {(names[owner], column, engine): made for (_, owner, column, engine), made in given.items()}
    assert read(store, 1) == expected
    assert rows(store) == given
    store.close()


@pytest.mark.slow
def test_downgrade_brings_them_back(filled: tuple[Store, dict[Key, Provenance]], database_url: str) -> None:
    store, given = filled
    migrate.upgrade(database_url)
    store.write(lambda unit: unit.connection.execute(text('DELETE FROM "HMSTATS_PROVENANCE" WHERE "PART_ID" <> 1')))
    migrate.downgrade(database_url, BEFORE)
    assert rows(store) == given
    migrate.upgrade(database_url)
    assert len(read(store, 1)) == len(given)
    store.close()


@pytest.mark.slow
def test_downgrade_keeps_the_newer(filled: tuple[Store, dict[Key, Provenance]], database_url: str) -> None:
    store, given = filled
    migrate.upgrade(database_url)
    old = HMSTATS_PROVENANCE
    changed = update(old).where(old.c.COLUMN_NAME == "c", old.c.PART_ID == 2).values(WRITER="old", WRITTEN_AT=500)
    store.write(lambda unit: unit.connection.execute(changed))
    new = Provenance(writer="new", written_at_seconds=400)
    store.write(lambda unit: provenance.write(unit, 1, "hive", {2: {"c": new, "d": new}}))
    migrate.downgrade(database_url, BEFORE)
    found = rows(store)
    writer = {key[2:]: made.writer for key, made in found.items() if key[1] == 2 and key[3] == "hive"}
    assert (writer["c", "hive"], writer["d", "hive"]) == ("old", "new")
    assert found[1, 2, "d", "hive"] == new
    assert found.keys() == given.keys()
    store.close()


@pytest.mark.slow
def test_an_error_that_is_no_number_is_unknown(database_url: str) -> None:
    store = Store.open(database_url)
    table_id = make_table(store)
    analyze(store, table_id, [], "hive")
    migrate.downgrade(database_url, BEFORE)
    insert_old(
        store, {(table_id, OF_TABLE, "c", "hive"): Provenance(ndv_standard_error=float("inf"), written_at_seconds=9)}
    )
    migrate.upgrade(database_url)
    assert read(store, table_id) == {(None, "c", "hive"): Provenance(written_at_seconds=9)}
    store.close()


@pytest.mark.slow
def test_beside_a_hive_only_ours_is_made_and_filled(hive_database: str) -> None:
    with store_beside(hive_database) as store:
        table_id = make_table(store)
        given = {(table_id, OF_TABLE, "c", "hive"): MADE[0]}
        migrate.downgrade(hive_database, BEFORE)
        insert_old(store, given)
        migrate.adopt(hive_database)
        with store.read() as connection:
            (found,) = connection.execute(select(HMSTATS_COLUMN_PROVENANCE.c.BY_COLUMN)).scalars()
        assert found == {"c": [100, MADE[0].writer, "null", True, 0.1 + 0.2, 2**62 + 1, 1 / 3]}
        migrate.downgrade(hive_database, BEFORE)
        assert rows(store) == given


def test_the_old_table_says_that_it_goes(postgres_url: str) -> None:
    engine = create_engine(database_url_of(postgres_url))
    with engine.connect() as connection:
        query = text("SELECT obj_description(to_regclass('\"HMSTATS_PROVENANCE\"'))")
        assert "since revision 0007" in connection.execute(query).scalar_one()
    engine.dispose()
