"""Findings reach metastores of every kind; what cannot is kept in the spool folder, and sent later is the same."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from tests.client.flaky import closed_port
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.sending.push import push_spool
from hmstats.client.sending.spool import Spool
from hmstats.collector.delivery.deliver import Delivery, DeliveryResult, deliver, new_run
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.report import Finding
from hmstats.errors import ServiceUnavailable, UnknownCall
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind
from hmstats.model.statistics.frequent_values import FrequentValue
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.version import __version__

TYPES = {"l": "bigint", "b": "boolean"}
FINDINGS = [("k=0", (1, 1, 2)), ("k=1", (1, 3))]


def finding(*numbers: int) -> Finding:
    made = TableAccumulator.empty({"l": Kind.LONG, "b": Kind.BOOLEAN})
    made.update(pa.table({"l": pa.array(numbers, pa.int64()), "b": [True] * len(numbers)}))
    return Finding(made.rows, 10, 1, made.statistics(TYPES))


def delivery(metastore: Metastore, table: str = "t", *, spool: Path | None = None) -> Delivery:
    metastore.table(table, TYPES, keys=("k",))
    metastore.add_partitions(("0",), ("1",), table=table, columns=TYPES)
    name = TableName("hive", metastore.database, table)
    return Delivery(name, ("k",), address(metastore), new_run(), None if spool is None else str(spool))


def test_sketches_and_provenance_reach_hmstats_and_hive_gets_the_rest(metastore: Metastore) -> None:
    to = delivery(metastore)
    for _ in range(2):
        assert deliver(to, [(name, finding(*numbers)) for name, numbers in FINDINGS], 0.5) == DeliveryResult()
        assert deliver(to, [(WHOLE_TABLE, finding(1, 1, 2, 1, 3))]) == DeliveryResult()
    with client.connect(to.metastore) as service:
        stored = {each.partition: each for each in service.partition_statistics(to.table, ["l"], ["k=0", "k=1"])}
        assert {name: getattr(each.columns[0].data, "high", None) for name, each in stored.items()} == {
            "k=0": 2,
            "k=1": 3,
        }
        if not metastore.ours:
            with pytest.raises(UnknownCall):
                service.top_k(to.table, "l")
            return
        assert service.top_k(to.table, "l", 1).values == (FrequentValue(1, 3, 3),)
        assert service.distinct_count(to.table, "l").count == 3
        found = {each.column: each.provenance for each in service.provenance(to.table, partitions=["k=0"])}
        assert {(each.rows_seen, each.sample_fraction) for each in found.values()} == {(3, 0.5)}
        assert {each.tool for each in found.values()} == {f"hmstats {__version__}"}
        whole = {each.column: each.provenance for each in service.provenance(to.table)}
        assert {column: each.exact for column, each in whole.items()} == {"b": True, "l": False}
        assert {each.rows_seen for each in whole.values()} == {5}


@pytest.mark.slow
def test_a_metastore_that_stays_away_is_given_up_once_in_a_run(
    metastore: Metastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is pushed from the spool folder then is what would have been delivered."""
    direct = delivery(metastore, "direct")
    deliver(direct, [(name, finding(*numbers)) for name, numbers in FINDINGS])
    host, port = closed_port()
    waits: list[float] = []
    clock = [0.0]
    monkeypatch.setattr("hmstats.client.connection.connection.monotonic", lambda: clock[0] + sum(waits))
    monkeypatch.setattr("hmstats.client.connection.connection.sleep", waits.append)
    to = delivery(metastore, spool=tmp_path)
    away = replace(to, metastore=f"thrift://{host}:{port}", patience_seconds=60.0)
    assert deliver(away, [(name, finding(*numbers)) for name, numbers in FINDINGS]) == DeliveryResult(spooled=2)
    assert 30 < sum(waits) < 60
    waits.clear()
    assert deliver(away, [(WHOLE_TABLE, finding(1, 1, 2, 1, 3))]) == DeliveryResult(spooled=1)
    assert waits == []
    assert deliver(replace(to, run=new_run()), []) == DeliveryResult()
    with client.connect(address(metastore)) as service:
        assert [(each.accepted, each.remains) for each in push_spool(service, Spool(str(tmp_path)))] == [
            (2, False),
            (1, False),
        ]
        names = ["k=0", "k=1"]
        expected = [columns(each.columns) for each in service.partition_statistics(direct.table, list(TYPES), names)]
        found = [columns(each.columns) for each in service.partition_statistics(to.table, list(TYPES), names)]
    assert found == expected
    assert len(found) == 2


def test_without_a_spool_folder_it_is_an_error(metastore: Metastore) -> None:
    host, port = closed_port()
    away = replace(delivery(metastore), metastore=f"thrift://{host}:{port}", patience_seconds=0.0)
    with pytest.raises(ServiceUnavailable, match=r"no metastore can be reached at .*; there is no spool folder"):
        deliver(away, [("k=0", finding(1))])


def address(metastore: Metastore) -> str:
    return f"thrift://127.0.0.1:{metastore.port}"


def columns(found: tuple[ColumnStatistics, ...]) -> list[object]:
    return [(each.column, each.data) for each in found]
