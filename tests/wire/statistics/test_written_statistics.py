"""What is read straight from the bytes of writes is what thriftpy2 and column_statistics.py say, or nothing is read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.requests import encoded
from tests.wire.strategies import DATA

from hmstats.errors import HmstatsError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.statistics import written_statistics
from hmstats.wire.statistics.column_statistics import column_to_thrift, set_to_thrift, sets_from_thrift
from hmstats.wire.statistics.written_statistics import Written

SET, UPDATE = "set_aggr_stats_for", "update_partition_column_statistics"
NAME = TableName("hive", "d", "t")
LONG = LongStatistics(low=-5, high=2**63 - 1, nulls=3, ndv=9)
LONGS = {"lowValue": -5, "highValue": 2**63 - 1, "numNulls": 3, "numDVs": 9}
MEMBERS: dict[str, Any] = {
    "booleanStats": api.BooleanColumnStatsData,
    "longStats": api.LongColumnStatsData,
    "doubleStats": api.DoubleColumnStatsData,
    "stringStats": api.StringColumnStatsData,
    "binaryStats": api.BinaryColumnStatsData,
    "decimalStats": api.DecimalColumnStatsData,
    "dateStats": api.DateColumnStatsData,
    "timestampStats": api.TimestampColumnStatsData,
}
INTEGERS = st.sampled_from([-1, 0, 1, 7, 2**63 - 1, -(2**63)])
VALUES: dict[str, st.SearchStrategy[Any]] = {"avgColLen": st.sampled_from([-1.0, 0.0, 2.5, 1e300])}
SKETCHES = ("bitVectors", "histogram")
BOUNDS: dict[str, st.SearchStrategy[Any]] = {
    "doubleStats": st.floats(allow_nan=False),
    "dateStats": st.builds(lambda days: api.Date(daysSinceEpoch=days), INTEGERS),
    "timestampStats": st.builds(lambda seconds: api.Timestamp(secondsSinceEpoch=seconds), INTEGERS),
    "decimalStats": st.builds(
        lambda unscaled, scale: api.Decimal(unscaled=unscaled, scale=scale),
        st.binary(min_size=1, max_size=3) | st.sampled_from([None, b"", b"\xff" * 128, b"\x01" * 129]),
        st.integers(-300, 300) | st.integers(-300, 300) | st.none(),
    ),
}


def description(**changed: Any) -> Any:
    usual = {"isTblLevel": False, "dbName": "D", "tableName": "T", "partName": "p=1", "catName": None}
    return api.ColumnStatisticsDesc(**(usual | changed))


def longs(name: str = "c", column_type: str = "bigint", **changed: Any) -> Any:
    data = api.ColumnStatisticsData(longStats=api.LongColumnStatsData(**(LONGS | changed)))
    return api.ColumnStatisticsObj(colName=name, colType=column_type, statsData=data)


def booleans(**data: Any) -> Any:
    member = api.BooleanColumnStatsData(numTrues=1, numFalses=1, numNulls=0, **data)
    statistics = api.ColumnStatisticsData(booleanStats=member)
    return api.ColumnStatisticsObj(colName="b", colType="boolean", statsData=statistics)


def of_partition(name: str | None, *objects: Any, **changed: Any) -> Any:
    return api.ColumnStatistics(statsDesc=description(partName=name), statsObj=list(objects), **changed)


def body(method: str, argument: Any) -> bytes:
    """A request's arguments behind three other bytes."""
    arguments = methods()[method].arguments
    name = arguments.thrift_spec[1][1]
    return b"abc" + encoded(arguments(**{name: argument}))


def read(sets: Sequence[Any], **changed: Any) -> Written | None:
    return written_statistics.of_request(body(SET, api.SetPartitionsStatsRequest(colStats=list(sets), **changed)), 3)


def by_thriftpy2(message: bytes) -> list[tuple[TableName, StatisticsSet]] | None:
    """What the ordinary way makes of a request; None where it refuses it."""
    request = decode_arguments(methods()[SET], message, 3)["request"]
    try:
        return sets_from_thrift(request.colStats or [], request.engine)
    except HmstatsError:
        return None


def sets_of(written: Written) -> list[tuple[TableName, StatisticsSet]]:
    return [(written.table, each) for each in written.statistics.sets()]


@st.composite
def members(draw: st.DrawFn) -> dict[str, Any]:
    """Data of a kind, any of whose fields may be missing or say that it is unknown; now and then of two kinds."""
    chosen = draw(
        st.lists(st.sampled_from(sorted(MEMBERS)), min_size=1, max_size=1) | st.just(["longStats", "dateStats"])
    )
    return {member: draw(struct_of(member)) for member in chosen}


def struct_of(member: str) -> st.SearchStrategy[Any]:
    names = [spec[1] for spec in MEMBERS[member].thrift_spec.values()]
    bound = BOUNDS.get(member, INTEGERS)
    fields = {
        name: st.none() | (bound if name in ("lowValue", "highValue") else VALUES.get(name, INTEGERS)) for name in names
    }
    return st.builds(MEMBERS[member], **(fields | {name: SOME_SKETCHES for name in SKETCHES if name in names}))


SOME_SKETCHES = st.sampled_from([None, None, b"", b"HL", b"HLL", b"\0" * 700])


@st.composite
def requests(draw: st.DrawFn) -> Any:
    """Requests of which many are of some partitions with the same columns, and the others are not quite so."""
    names = draw(st.lists(st.text(max_size=3), min_size=1, max_size=3))
    kinds = [draw(members()) for _ in names]
    engine, catalog = draw(st.sampled_from([None, "impala"])), draw(st.sampled_from([None, "Cat"]))
    partitions = draw(st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True))
    sets = []
    for partition in partitions:
        objects = [
            api.ColumnStatisticsObj(
                colName=name,
                colType=draw(st.sampled_from(["BigInt"] * 9 + ["date"])) if place else "é",
                statsData=api.ColumnStatisticsData(
                    **{member: draw(st.just(first) | struct_of(member)) for member, first in data.items()}
                ),
            )
            for place, (name, data) in enumerate(zip(names, kinds, strict=True))
        ]
        described = description(
            partName=partition,
            lastAnalyzed=draw(st.none() | INTEGERS),
            catName=catalog,
            isTblLevel=len(partitions) == 1,
        )
        compliant = draw(st.sampled_from([None, None, True]))
        sets.append(
            api.ColumnStatistics(statsDesc=described, statsObj=objects, engine=engine, isStatsCompliant=compliant)
        )
    engine = draw(st.sampled_from([None, "hive", "spark"]))
    return api.SetPartitionsStatsRequest(colStats=sets, needMerge=draw(st.sampled_from([None, False])), engine=engine)


@given(requests())
def test_what_is_read_is_what_thriftpy2_reads(request: Any) -> None:
    message = body(SET, request)
    written = written_statistics.of_request(message, 3)
    if written is None:
        return
    expected = by_thriftpy2(message)
    assert expected is not None
    if written.of_table:
        expected = [(name, replace(each, partition=None)) for name, each in expected]
    assert sets_of(written) == expected
    assert written.of_table is request.colStats[0].statsDesc.isTblLevel


@st.composite
def plain(draw: st.DrawFn) -> list[StatisticsSet]:
    """Statistics of some columns, of the same columns in each partition."""
    types = draw(st.lists(st.sampled_from(sorted(DATA)), min_size=1, max_size=5))
    names = draw(st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=4, unique=True))
    return [
        StatisticsSet(
            tuple(ColumnStatistics(f"c{place}", kind, draw(DATA[kind])) for place, kind in enumerate(types)),
            name,
        )
        for name in names
    ]


@given(plain(), st.sampled_from([None, "impala"]))
def test_what_is_plain_is_read(sets: list[StatisticsSet], engine: str | None) -> None:
    structs = [set_to_thrift(NAME, each, hive4=True, sketches=True) for each in sets]
    for each in structs:
        each.engine = engine
    written = read(structs, engine="trino", needMerge=False, writeId=-1)
    assert written is not None
    assert sets_of(written) == [(NAME, replace(each, engine=engine or "trino")) for each in sets]


def test_one_set_is_an_argument_too() -> None:
    column = ColumnStatistics("c", "bigint", LONG)
    struct = api.ColumnStatistics(statsDesc=description(), statsObj=[column_to_thrift(column, hive4=True)])
    written = written_statistics.of_set(body(UPDATE, struct), 3)
    assert written is not None
    assert sets_of(written) == [(NAME, StatisticsSet((column,), "p=1"))]


def test_fields_in_another_order_are_read() -> None:
    names = b"\x0b\x00\x01\x00\x00\x00\x01c\x0b\x00\x02\x00\x00\x00\x06bigint\x0c\x00\x03\x0c\x00\x02"
    backwards = b"".join(b"\x0a" + bytes([0, field, 0, 0, 0, 0, 0, 0, 0, field]) for field in (4, 3, 2, 1))
    column = longs(lowValue=1, highValue=2, numNulls=3, numDVs=4)
    usual, unusual = encoded(column), names + backwards + b"\0\0\0"
    message = body(SET, api.SetPartitionsStatsRequest(colStats=[of_partition("p=1", column)]))
    assert message.count(usual) == 1
    changed = message.replace(usual, unusual)
    written = written_statistics.of_request(changed, 3)
    assert written is not None
    assert sets_of(written) == by_thriftpy2(changed) == by_thriftpy2(message)


def unusual_sets() -> Mapping[str, list[Any]]:
    return {
        "nothing": [],
        "other columns": [of_partition("p=1", longs("a")), of_partition("p=2", longs("b"))],
        "another type": [of_partition("p=1", longs("a")), of_partition("p=2", longs("a", "int"))],
        "more columns": [of_partition("p=1", longs("a")), of_partition("p=2", longs("a"), longs("b"))],
        "the same column twice": [of_partition("p=1", longs("a"), longs("A"))],
        "the same partition twice": [of_partition("p=1", longs()), of_partition("p=1", longs())],
        "no partition": [of_partition(None, longs())],
        "no columns": [of_partition("p=1")],
        "a sketch of a kind that has none": [of_partition("p=1", booleans(bitVectors=b"HLL"))],
        "two engines": [of_partition("p=1", longs(), engine="a"), of_partition("p=2", longs(), engine="b")],
        "two tables": [
            of_partition("p=1", longs()),
            api.ColumnStatistics(statsDesc=description(tableName="u", partName="p=2"), statsObj=[longs()]),
        ],
        "no table": [api.ColumnStatistics(statsDesc=description(tableName=None), statsObj=[longs()])],
        "a catalog without a database": [
            api.ColumnStatistics(statsDesc=description(dbName="@cat#"), statsObj=[longs()])
        ],
        "no description": [api.ColumnStatistics(statsObj=[longs()])],
    }


@pytest.mark.parametrize("what", unusual_sets())
def test_what_is_unusual_is_left_to_others(what: str) -> None:
    assert read([of_partition("p=1", longs()), of_partition("p=2", longs())]) is not None
    assert read(unusual_sets()[what]) is None


@pytest.mark.parametrize("changed", [{"needMerge": True}, {"validWriteIdList": "d.t:5:9::"}])
def test_what_is_unusual_in_a_request_is_left_to_others(changed: Mapping[str, Any]) -> None:
    assert read([of_partition("p=1", longs())], **changed) is None


def test_two_sets_of_a_table_are_left_to_others() -> None:
    of_table = api.ColumnStatistics(statsDesc=description(isTblLevel=True, partName=None), statsObj=[longs()])
    (only,) = sets_of(read([of_table]))  # type: ignore[arg-type]
    assert only == (NAME, StatisticsSet((ColumnStatistics("c", "bigint", LONG),), None))
    assert read([of_table, of_table]) is None


@given(st.binary(max_size=60), st.integers(0, 2_000), st.integers(0, 255))
def test_other_bytes_and_half_a_request_raise_nothing(garbage: bytes, place: int, byte: int) -> None:
    sketches: dict[str, Any] = {"bitVectors": b"HLL" + b"x" * 200, "histogram": b"k"}
    sets = [of_partition(f"p={number}", longs("a", **sketches), longs("b")) for number in range(5)]
    whole = body(SET, api.SetPartitionsStatsRequest(colStats=sets))
    assert written_statistics.of_request(whole, 3) is not None
    cut = place % len(whole)
    assert written_statistics.of_request(whole[:cut], 3) is None
    for message in (garbage, b"\x0c\x00\x01" + garbage, whole[:cut] + garbage):
        written_statistics.of_request(message, 0)
        written_statistics.of_set(message, 0)
    changed = whole[:cut] + bytes([byte]) + whole[cut + 1 :]
    written = written_statistics.of_request(changed, 3)
    assert written is None or sets_of(written) == by_thriftpy2(changed)


def _same_columns(partition: str, ndv: int, *, bounds: bool = True, name: str = "c") -> Any:
    """Statistics of three columns; without bounds as of columns without values."""
    changed: dict[str, Any] = {"bitVectors": b"x" * ndv} if bounds else {"lowValue": None, "highValue": None}
    words = api.StringColumnStatsData(maxColLen=ndv, avgColLen=2.5, numNulls=0, numDVs=ndv)
    text = api.ColumnStatisticsObj(
        colName="words", colType="string", statsData=api.ColumnStatisticsData(stringStats=words)
    )
    return of_partition(
        partition, longs(name, numDVs=ndv, **changed), text, longs("last", numNulls=ndv, histogram=b"k" * ndv)
    )


@given(st.lists(st.lists(st.tuples(st.booleans(), st.sampled_from("cd")), min_size=1, max_size=5), max_size=8))
def test_what_comes_again_and_again_is_read_as_at_first(asked: list[list[tuple[bool, str]]]) -> None:
    """Requests of sets with or without bounds, mostly of the same columns."""
    for number, sets in enumerate([[(True, "c")], *asked]):
        made = [
            _same_columns(f"p={place}", number + place, bounds=bounds, name=name)
            for place, (bounds, name) in enumerate(sets)
        ]
        message = body(SET, api.SetPartitionsStatsRequest(colStats=made))
        written = written_statistics.of_request(message, 3)
        alike = len({name for _, name in sets}) == 1
        assert (written is not None) == alike
        if written is not None:
            assert sets_of(written) == by_thriftpy2(message)


def test_a_request_that_ends_in_the_middle_of_what_came_before_is_left_to_others() -> None:
    message = body(UPDATE, _same_columns("p=1", 1))
    for _ in range(3):
        assert written_statistics.of_set(message, 3) is not None
    assert all(written_statistics.of_set(message[:end], 3) is None for end in range(3, len(message)))
