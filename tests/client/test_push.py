"""Parcels reach a metastore; what is refused, damaged or older than what is stored is kept and named."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.client.flaky import closed_port
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.parcel import Item, Parcel
from hmstats.client.push import WHOLE_TABLE, Pushed, push_spool, put
from hmstats.client.spool import Spool
from hmstats.errors import ServiceUnavailable
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.provenance import Provenance

COLUMNS = {"l": "bigint"}
AN_HOUR = 3600


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as connected:
        yield connected


@pytest.fixture
def name(metastore: Metastore) -> TableName:
    """A table with three partitions."""
    metastore.table("t", COLUMNS, keys=("k",))
    metastore.add_partitions(("0",), ("1",), ("2",), columns=COLUMNS)
    return TableName("hive", metastore.database, "t")


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(str(tmp_path / "spool"))


def test_a_parcel_is_put_and_putting_it_again_changes_nothing(service: client.Metastore, name: TableName) -> None:
    for _ in range(2):
        assert put(service, parcel(name, "k=0", "k=1", high=5)) == {}
        assert put(service, parcel(name, None, high=6)) == {}
    assert highs(service, name, whole=True) == {"k=0": 5, "k=1": 5, WHOLE_TABLE: 6}
    rows = {each.values: each.parameters.get("numRows") for each in service.partitions(name, ["k=0", "k=2"])}
    assert rows == {("0",): "5", ("2",): None}


def test_what_is_refused_is_named_and_does_not_keep_the_rest(service: client.Metastore, name: TableName) -> None:
    mixed = parcel(name, "k=0", "k=9", "k=2", high=5)
    assert set(put(service, mixed)) == {"k=9"}
    assert highs(service, name) == {"k=0": 5, "k=2": 5}
    assert set(put(service, parcel(replace(name, table="nope"), None))) == {WHOLE_TABLE}


def test_a_spool_folder_is_sent_in_order_and_emptied(service: client.Metastore, name: TableName, spool: Spool) -> None:
    # Each is older than what the one before it writes; they are of one folder, and the last is what counts.
    for number, high in enumerate((5, 6, 7)):
        spool.put(f"{number}.hmstats", parcel(name, "k=0", "k=1", high=high))
    spool.put("9.hmstats", parcel(name, None, high=8))
    done = list(push_spool(service, spool))
    assert done == [
        *(Pushed(f"{number}.hmstats", name, accepted=2) for number in range(3)),
        Pushed("9.hmstats", name, accepted=1),
    ]
    assert highs(service, name, whole=True) == {"k=0": 7, "k=1": 7, WHOLE_TABLE: 8}
    assert spool.names() == []
    assert list(push_spool(service, spool)) == []


def test_newer_statistics_are_not_overwritten_but_with_force(
    service: client.Metastore, name: TableName, spool: Spool
) -> None:
    put(service, parcel(name, "k=0", high=100))
    put(service, parcel(name, None, high=100))
    old = int(time.time()) - AN_HOUR
    spool.put("0.hmstats", parcel(name, "k=0", "k=1", high=5, made_at=old))
    spool.put("1.hmstats", parcel(name, None, high=5, made_at=old))
    done = list(push_spool(service, spool))
    assert [(each.accepted, each.newer, each.kept) for each in done] == [(1, ("k=0",), True), (0, (WHOLE_TABLE,), True)]
    assert highs(service, name, whole=True) == {"k=0": 100, "k=1": 5, WHOLE_TABLE: 100}
    rows = {each.values: each.parameters["numRows"] for each in service.partitions(name, ["k=0", "k=1"])}
    assert rows == {("0",): "100", ("1",): "5"}
    assert spool.get("0.hmstats") == parcel(name, "k=0", high=5, made_at=old)
    assert [each.accepted for each in push_spool(service, spool, force=True)] == [1, 1]
    assert highs(service, name, whole=True) == {"k=0": 5, "k=1": 5, WHOLE_TABLE: 5}
    assert spool.names() == []


def test_older_statistics_are_overwritten(service: client.Metastore, name: TableName, spool: Spool) -> None:
    put(service, parcel(name, "k=0", high=100))
    spool.put("0.hmstats", parcel(name, "k=0", high=5, made_at=int(time.time()) + AN_HOUR))
    assert [each.accepted for each in push_spool(service, spool)] == [1]
    assert highs(service, name) == {"k=0": 5}


def test_what_is_refused_or_damaged_stays_in_the_folder(
    service: client.Metastore, name: TableName, spool: Spool, tmp_path: Path
) -> None:
    spool.put("0.hmstats", parcel(name, "k=0"))
    (tmp_path / "spool" / "0.hmstats").write_bytes(b"hmstats-spool 1 x\n")
    spool.put("1.hmstats", parcel(name, "k=9", "k=1", high=5))
    spool.put("2.hmstats", parcel(replace(name, table="gone"), "k=0"))
    damaged, partly, gone = push_spool(service, spool)
    assert damaged.damaged is not None
    assert "0.hmstats is no file of a spool folder" in damaged.damaged
    assert (partly.accepted, set(partly.refused)) == (1, {"k=9"})
    assert (gone.accepted, set(gone.refused)) == (0, {"k=0"})
    assert highs(service, name) == {"k=1": 5}
    assert spool.names() == ["0.hmstats", "1.hmstats", "2.hmstats"]
    assert [item.partition for item in spool.get("1.hmstats").items] == ["k=9"]


def test_a_metastore_that_is_away_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    spool.put("0.hmstats", parcel(TableName("hive", "d", "t"), "k=0"))
    host, port = closed_port()
    with (
        client.connect(f"thrift://{host}:{port}", retries=0) as service,
        pytest.raises(ServiceUnavailable, match="no metastore can be reached"),
    ):
        list(push_spool(service, spool))
    assert spool.names() == ["0.hmstats"]


def parcel(name: TableName, *partitions: str | None, high: int = 9, made_at: int = 0) -> Parcel:
    column = ColumnStatistics(
        "l", "bigint", LongStatistics(low=0, high=high, nulls=0, ndv=1), provenance=Provenance(rows_seen=high)
    )
    items = tuple(Item(StatisticsSet((column,), each), {"numRows": str(high)}) for each in partitions)
    return Parcel(name, ("k",), items, made_at)


def highs(service: client.Metastore, name: TableName, *, whole: bool = False) -> dict[str, int | None]:
    """The stored upper bounds of the partitions, and with `whole` of the table."""
    sets = service.partition_statistics(name, ["l"], service.partition_names(name))
    found = {each.partition or "": getattr(each.columns[0].data, "high", None) for each in sets}
    if whole:
        (found[WHOLE_TABLE],) = (getattr(each.data, "high", None) for each in service.table_statistics(name, ["l"]))
    return found
