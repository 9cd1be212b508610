"""What the collector pushes, on our server and on real Hives."""

import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore

from hmstats import __version__, client
from hmstats.collector.plan import Piece, Plan
from hmstats.collector.publish import publish
from hmstats.collector.report import Finding
from hmstats.errors import UnknownCall
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import Kind
from hmstats.model.frequent_values import FrequentValue
from hmstats.sketch.accumulator import TableAccumulator

TYPES = {"l": "bigint", "b": "boolean"}


def finding(*numbers: int) -> Finding:
    made = TableAccumulator.empty({"l": Kind.LONG, "b": Kind.BOOLEAN})
    made.update(pa.table({"l": pa.array(numbers, pa.int64()), "b": [True] * len(numbers)}))
    return Finding(made.rows, 10, 1, made.statistics(TYPES))


def plan(metastore: Metastore, *partitions: str) -> Plan:
    pieces = tuple(Piece(f"k={each}", (each,), "", parquet=True) for each in partitions)
    name = TableName("hive", metastore.database, "t")
    return Plan(name, ("k",) if partitions else (), TYPES, {}, pieces, {})


def test_sketches_and_provenance_reach_hmstats_and_hive_gets_the_rest(metastore: Metastore) -> None:
    metastore.table("t", TYPES, keys=("k",))
    metastore.add_partitions(("0",), ("1",), columns=TYPES)
    made = plan(metastore, "0", "1")
    pieces = {"k=0": finding(1, 1, 2), "k=1": finding(1, 3)}
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        for _ in range(2):
            publish(service, made, pieces, finding(1, 1, 2, 1, 3))
        stored = {each.partition: each for each in service.partition_statistics(made.table, ["l"], pieces)}
        assert {name: getattr(each.columns[0].data, "high", None) for name, each in stored.items()} == {
            "k=0": 2,
            "k=1": 3,
        }
        if not metastore.ours:
            with pytest.raises(UnknownCall):
                service.top_k(made.table, "l")
            return
        assert service.top_k(made.table, "l", 1).values == (FrequentValue(1, 3, 3),)
        assert service.distinct_count(made.table, "l").count == 3
        found = {each.column: each.provenance for each in service.provenance(made.table, partitions=["k=0"])}
        assert {each.rows_seen for each in found.values()} == {3}
        assert {each.sample_fraction for each in found.values()} == {1.0}
        assert {each.tool for each in found.values()} == {f"hmstats {__version__}"}
        assert {column: each.exact for column, each in found.items()} == {"b": True, "l": False}
        assert {each.provenance.rows_seen for each in service.provenance(made.table)} == {5}
