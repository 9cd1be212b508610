"""The model in Arrow's form and back; which numbers are called exact; statistics that others wrote."""

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outlets import examples
from tests.outlets.strategies import table_statistics

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets import arrow
from hmstats.outlets.arrow.build import Statistic
from hmstats.outlets.arrow.of_model import from_model, to_model

ALL_ROWS = Provenance(exact=False, sample_fraction=1.0, tool="hmstats 1")
EXACT = Provenance(exact=True)


def of_one(type_: str, data: Data, made: Provenance | None) -> TableStatistics:
    column = ColumnStatistics("c", type_, data, None, made)
    return TableStatistics(columns=(Column("c", type_),), statistics=StatisticsSet((column,)))


def arrows(found: TableStatistics) -> dict[str, tuple[object, pa.DataType]]:
    """Those of Arrow's names and of the counts of trues, of the only column."""
    wanted = ("ARROW:", "HMSTATS:true", "HMSTATS:false")
    return {each.name: (each.value, each.type) for each in from_model(found) if each.name.startswith(wanted)}


@given(table_statistics())
def test_all_that_the_model_has_comes_back(found: TableStatistics) -> None:
    built = arrow.statistics_array(found)
    built.validate(full=True)
    assert arrow.table_statistics(built) == found
    assert arrow.table_statistics(pa.RecordBatch.from_struct_array(built)) == found


@given(st.lists(table_statistics(), max_size=3))
def test_targets_of_one_stream_come_back(found: list[TableStatistics]) -> None:
    schema, batches = arrow.statistics_batches(found)
    assert all(batch.schema == schema for batch in batches)
    assert [arrow.table_statistics(batch) for batch in batches] == found


def test_a_distinct_count_of_0_beside_values_is_left_out() -> None:
    found = arrows(of_one("int", LongStatistics(low=1, high=9, ndv=0), ALL_ROWS))
    assert "ARROW:min_value:exact" in found
    assert not [each for each in found if each.startswith("ARROW:distinct_count")]


def test_the_whole_comes_first_and_then_columns_by_number() -> None:
    columns = (Column("s", "struct<a:int,b:array<int>>"), Column("x", "int"))
    statistics = StatisticsSet((ColumnStatistics("x", "int", LongStatistics(nulls=1)),), "k=1", "impala", 5)
    name = TableName("hive", "db", "t")
    found = from_model(TableStatistics(name=name, columns=columns, statistics=statistics, rows=7, rows_exact=True))
    assert found[0] == Statistic(None, "ARROW:row_count:exact", 7, pa.int64())
    assert [each.value for each in found if each.column is None] == [7, "hive", "db", "t", "k=1", "impala", 5]
    assert sorted({each.column for each in found if each.column is not None}) == [0, 4]
    assert ("HMSTATS:column_type", "struct<a:int,b:array<int>>") in {(each.name, each.value) for each in found}


def test_a_number_is_exact_only_where_that_is_known() -> None:
    data = LongStatistics(low=1, high=9, nulls=2, ndv=5)
    names = ["min_value", "max_value", "null_count", "distinct_count"]
    for made, expected in [
        (EXACT, [1, 9, 2, 5]),
        (ALL_ROWS, [1, 9, 2, 5.0]),
        (Provenance(sample_fraction=1.0), [1, 9, 2, 5.0]),
        (Provenance(exact=False, sample_fraction=0.5), [1, 9, 2.0, 5.0]),
        (Provenance(tool="hmstats 1"), [1, 9, 2.0, 5.0]),
        (None, [1, 9, 2.0, 5.0]),
    ]:
        found = arrows(of_one("int", data, made))
        counted = made is EXACT or (made is not None and made.sample_fraction == 1)
        exact = [counted, counted, counted, made is EXACT]
        variants = [f"ARROW:{name}:{'exact' if one else 'approximate'}" for name, one in zip(names, exact, strict=True)]
        assert list(found) == variants
        assert [value for value, _ in found.values()] == expected
        types = [
            pa.int64(),
            pa.int64(),
            pa.int64() if counted else pa.float64(),
            pa.int64() if exact[3] else pa.float64(),
        ]
        assert [type_ for _, type_ in found.values()] == types


def test_lengths_are_exact_where_they_are_known_to_be_bytes() -> None:
    data = StringStatistics(max_length=9, average_length=2.5)
    ours = {"ARROW:max_byte_width:exact": (9, pa.int64()), "ARROW:average_byte_width:exact": (2.5, pa.float64())}
    others = {
        "ARROW:max_byte_width:approximate": (9.0, pa.float64()),
        "ARROW:average_byte_width:approximate": (2.5, pa.float64()),
    }
    assert arrows(of_one("string", data, ALL_ROWS)) == ours
    assert arrows(of_one("string", data, EXACT)) == others
    assert arrows(of_one("string", data, Provenance(exact=False, tool="hmstats 1"))) == others


def test_counts_of_booleans_are_ours() -> None:
    assert arrows(of_one("boolean", BooleanStatistics(trues=1, falses=2, nulls=3), EXACT)) == {
        "HMSTATS:true_count:exact": (1, pa.int64()),
        "HMSTATS:false_count:exact": (2, pa.int64()),
        "ARROW:null_count:exact": (3, pa.int64()),
    }


@pytest.mark.parametrize(
    ("type_", "data", "held"),
    [
        ("smallint", LongStatistics(low=-4), ("exact", -4, pa.int64())),
        ("float", DoubleStatistics(low=0.5), ("exact", 0.5, pa.float64())),
        ("decimal(5,2)", DecimalStatistics(low=Decimal("1.5")), ("exact", Decimal("1.50"), pa.decimal128(5, 2))),
        ("timestamp", TimestampStatistics(low=2), ("approximate", 2_000_000, pa.timestamp("us"))),
        ("timestamp", LongStatistics(low=-2), ("exact", -2_000_000, pa.timestamp("us"))),
    ],
)
def test_bounds_have_their_columns_type(type_: str, data: Data, held: tuple[str, object, pa.DataType]) -> None:
    variant, value, arrow_type = held
    assert arrows(of_one(type_, data, EXACT)) == {f"ARROW:min_value:{variant}": (value, arrow_type)}


def test_a_bound_that_its_type_cannot_hold_is_left_out() -> None:
    too_far: list[tuple[str, Data]] = [
        ("decimal(5,2)", DecimalStatistics(low=Decimal(1000), high=Decimal("0.001"))),
        ("timestamp", TimestampStatistics(low=-(2**62), high=2**62)),
        ("bigint", LongStatistics(low=-(2**63) - 1, high=2**63)),
    ]
    for type_, data in too_far:
        assert arrows(of_one(type_, data, EXACT)) == {}


def test_statistics_of_a_column_that_is_gone_are_left_out() -> None:
    found = of_one("int", LongStatistics(nulls=1), EXACT)
    renamed = replace(found, columns=(Column("d", "int"),))
    assert to_model(from_model(renamed)).statistics.columns == ()
    assert len(to_model(from_model(replace(found, columns=(Column("C", "INT"),)))).statistics.columns) == 1


def test_a_type_that_cannot_be_read() -> None:
    with pytest.raises(InvalidInput, match="array<"):
        from_model(of_one("array<", LongStatistics(), None))


def test_statistics_of_others_come_with_the_schema_of_their_data() -> None:
    with pytest.raises(InvalidInput, match="must name every column, or come with the schema of their data"):
        to_model(examples.COMPLEX)
    found = to_model(examples.COMPLEX, examples.COMPLEX_DATA.schema)
    assert (found.rows, found.rows_exact, found.name) == (3, True, None)
    assert [each.name for each in found.columns] == ["col1", "col2"]
    exact, by_names = Provenance(exact=True), {each.column: each for each in found.statistics.columns}
    assert by_names == {
        "col1.a": ColumnStatistics("col1.a", "int", LongStatistics(low=0, high=5, nulls=0, ndv=3)),
        "col1.b.item": ColumnStatistics("col1.b.item", "bigint", LongStatistics(low=20, high=99), None, exact),
        "col1.c": ColumnStatistics("col1.c", "double", DoubleStatistics(low=-3.0, high=3.0, nulls=1)),
        "col2": ColumnStatistics("col2", "string", StringStatistics(nulls=1, ndv=2), None, exact),
    }


def test_an_exact_value_wins_and_estimates_are_rounded() -> None:
    schema = pa.schema([("a", pa.int64())])
    found = to_model(
        [
            Statistic(0, "ARROW:null_count:exact", 3, pa.int64()),
            Statistic(0, "ARROW:null_count:approximate", 8.0, pa.float64()),
            Statistic(0, "ARROW:distinct_count:approximate", 4.4, pa.float64()),
            Statistic(0, "ARROW:min_value:exact", 2.5, pa.float64()),
            Statistic(0, "ARROW:max_value:exact", 7.5, pa.float64()),
            Statistic(0, "ARROW:sum:exact", 1, pa.int64()),
            Statistic(0, "OTHERS:tool", 1, pa.int64()),
            Statistic(7, "ARROW:null_count:exact", 3, pa.int64()),
        ],
        schema,
    )
    (column,) = found.statistics.columns
    assert column.data == LongStatistics(low=2, high=8, nulls=3, ndv=4)


@pytest.mark.parametrize("value", ["text", float("nan"), float("inf"), b"x"])
def test_values_that_make_no_sense_are_unknown(value: object) -> None:
    schema = pa.schema([("a", pa.int64())])
    names = ["null_count", "distinct_count", "min_value", "max_value", "row_count"]
    given_statistics = [Statistic(0, f"ARROW:{name}:exact", value, pa.null()) for name in names]
    whole = [Statistic(None, "ARROW:row_count:exact", value, pa.null()), Statistic(0, "HMSTATS:tool", 5, pa.int64())]
    found = to_model([*given_statistics, *whole], schema)
    assert found.statistics.columns[0].data == LongStatistics()
    assert found.rows is None


def test_all_but_the_distinct_count_called_exact_means_that_all_rows_were_seen() -> None:
    schema = pa.schema([("a", pa.int64())])
    counted = Statistic(0, "ARROW:null_count:exact", 3, pa.int64())
    estimated = Statistic(0, "ARROW:distinct_count:approximate", 4.0, pa.float64())
    (column,) = to_model([counted, estimated], schema).statistics.columns
    assert column.provenance == Provenance(exact=False, sample_fraction=1.0)
    (column,) = to_model([estimated], schema).statistics.columns
    assert column.provenance is None
