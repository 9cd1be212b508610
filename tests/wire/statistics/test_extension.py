"""The structs of hmstats.thrift and the model: what goes one way comes back the other."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import column_statistics

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.answers import ColumnProvenance, DistinctCount, Quantiles
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, LongStatistics, StatisticsSet
from hmstats.model.statistics.frequent_values import FrequentValue, FrequentValues
from hmstats.model.statistics.provenance import Provenance
from hmstats.wire.idl import SERVICE, extension, hive_metastore, methods
from hmstats.wire.statistics import extension as codec

NAME = TableName("hive", "db", "t")
COUNTS = st.integers(0, 2**63 - 1)
FLOATS = st.floats(allow_nan=False)
PROVENANCES = st.builds(
    Provenance,
    exact=st.none() | st.booleans(),
    ndv_standard_error=st.none() | st.floats(0, allow_nan=False),
    rows_seen=st.none() | COUNTS,
    sample_fraction=st.none() | st.floats(0, 1),
    writer=st.none() | st.text(),
    tool=st.none() | st.text(),
    written_at_seconds=st.none() | COUNTS,
)
DISTINCT = st.builds(
    DistinctCount, COUNTS, st.none() | st.floats(0), st.none() | COUNTS, st.none() | COUNTS, st.none() | st.booleans()
)
TUPLES = st.lists(FLOATS).map(tuple)
QUANTILES = st.builds(Quantiles, TUPLES, TUPLES, TUPLES, st.floats(0, 1), COUNTS, st.booleans())


def test_it_extends_hives_service_with_hives_own_structs() -> None:
    assert extension.hive_metastore is hive_metastore
    about_running_writes = {"put_partial_states", "get_partial_states", "remove_partial_states"}
    about_locks = {"lock_statistics", "unlock_statistics", "get_statistics_locks"}
    about_preferences = {"change_preferences", "get_preferences"}
    about_health = {"get_partition_health", "get_statistics_health"}
    about_runs = {"begin_statistics_run", "end_statistics_run", "get_statistics_runs", "renew_statistics_run"}
    about_pending = {"get_pending_statistics", "list_pending_statistics", "publish_statistics", "reject_statistics"}
    own = set(methods()) - set(SERVICE.thrift_services)
    assert own == {
        "check_access",
        "get_arrow_statistics",
        "get_distinct_count",
        "get_quantiles",
        "get_top_k",
        "get_merged_statistics",
        "get_provenance",
        "get_statistics",
        "set_statistics",
        "get_statistics_history",
        "get_past_statistics",
        "restore_statistics",
        *about_locks,
        *about_preferences,
        *about_pending,
        *about_health,
        *about_runs,
        "record_blame",
        "get_blame",
        *about_running_writes,
    }
    about_one_column = {"get_distinct_count", "get_quantiles", "get_top_k"}
    others = about_running_writes | about_locks | about_preferences | about_pending | about_health | about_runs
    others |= {"record_blame", "get_blame"}
    for name in own - others:
        throws = {each.__name__ for each in methods()[name].throws}
        assert {"NoSuchObjectException", "InvalidInputException", "MetaException"} <= throws
        assert ("MissingStatisticsException" in throws) == (name in about_one_column)


@given(DISTINCT, QUANTILES, PROVENANCES, st.none() | st.text())
def test_answers_come_back(
    distinct: DistinctCount, quantiles: Quantiles, made: Provenance, partition: str | None
) -> None:
    assert codec.distinct_count_from_thrift(codec.distinct_count_to_thrift(distinct)) == distinct
    assert codec.quantiles_from_thrift(codec.quantiles_to_thrift(quantiles)) == quantiles
    assert codec.provenance_from_thrift(codec.provenance_to_thrift(made)) == made
    found = ColumnProvenance(partition, "c", "impala", made)
    assert codec.column_provenance_from_thrift(codec.column_provenance_to_thrift(found)) == found


@pytest.mark.parametrize(
    ("kind", "value"),
    [(Kind.BOOLEAN, True), (Kind.LONG, -5), (Kind.DOUBLE, 0.25), (Kind.STRING, "ü"), (Kind.BINARY, b"\x00\xff")],
)
def test_frequent_values_come_back_typed(kind: Kind, value: Any) -> None:
    answer = FrequentValues((FrequentValue(value, 3, 5),), 10, 5, exact=False)
    assert codec.frequent_values_from_thrift(codec.frequent_values_to_thrift(kind, answer)) == answer


@given(
    st.lists(column_statistics(), max_size=3, unique_by=lambda each: each.column.lower()),
    st.none() | st.text(min_size=1),
    st.none() | PROVENANCES,
    st.none() | st.binary(min_size=1),
)
def test_sets_come_back_with_their_details(
    columns: list[ColumnStatistics], partition: str | None, made: Provenance | None, top_k: bytes | None
) -> None:
    complete = tuple(replace(each, provenance=made, top_k=top_k) for each in columns)
    given_set = StatisticsSet(complete, partition, "spark")
    structs, details = codec.sets_with_details_to_thrift(NAME, [given_set], stamp=False)
    assert len(details) == (0 if made is None and top_k is None else len(columns))
    plain, _ = codec.sets_with_details_to_thrift(NAME, [replace(given_set, columns=tuple(columns))], stamp=False)
    ((_, expected),) = codec.sets_with_details_from_thrift(plain, [], None)
    ((name, found),) = codec.sets_with_details_from_thrift(structs, details, None)
    assert name == NAME
    assert [(each.provenance, each.top_k) for each in found.columns] == [(made, top_k)] * len(columns)
    assert [each.data for each in found.columns] == [each.data for each in expected.columns]


def one_column(partition: str | None = None) -> list[Any]:
    column = ColumnStatistics("c", "bigint", LongStatistics(nulls=0))
    return codec.sets_with_details_to_thrift(NAME, [StatisticsSet((column,), partition)], stamp=False)[0]  # type: ignore[no-any-return]


def test_the_engine_of_a_request_is_that_of_its_details() -> None:
    (struct,) = one_column()
    struct.engine = None
    details = extension.ColumnDetails(colName="C", topK=b"k")
    ((_, found),) = codec.sets_with_details_from_thrift([struct], [details], "impala")
    assert (found.engine, found.columns[0].top_k) == ("impala", b"k")


@pytest.mark.parametrize(
    "stray",
    [
        extension.ColumnDetails(colName="d", topK=b"k"),
        extension.ColumnDetails(colName="c", partName="p=1", topK=b"k"),
        extension.ColumnDetails(colName="c", engine="impala", topK=b"k"),
    ],
)
def test_details_without_statistics_are_refused(stray: Any) -> None:
    with pytest.raises(InvalidInput, match=f"details of column {stray.colName} must come with its statistics"):
        codec.sets_with_details_from_thrift(one_column(), [stray], None)
    with pytest.raises(InvalidInput, match="must have a colName"):
        codec.sets_with_details_from_thrift(one_column(), [extension.ColumnDetails(topK=b"k")], None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ndvStandardError", -0.1),
        ("ndvStandardError", float("nan")),
        ("sampleFraction", 1.01),
        ("rowsSeen", -1),
        ("tool", b"\xff"),
        ("writer", b"\xff"),
    ],
)
def test_a_provenance_that_makes_no_sense_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{field} of a provenance must be"):
        codec.provenance_from_thrift(extension.Provenance(**{field: value}))
