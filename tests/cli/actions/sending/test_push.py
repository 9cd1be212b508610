"""`hmstats push` sends a spool folder, names what is left, and says it by its exit code too."""

import subprocess
from pathlib import Path

import pytest
from tests.client.flaky import closed_port
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS

from hmstats.client.sending.parcel import Item, Parcel
from hmstats.client.sending.spool import Spool
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(str(tmp_path / "hmstats-spool"))


def test_a_folder_is_sent_and_emptied(our_metastore: Metastore, spool: Spool, tmp_path: Path) -> None:
    spool.put("0.hmstats", parcel(our_metastore, "k=0", "k=1"))
    done = push(tmp_path, our_metastore.port)
    assert (done.returncode, done.stderr) == (0, "")
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    assert done.stdout == f"stored in {address}: statistics of 2 tables and partitions\n"
    assert spool.names() == []


@pytest.mark.slow
def test_what_is_kept_is_named(our_metastore: Metastore, spool: Spool, tmp_path: Path) -> None:
    spool.put("0.hmstats", parcel(our_metastore, "k=0", made_at=2**40))
    assert push(tmp_path, our_metastore.port).returncode == 0
    spool.put("1.hmstats", parcel(our_metastore, "k=0", "k=1", "k=9"))
    (tmp_path / "hmstats-spool" / "2.hmstats").write_text("nonsense")
    done = push(tmp_path, our_metastore.port, str(tmp_path / "hmstats-spool"))
    assert done.returncode == 3
    table = f"{our_metastore.database}.t"
    said = done.stderr.splitlines()
    assert said[0] == f"left out: {table} k=0, of which the metastore has newer statistics"
    assert said[1].startswith(f"refused: {table} k=9: ")
    assert said[2].startswith("damaged: ")
    assert "2.hmstats is no file of a spool folder" in said[2]
    assert done.stdout.splitlines()[0].endswith("statistics of 1 table or partition")
    assert done.stdout.splitlines()[1] == f"kept in {tmp_path}/hmstats-spool: 2 files"
    forced = push(tmp_path, our_metastore.port, "--force")
    assert "left out" not in forced.stderr
    assert [item.partition for item in spool.get("1.hmstats").items] == ["k=9"]


@pytest.mark.slow
def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    done = push(tmp_path, closed_port()[1])
    assert done.returncode == 2
    assert done.stderr.startswith("hmstats: spool folder hmstats-spool must be there, found nothing at /")


def parcel(metastore: Metastore, *partitions: str, made_at: int = 0) -> Parcel:
    """Statistics of partitions of a table that is made when it is not there."""
    if not metastore.client().get_tables(metastore.database, "t"):
        metastore.table("t", {"l": "bigint"}, keys=("k",))
        metastore.add_partitions(("0",), ("1",), columns={"l": "bigint"})
    column = ColumnStatistics("l", "bigint", LongStatistics(low=0, high=1, nulls=0, ndv=1))
    items = tuple(Item(StatisticsSet((column,), each), {"numRows": "2"}) for each in partitions)
    return Parcel(TableName("hive", metastore.database, "t"), ("k",), items, made_at)


def push(folder: Path, port: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [HMSTATS, "push", *arguments, "--metastore", f"thrift://127.0.0.1:{port}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
