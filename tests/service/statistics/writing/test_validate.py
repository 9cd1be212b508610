"""What makes column statistics unacceptable, and in which words."""

import math
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidInput, MetaError
from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.statistics.column_statistics import (
    KINDS,
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
from hmstats.model.statistics.flat_statistics import FIELDS
from hmstats.model.statistics.statistics_by_field import FieldValues, KindOfColumn, StatisticsByField
from hmstats.service.statistics.writing.validate import (
    are_plain,
    check_sketches,
    check_statistics,
    exact_rows,
    have_sound_sketches,
)
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram

NAME = TableName("hive", "db", "t")
COLUMNS = (
    Column("Id", "bigint"),
    Column("name", "string"),
    Column("flag", "boolean"),
    Column("price", "decimal(10,2)"),
    Column("ratio", "double"),
    Column("at", "timestamp"),
    Column("tags", "array<string>"),
)


def check(column: str, column_type: str, data: Data, rows: int | None = None) -> tuple[ColumnStatistics, ...]:
    return check_statistics(NAME, COLUMNS, [ColumnStatistics(column, column_type, data)], rows)


def are_plain_too(column: str, column_type: str, data: Data, rows: int | None = None) -> bool:
    """The same question about many: the second of two partitions has these, the first unknown ones."""
    known = {field: (None, getattr(data, field)) for field in FIELDS[KINDS[type(data)]]}
    kind = KINDS[type(data)]
    group = FieldValues(kind, [0, 1], known)
    given = StatisticsByField(["p=1", "p=2"], "hive", [KindOfColumn(column, column_type, kind)], [group])
    return are_plain(COLUMNS, given, [None, rows])


@given(
    st.sampled_from(["id", "name", "flag", "price", "ratio", "at", "tags", "nope"]),
    st.sampled_from(["bigint", "string", "boolean", "decimal(10,2)", "double", "timestamp", "array<string>", "int"]),
    st.data(),
    st.none() | st.integers(0, 3),
)
def test_what_is_plain_is_checked_and_stays_as_it_is(
    column: str, column_type: str, data: st.DataObject, rows: int | None
) -> None:
    counts = st.none() | st.integers(-2, 4) | st.sampled_from([2**63 - 1, 2**63])
    lengths = st.none() | st.sampled_from([-1.5, -0.0, 2.5, math.nan, math.inf])
    given_ = data.draw(
        st.builds(LongStatistics, nulls=counts, ndv=counts)
        | st.builds(BooleanStatistics, trues=counts, falses=counts, nulls=counts)
        | st.builds(StringStatistics, max_length=counts, average_length=lengths, nulls=counts, ndv=counts)
        | st.builds(DoubleStatistics, low=st.just(math.nan), nulls=counts, ndv=counts)
        | st.builds(TimestampStatistics, low=counts, nulls=counts)
    )
    try:
        stays = check(column, column_type, given_, rows) == (ColumnStatistics(column, column_type, given_),)
    except (InvalidInput, MetaError):
        stays = False
    plain = are_plain_too(column, column_type, given_, rows)
    assert not plain or stays
    # Doubles of integers are a special case.
    assert plain == stays or (isinstance(given_, DoubleStatistics) and column == "id")


def test_statistics_that_fit_are_taken_as_they_are() -> None:
    given = ColumnStatistics("id", "bigint", LongStatistics(low=-1, high=1, nulls=0, ndv=2))
    assert check_statistics(NAME, COLUMNS, [given], 10) == (given,)


def test_everything_may_be_unknown() -> None:
    for column, kind, data in (("id", "bigint", LongStatistics()), ("name", "string", StringStatistics())):
        assert check(column, kind, data, 0)[0].data == data


def test_an_unknown_column_is_named_with_its_table() -> None:
    with pytest.raises(MetaError, match="Column nope doesn't exist in table t in database db"):
        check("nope", "bigint", LongStatistics())


@pytest.mark.parametrize(
    ("column", "data", "expected", "found"),
    [
        ("id", StringStatistics(), "longStats", "stringStats"),
        ("name", LongStatistics(), "stringStats", "longStats"),
        ("ratio", DecimalStatistics(), "doubleStats", "decimalStats"),
        ("id", TimestampStatistics(), "longStats", "timestampStats"),
        ("tags", StringStatistics(), "no statistics at all", "stringStats"),
    ],
)
def test_another_kind_than_the_columns_is_refused(column: str, data: Data, expected: str, found: str) -> None:
    with pytest.raises(InvalidInput, match=f"Column {column} of table hive.db.t .*expected {expected}, found {found}"):
        check(column, "whatever", data)


def test_the_longs_of_older_writers_become_a_timestamps() -> None:
    (stored,) = check("at", "timestamp", LongStatistics(low=1, high=2, nulls=3, ndv=4))
    assert stored.data == TimestampStatistics(low=1, high=2, nulls=3, ndv=4)


def test_a_type_that_says_another_kind_gives_way_to_the_columns_own() -> None:
    assert check("id", "string", LongStatistics())[0].column_type == "bigint"
    assert check("id", "int", LongStatistics())[0].column_type == "int"


@pytest.mark.parametrize(
    ("column", "data", "field"),
    [
        ("id", LongStatistics(nulls=-2), "nulls"),
        ("id", LongStatistics(ndv=-7), "ndv"),
        ("flag", BooleanStatistics(trues=-3), "trues"),
        ("name", StringStatistics(max_length=-5), "max_length"),
        ("name", StringStatistics(average_length=-0.5), "average_length"),
        ("name", StringStatistics(average_length=float("nan")), "average_length"),
    ],
)
def test_an_impossible_count_is_refused_by_field_and_value(column: str, data: Data, field: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field} of column {column} of table hive.db.t must be 0 or more, found "):
        check(column, "x", data)


@pytest.mark.parametrize("length", [1e308, float("inf")])
def test_a_count_that_is_too_large_is_refused_by_what_it_may_be(length: float) -> None:
    with pytest.raises(InvalidInput, match=f"must be at most 9223372036854775807, found {re.escape(str(length))}"):
        check("name", "x", StringStatistics(average_length=length))


def test_bounds_the_wrong_way_round_are_stored_as_sent() -> None:
    for data in (LongStatistics(low=2, high=1), LongStatistics(low=1, high=2)):
        assert check("id", "bigint", data)[0].data is data


def test_nulls_above_the_rows_are_refused_where_the_rows_are_exact() -> None:
    with pytest.raises(
        InvalidInput, match=r"column id of table hive.db.t can have at most the table's 10 rows, found 11"
    ):
        check("id", "bigint", LongStatistics(nulls=11), 10)
    assert check("id", "bigint", LongStatistics(nulls=11), None)


def test_a_booleans_values_count_as_rows_too() -> None:
    with pytest.raises(InvalidInput, match="found 11 nulls and values"):
        check("flag", "boolean", BooleanStatistics(trues=5, falses=5, nulls=1), 10)


@pytest.mark.parametrize(
    ("parameters", "rows"),
    [
        ({}, None),
        ({"numRows": "5"}, None),
        ({"numRows": "5", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}, 5),
        ({"numRows": "-1", "COLUMN_STATS_ACCURATE": "TRUE"}, None),
        ({"COLUMN_STATS_ACCURATE": "TRUE"}, None),
        ({"numRows": "5", "COLUMN_STATS_ACCURATE": '{"COLUMN_STATS":{"id":"true"}}'}, None),
    ],
)
def test_rows_are_exact_only_where_the_parameters_say_so(parameters: dict[str, str], rows: int | None) -> None:
    assert exact_rows(parameters) == rows


def sets_with(partition: str | None, data: Data) -> list[StatisticsSet]:
    sound = LongStatistics(bit_vector=HiveHll().to_bytes(), histogram=KllHistogram().to_bytes())
    columns = ColumnStatistics("id", "bigint", sound), ColumnStatistics("ratio", "double", data)
    return [StatisticsSet(columns[:1], partition), StatisticsSet(columns, partition)]


@pytest.mark.parametrize("sketch", [HiveHll().to_bytes(), b"HL", b"FM\x01\x00\x07\x00\x00\x00"])
def test_sound_sketches_pass(sketch: bytes) -> None:
    check_sketches(NAME, sets_with("p=1", DoubleStatistics(bit_vector=sketch)))


@pytest.mark.parametrize(
    "sketch", [b"H", b"HLL", b"HLL\xc3\x01", b"HLL\xc0\x01\x02\x01", b"FM\x02\x00\x01", b"nonsense"]
)
def test_a_corrupt_bit_vector_is_named_with_its_place(sketch: bytes) -> None:
    data = DoubleStatistics(bit_vector=sketch)
    with pytest.raises(InvalidInput, match=r"bit vector of column ratio of partition p=1 of table hive\.db\.t"):
        check_sketches(NAME, sets_with("p=1", data))
    with pytest.raises(InvalidInput, match=r"bit vector of column ratio of table hive\.db\.t"):
        check_sketches(NAME, sets_with(None, data))


@pytest.mark.parametrize("histogram", [b"K", b"\x05\x01\x0f\x00", KllHistogram().to_bytes() + b"\x00"])
def test_a_corrupt_histogram_is_named_with_its_place(histogram: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"histogram of column ratio of partition p=1 of table hive\.db\.t"):
        check_sketches(NAME, sets_with("p=1", DoubleStatistics(histogram=histogram)))


MANY = 5_000_000
KLL_OF_MANY = bytes([5, 1, 15, 0, 0xFF, 0xFF, 8, 0]) + MANY.to_bytes(8, "little") + b"\xff\xff\x01\0" + bytes(12)
MALFORMED = {
    "sparse": {"bit_vector": b"HLL\x40" + b"\x01" * MANY},
    "sparse of unfinished numbers": {"bit_vector": b"HLL\x40" + b"\xff" * MANY},
    "dense": {"bit_vector": b"HLL\x46" + bytes(MANY)},
    "a byte for each register": {"bit_vector": b"HLL\x07" + bytes(MANY)},
    "FM": {"bit_vector": b"FM\xff\xff" + bytes(MANY)},
    "no sketch": {"bit_vector": bytes(MANY)},
    "KLL": {"histogram": KLL_OF_MANY + bytes(MANY)},
    "KLL of falling values": {"histogram": KLL_OF_MANY + b"\0\0\x80\x7f\0\0\x80\xff" * (MANY // 8)},
    "KLL of no length": {"histogram": KLL_OF_MANY + bytes(MANY + 1)},
    "KLL of one value": {"histogram": bytes([2, 2, 15, 4, 200, 0, 8, 0]) + bytes(MANY)},
    "top-k": {"top_k": TopK().to_bytes() + bytes(MANY)},
    "top-k that claims items": {"top_k": bytes([4, 1, 10, 21, 21, 0, 0, 0]) + b"\xff\xff\xff\x7f" + bytes(MANY)},
}
"""Five megabytes that claim to be a sketch, in each form that is read."""


@pytest.mark.parametrize("form", MALFORMED)
def test_megabytes_that_claim_to_be_a_sketch_are_refused_before_they_are_expanded(form: str) -> None:
    ((field, data),) = MALFORMED[form].items()
    of = MALFORMED[form].get
    numbers = DoubleStatistics(bit_vector=of("bit_vector"), histogram=of("histogram"))
    column = ColumnStatistics("ratio", "double", numbers, top_k=of("top_k"))
    group = FieldValues(column.kind, [0], {field: [data]})
    fields = StatisticsByField(["p=1"], "hive", [KindOfColumn("ratio", "double", column.kind)], [group])
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=r"column ratio of partition p=1 of table hive\.db\.t cannot be read"):
            check_sketches(NAME, [StatisticsSet((column,), "p=1")])
        assert field == "top_k" or not have_sound_sketches(fields)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * MANY
    finally:
        tracemalloc.stop()
