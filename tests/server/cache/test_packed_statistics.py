"""Statistics that PostgreSQL packs (statistics_groups.py) become the bytes that they become row by row."""

import math
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert
from tests.server.requests import encoded
from tests.store.catalog_values import NAME, make_partitions, make_table

from hmstats.server.cache.cached_objects import CachedObjects
from hmstats.server.cache.cached_tables import TableCache
from hmstats.server.cache.recent_changes import RecentChanges
from hmstats.service.statistics.reading import read
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.store.database.store import Store
from hmstats.store.schema import PART_COL_STATS, PARTITION_PARAMS
from hmstats.store.unit.unit import Unit
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods

METHOD = "get_partitions_statistics_req"
PARTITIONS = [f"p={number}" for number in range(read._MANY_PARTITIONS)]
COLUMNS = ["id", "näme", "c"]
LONGS = st.none() | st.sampled_from([0, 5, -(2**63), 2**63 - 1])
DOUBLES = st.none() | st.sampled_from([0.0, -0.0, 1.5, -7.25, math.inf, -math.inf, math.nan])
DECIMALS = st.none() | st.sampled_from(["1.50", "-1E-7", "9" * 38, "0E-10", "rubbish", "NaN", ""])
TYPES = [
    "boolean", "int", "bigint", "float", "double", "decimal(38,10)", "string", "varchar(9)", "binary", "date",
    "timestamp", "struct<a:int>",
]  # fmt: skip
VALUES = st.fixed_dictionaries(
    {
        "COLUMN_TYPE": st.sampled_from(TYPES),
        "ENGINE": st.sampled_from(["hive", "hive", "hive", "impala", "spark"]),
        "LAST_ANALYZED": st.integers(1, 3),
        "NUM_NULLS": st.sampled_from([-5, -1, 0, 3, 2**63 - 1]),
        **{f"LONG_{bound}_VALUE": LONGS for bound in ("LOW", "HIGH")},
        **{f"DOUBLE_{bound}_VALUE": DOUBLES for bound in ("LOW", "HIGH")},
        **{f"BIG_DECIMAL_{bound}_VALUE": DECIMALS for bound in ("LOW", "HIGH")},
        "AVG_COL_LEN": DOUBLES,
        **dict.fromkeys(("MAX_COL_LEN", "NUM_DISTINCTS", "NUM_TRUES", "NUM_FALSES"), LONGS),
        "BIT_VECTOR": st.sampled_from([None, b"HL", b"HLL\0"]),
    }
)
PLACES = st.tuples(st.sampled_from(PARTITIONS[:8]), st.sampled_from([*COLUMNS, "dropped"]))
ROWS = st.dictionaries(PLACES, VALUES, max_size=40)
COUNTS = st.dictionaries(st.sampled_from(PARTITIONS), st.sampled_from(["0", "4", "-1", "many"]))


class Packing:
    """A store of PostgreSQL with a table's partitions, and what it answers, packed and row by row."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids = make_partitions(store, make_table(store), *(name.removeprefix("p=") for name in PARTITIONS))
        self._by_rows = copy(store)
        self._by_rows.groups_of_partitions = lambda *_: None  # type: ignore[method-assign]

    def write(self, rows: Mapping[tuple[str, str], Mapping[str, Any]], counts: Mapping[str, str]) -> None:
        """Leave just these rows of statistics, by partition and column, and these texts as partitions' numRows."""
        statistics = [
            {"CS_ID": number, "PART_ID": self._ids[name], "COLUMN_NAME": column, **values}
            for number, ((name, column), values) in enumerate(rows.items())
        ]
        parameters = [
            {"PART_ID": self._ids[name], "PARAM_KEY": "numRows", "PARAM_VALUE": text} for name, text in counts.items()
        ]

        def work(unit: Unit) -> None:
            for table, new in ((PART_COL_STATS, statistics), (PARTITION_PARAMS, parameters)):
                unit.connection.execute(delete(table))
                if new:
                    unit.connection.execute(insert(table), new)

        self._store.write(work)

    def answers(self, engine: str | None, columns: list[str], *, any_engine: bool) -> tuple[bytes, bytes]:
        """The result about all partitions, packed and row by row."""
        packed, by_rows = (self._answer(each, engine, columns, any_engine) for each in (self._store, self._by_rows))
        return packed, by_rows

    def _answer(self, store: Store, engine: str | None, columns: list[str], any_engine: bool) -> bytes:
        tables = TableCache(store.current_versions, RecentChanges(store.changes_since).touched, 2**20)
        reader = StatisticsReader(store, any_engine=any_engine, sketches=False)
        wanted = api.PartitionsStatsRequest(
            dbName=NAME.database, tblName=NAME.table, colNames=columns, partNames=PARTITIONS, engine=engine
        )
        message = encoded(methods()[METHOD].arguments(request=wanted))
        result = CachedObjects(reader, tables, sketches=False).calls()[METHOD](message, 0)
        assert result is not None
        return result


@pytest.fixture
def packing(postgres_url: str) -> Iterator[Packing]:
    """Over a fresh database."""
    store = Store.open(postgres_url)
    yield Packing(store)
    store.close()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=ROWS,
    counts=COUNTS,
    one_engine=st.booleans(),
    engine=st.sampled_from([None, "hive", "impala"]),
    columns=st.sampled_from([COLUMNS, COLUMNS[:1], ["näme", "nope"], ["id", "näme"]]),
    any_engine=st.booleans(),
)
def test_any_rows(
    packing: Packing,
    rows: dict[tuple[str, str], dict[str, Any]],
    counts: dict[str, str],
    one_engine: bool,
    engine: str | None,
    columns: list[str],
    any_engine: bool,
) -> None:
    packing.write({at: values | ({"ENGINE": "hive"} if one_engine else {}) for at, values in rows.items()}, counts)
    packed, by_rows = packing.answers(engine, columns, any_engine=any_engine)
    assert packed == by_rows


NUMBERS: dict[str, dict[str, Any]] = {
    "boolean": {"NUM_TRUES": 3, "NUM_FALSES": 4},
    "bigint": {"LONG_LOW_VALUE": -3, "LONG_HIGH_VALUE": 2**62, "NUM_DISTINCTS": 7},
    "double": {"DOUBLE_LOW_VALUE": -0.5, "DOUBLE_HIGH_VALUE": math.nan, "NUM_DISTINCTS": 7},
    "decimal(9,2)": {"BIG_DECIMAL_LOW_VALUE": "-1.50", "BIG_DECIMAL_HIGH_VALUE": "7", "NUM_DISTINCTS": 7},
    "string": {"MAX_COL_LEN": 9, "AVG_COL_LEN": 2.5, "NUM_DISTINCTS": 7},
    "binary": {"MAX_COL_LEN": 9, "AVG_COL_LEN": 2.5},
    "date": {"LONG_LOW_VALUE": 5, "LONG_HIGH_VALUE": 4, "NUM_DISTINCTS": 7},
    "timestamp": {"LONG_LOW_VALUE": 5, "LONG_HIGH_VALUE": 6, "NUM_DISTINCTS": 7},
}


@pytest.mark.parametrize("column_type", NUMBERS)
@pytest.mark.parametrize("engine", [None, "hive"])
def test_every_kind_with_and_without_each_of_its_numbers(
    packing: Packing, column_type: str, engine: str | None
) -> None:
    values = NUMBERS[column_type]
    described = {"COLUMN_TYPE": column_type, "ENGINE": "hive", "LAST_ANALYZED": 1, "NUM_NULLS": 2, **values}
    gaps: list[dict[str, Any]] = [{}, *({name: None} for name in values), {"NUM_NULLS": -2}, {"NUM_NULLS": 6}]
    rows = {(name, "id"): described | gap for name, gap in zip(PARTITIONS, gaps, strict=False)}
    nulls: dict[str, Any] = {name: None for each in NUMBERS.values() for name in each}
    packing.write({at: nulls | row for at, row in rows.items()}, {PARTITIONS[0]: "1", PARTITIONS[1]: "2"})
    packed, by_rows = packing.answers(engine, ["id"], any_engine=True)
    assert packed == by_rows
    assert packed.count(b"\x0b\0\1\0\0\0\2id") == len(rows)


def test_rows_are_read_where_packing_is_no_use(packing: Packing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sketches, few partitions and several engines' statistics."""
    read_packed: list[int] = []
    store = packing._store
    packed, rows = store.groups_of_partitions, store.statistics_of_partitions

    def watch(table_id: int, partitions: Any, columns: Any) -> Any:
        read_packed.append(len(partitions))
        return packed(table_id, partitions, columns)

    read_rows: list[int] = []

    def watch_rows(table_id: int, partitions: Any, columns: Any, *, sketches: bool) -> Any:
        read_rows.append(len(partitions))
        return rows(table_id, partitions, columns, sketches=sketches)

    monkeypatch.setattr(store, "groups_of_partitions", watch)
    monkeypatch.setattr(store, "statistics_of_partitions", watch_rows)
    target = store.target(NAME)
    assert target is not None
    row = {"COLUMN_TYPE": "int", "LAST_ANALYZED": 1, "NUM_NULLS": 2}
    packing.write({(name, "id"): {**row, "ENGINE": "hive"} for name in PARTITIONS[:3]}, {})

    def found(wanted: list[str], *, sketches: bool = False) -> tuple[set[str], list[int], list[int]]:
        read_packed.clear()
        read_rows.clear()
        reader = StatisticsReader(store, sketches=sketches)
        answer = reader.versioned_partitions(NAME, target, wanted, COLUMNS, "hive", repaired=False)
        assert answer is not None
        names = {*answer.columns, *(name for group in answer.groups for name in group.partitions)}
        return names, read_packed[:], read_rows[:]

    few, every = PARTITIONS[:-1], len(PARTITIONS)
    assert found(PARTITIONS) == ({*PARTITIONS[:3]}, [every], [])
    assert found(few) == ({*PARTITIONS[:3]}, [], [len(few)])
    assert found(PARTITIONS, sketches=True) == ({*PARTITIONS[:3]}, [], [every])
    both = {(name, "id"): {**row, "ENGINE": of} for name, of in zip(PARTITIONS, ("hive", "impala"), strict=False)}
    packing.write(both, {})
    assert found(PARTITIONS) == ({*PARTITIONS[:2]}, [every], [every])
