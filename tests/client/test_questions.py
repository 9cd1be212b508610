"""The client's calls beyond Hive's: on our server answers, on a real Hive a clear sentence."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.connection.batches import PARTITIONS_A_CALL
from hmstats.errors import CallRefused, UnknownCall
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, StatisticsSet
from hmstats.model.statistics.frequent_values import FrequentValue
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import ColumnAccumulator

MADE = Provenance(exact=False, rows_seen=1_000, sample_fraction=0.5, tool="tests 1")
COLUMNS = {"l": "bigint", "s": "string"}


def collected(values: Any, made: Provenance | None = MADE) -> ColumnStatistics:
    accumulator = ColumnAccumulator.empty(Kind.LONG)
    accumulator.update(pa.array(values))
    assert accumulator.top_k is not None
    return ColumnStatistics("l", "bigint", accumulator.statistics(), accumulator.top_k.to_bytes(), made)


PARTS = {f"k={number}": collected(np.arange(number * 500, number * 500 + 1_000)) for number in range(3)}


def connected(metastore: Metastore) -> client.Metastore:
    return client.connect(f"thrift://127.0.0.1:{metastore.port}")


@pytest.fixture
def service(our_metastore: Metastore) -> Iterator[client.Metastore]:
    with connected(our_metastore) as found:
        yield found


@pytest.fixture
def name(our_metastore: Metastore) -> TableName:
    """A table with three partitions, each with statistics of 1,000 longs, 500 of which the next one has too."""
    our_metastore.table("t", COLUMNS, keys=("k",))
    our_metastore.add_partitions(("0",), ("1",), ("2",), columns=COLUMNS)
    made = TableName("hive", our_metastore.database, "t")
    with connected(our_metastore) as service:
        sets = (StatisticsSet((column,), partition) for partition, column in PARTS.items())
        service.put_partition_statistics(made, sets)
    return made


def test_questions_are_answered_over_any_partitions(service: client.Metastore, name: TableName) -> None:
    whole = service.distinct_count(name, "l")
    assert whole.low is not None
    assert whole.high is not None
    assert whole.low <= 2_000 <= whole.high
    assert service.distinct_count(name, "L", ["k=0", "k=1"]).count == pytest.approx(1_500, rel=0.05)
    quantiles = service.quantiles(name, "l", [0, 0.5, 1], ["k=1", "k=2"])
    assert list(quantiles.values) == pytest.approx([500, 1_250, 1_999], abs=60)
    assert (quantiles.values[0], quantiles.values[-1]) == (500, 1_999)
    assert quantiles.count == 2_000


def test_frequent_values_are_typed(service: client.Metastore, name: TableName) -> None:
    service.put_partition_statistics(name, [StatisticsSet((collected([7] * 5 + [8]),), "k=0")])
    found = service.top_k(name, "l", 1, ["k=0"])
    assert found.values == (FrequentValue(7, 5, 5),)
    assert (found.count, found.unlisted, found.exact) == (6, 1, True)
    assert len(service.top_k(name, "l", partitions=["k=0"]).values) == 2


def test_statistics_come_back_with_sketches_and_provenance(service: client.Metastore, name: TableName) -> None:
    (found,) = service.statistics(name, ["l"], ["k=1"])
    (column,) = found.columns
    assert (column.data, column.top_k) == (PARTS["k=1"].data, PARTS["k=1"].top_k)
    assert column.provenance is not None
    assert column.provenance.writer
    assert column.provenance.written_at_seconds
    assert column.provenance.ndv_standard_error == pytest.approx(0.01625)
    said = replace(column.provenance, writer=None, written_at_seconds=None, ndv_standard_error=None)
    assert said == MADE
    assert [each.partition for each in service.statistics(name, None, [])] == ["k=0", "k=1", "k=2"]
    assert [each.partition for each in service.provenance(name, partitions=["k=2", "k=0"])] == ["k=0", "k=2"]


def test_a_table_has_its_own(service: client.Metastore, name: TableName) -> None:
    assert service.provenance(name) == []
    service.put_table_statistics(name, StatisticsSet((collected([1, 1]),)))
    (found,) = service.provenance(name)
    assert (found.partition, found.column, found.provenance.tool) == (None, "l", "tests 1")
    (own,) = service.statistics(name)
    assert own.partition is None
    assert own.columns[0].top_k == collected([1, 1]).top_k


def test_statistics_of_many_partitions_come_in_batches(service: client.Metastore, our_metastore: Metastore) -> None:
    our_metastore.table("many", COLUMNS, keys=("k",))
    values = [(f"{number:04d}",) for number in range(PARTITIONS_A_CALL + 3)]
    our_metastore.add_partitions(*values, table="many", columns=COLUMNS)
    many = TableName("hive", our_metastore.database, "many")
    names = [f"k={value}" for (value,) in values]
    column = collected([1, 2])
    service.put_partition_statistics(many, (StatisticsSet((column,), each) for each in names))
    assert [each.partition for each in service.statistics(many, ["l"], names)] == names
    assert service.top_k(many, "l", 1).values == (FrequentValue(1, len(names), len(names)),)


def test_what_is_missing_is_said_with_its_remedy(service: client.Metastore, name: TableName) -> None:
    with pytest.raises(CallRefused, match=r"ANALYZE TABLE \S+\.t PARTITION \(k\) COMPUTE STATISTICS FOR COLUMNS s"):
        service.top_k(name, "s")
    with pytest.raises(CallRefused) as error:
        service.distinct_count(name, "s", ["k=1"])
    assert error.value.kind == "MissingStatisticsException"
    assert not isinstance(error.value, UnknownCall)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda service, name: service.top_k(name, "nope"), "NoSuchObjectException"),
        (lambda service, name: service.quantiles(name, "l", [2]), "InvalidInputException"),
        (lambda service, name: service.top_k(name, "l", 0), "InvalidInputException"),
        (lambda service, name: service.distinct_count(name, "l", ["x=1"]), "MetaException"),
        (lambda service, name: list(service.statistics(replace(name, table="nope"))), "NoSuchObjectException"),
    ],
)
def test_wrong_questions_are_refused(service: client.Metastore, name: TableName, call: Any, kind: str) -> None:
    with pytest.raises(CallRefused) as error:
        call(service, name)
    assert error.value.kind == kind


@pytest.mark.parametrize("top_k", [b"x", b""])
def test_a_corrupt_top_k_sketch_is_refused_and_nothing_is_written(
    service: client.Metastore, name: TableName, top_k: bytes
) -> None:
    wrong = replace(collected([1]), top_k=top_k)
    with pytest.raises(CallRefused, match=r"InvalidInputException: the top-k sketch of column l of partition k=0"):
        service.put_partition_statistics(name, [StatisticsSet((wrong,), "k=0")])
    assert service.distinct_count(name, "l", ["k=0"]).count == pytest.approx(1_000, rel=0.05)


def test_what_another_client_writes_takes_the_old_sketch_with_it(
    our_metastore: Metastore, service: client.Metastore, name: TableName
) -> None:
    with connected(our_metastore) as plain:
        plain._extended = False  # as a client of Hive's, which knows no top-k
        plain.put_partition_statistics(name, [StatisticsSet((collected([3]),), "k=1")])
    with pytest.raises(CallRefused, match=r"partition k=1 of .* has no top-k sketch of column l"):
        service.top_k(name, "l")
    (made,) = service.provenance(name, ["l"], ["k=1"])
    assert (made.provenance.tool, made.provenance.rows_seen, made.provenance.exact) == (None, None, False)
    assert made.provenance.ndv_standard_error == pytest.approx(0.00018, rel=0.01)


def test_a_real_hive_takes_the_statistics_and_says_that_it_knows_no_questions(metastore: Metastore) -> None:
    metastore.table("t", COLUMNS)
    table = TableName("hive", metastore.database, "t")
    with connected(metastore) as service:
        for _ in range(2):
            service.put_table_statistics(table, StatisticsSet((collected([1, 1, 2]),)))
        (found,) = service.table_statistics(table, ["l"])
        assert getattr(found.data, "ndv", None) == 2
        if metastore.ours:
            assert service.distinct_count(table, "l").count == 2
            return
        for call in (
            lambda: service.distinct_count(table, "l"),
            lambda: service.quantiles(table, "l", [0.5]),
            lambda: service.top_k(table, "l"),
            lambda: service.provenance(table),
            lambda: list(service.statistics(table)),
        ):
            with pytest.raises(UnknownCall, match=r"the metastore at thrift://127.0.0.1:\d+ is not hmstats"):
                call()
        assert service.find_table(table) is not None
