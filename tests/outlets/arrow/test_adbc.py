"""The form of ADBC's GetStatistics and GetStatisticNames."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.outlets.strategies import table_statistics

from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.statistics.column_statistics import (
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
)
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.arrow import adbc

EXACT = Provenance(exact=True)
COLUMNS = (
    Column("s", "struct<x:int>"),
    Column("l", "bigint"),
    Column("d", "double"),
    Column("n", "decimal(5,2)"),
    Column("t", "string"),
    Column("y", "date"),
)
DATA: dict[str, Data] = {
    "l": LongStatistics(low=1, high=9, nulls=2, ndv=5),
    "d": DoubleStatistics(low=-0.5),
    "n": DecimalStatistics(high=Decimal("1.5")),
    "t": StringStatistics(average_length=2.5, max_length=7),
    "y": DateStatistics(low=-3),
}


def table(name: TableName, made: Provenance | None = EXACT, rows: int = 10) -> TableStatistics:
    types = {each.name: each.type for each in COLUMNS}
    columns = tuple(ColumnStatistics(each, types[each], data, None, made) for each, data in DATA.items())
    return TableStatistics(name=name, columns=COLUMNS, statistics=StatisticsSet(columns), rows=rows, rows_exact=True)


T = TableName("hive", "db", "t")


def standard(found: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    for catalog in found.to_pylist():
        for schema in catalog["catalog_db_schemas"]:
            for each in schema["db_schema_statistics"]:
                if each["statistic_key"] < 1024:
                    yield (catalog["catalog_name"], schema["db_schema_name"], *each.values())


def test_the_schema_is_that_of_adbc_h() -> None:
    schema = adbc.get_statistics([]).schema
    catalog, schemas = schema
    assert (catalog.name, catalog.type, catalog.nullable) == ("catalog_name", pa.string(), True)
    assert schemas.name == "catalog_db_schemas"
    assert (pa.types.is_list(schemas.type), schemas.nullable) == (True, False)
    name, statistics = schemas.type.value_type.fields
    assert (name.name, name.type, name.nullable) == ("db_schema_name", pa.string(), True)
    assert (statistics.name, pa.types.is_list(statistics.type), statistics.nullable) == (
        "db_schema_statistics",
        True,
        False,
    )
    fields = statistics.type.value_type.fields
    assert [(each.name, each.nullable) for each in fields] == [
        ("table_name", False),
        ("column_name", True),
        ("statistic_key", False),
        ("statistic_value", False),
        ("statistic_is_approximate", False),
    ]
    assert [each.type for each in fields[:3]] == [pa.string(), pa.string(), pa.int16()]
    assert fields[4].type == pa.bool_()
    union = fields[3].type
    assert union.mode == "dense"
    members = [union.field(place) for place in range(union.num_fields)]
    assert [(each.name, str(each.type)) for each in members] == [
        ("int64", "int64"),
        ("uint64", "uint64"),
        ("float64", "double"),
        ("binary", "binary"),
    ]


def test_statistics_have_adbcs_keys_and_types() -> None:
    found = adbc.get_statistics([table(T)])
    found.validate(full=True)
    place = ("hive", "db", "t")
    assert list(standard(found)) == [
        (*place, None, 6, 10, False),
        (*place, "l", 4, 1, False),
        (*place, "l", 3, 9, False),
        (*place, "l", 5, 2, False),
        (*place, "l", 1, 5, False),
        (*place, "d", 4, -0.5, False),
        (*place, "n", 3, b"1.50", False),
        (*place, "t", 2, 7.0, True),
        (*place, "t", 0, 2.5, True),
        (*place, "y", 4, -3, False),
    ]


def test_an_estimate_is_flagged() -> None:
    found = {each[3:5]: each[5:] for each in standard(adbc.get_statistics([table(T, made=None)]))}
    assert found["l", 1] == (5.0, True)
    assert found["l", 5] == (2.0, True)
    assert found[None, 6] == (10, False)


def test_tables_stand_under_their_catalog_and_database() -> None:
    names = [
        TableName("hive", "b", "t"),
        TableName("spark", "a", "t"),
        TableName("hive", "a", "u"),
        TableName("hive", "a", "t"),
    ]
    partition = replace(table(T), statistics=StatisticsSet((), "k=1"))
    result = replace(table(T), name=None)
    found = adbc.get_statistics([partition, result, *(table(name) for name in names)])
    found.validate(full=True)
    rows = [
        (row["catalog_name"], [each["db_schema_name"] for each in row["catalog_db_schemas"]])
        for row in found.to_pylist()
    ]
    assert rows == [("hive", ["a", "b"]), ("spark", ["a"])]
    tables = [each["table_name"] for each in found.to_pylist()[0]["catalog_db_schemas"][0]["db_schema_statistics"]]
    assert list(dict.fromkeys(tables)) == ["t", "u"]


@settings(max_examples=40)
@given(st.lists(table_statistics(), max_size=3))
@pytest.mark.slow
def test_everything_has_a_place(found: list[TableStatistics]) -> None:
    made = adbc.get_statistics(found)
    made.validate(full=True)
    expected = {
        str(each.name) for each in found if each.name and each.statistics.partition is None and each.rows is not None
    }
    assert {f"{catalog}.{schema}.{table}" for catalog, schema, table, *_ in standard(made)} >= expected


def test_our_own_names_have_keys_of_their_own() -> None:
    names = adbc.get_statistic_names()
    assert names.schema == pa.schema(
        [pa.field("statistic_name", pa.string(), nullable=False), pa.field("statistic_key", pa.int16(), nullable=False)]
    )
    assert names.to_pylist()[:3] == [
        {"statistic_name": "HMSTATS:true_count", "statistic_key": 1024},
        {"statistic_name": "HMSTATS:false_count", "statistic_key": 1025},
        {"statistic_name": "HMSTATS:bit_vector", "statistic_key": 1026},
    ]
    own = names["statistic_key"].to_pylist()
    assert min(own) >= 1024
    assert len(set(own)) == len(own)
    (catalog,) = adbc.get_statistics([table(T)]).to_pylist()
    keys = {each["statistic_key"] for each in catalog["catalog_db_schemas"][0]["db_schema_statistics"]}
    assert keys - set(range(7)) <= set(own)
