"""`hmstats pending`: what waits, how it differs, and how it is published or rejected."""

import json

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def run(metastore: Metastore, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["pending", *arguments, "--metastore", f"thrift://127.0.0.1:{metastore.port}"])


def longs(ndv: int, partition: str | None = None) -> StatisticsSet:
    data = LongStatistics(low=1, high=9, nulls=0, ndv=ndv)
    return StatisticsSet((ColumnStatistics("l", "bigint", data),), partition)


def test_from_waiting_to_published(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("1",), ("2",))
    table = f"{our_metastore.database}.t"
    assert run(our_metastore, "list", table).output == "no statistics are pending\n"
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        service.put_together(table, [longs(2)], {None: {"numRows": "10"}})
        service.preferences.change(Subject(DatabaseName("hive", our_metastore.database), "t"), {"publish": "false"})
        service.put_together(table, [longs(8)], {None: {"numRows": "30"}})
        service.put_partition_statistics(table, [longs(3, "p=1"), longs(4, "p=2")])
    listed = [json.loads(line) for line in run(our_metastore, "list", table, "--json").stdout.splitlines()]
    assert [(each["partition"], each["held_by"], each["columns"]) for each in listed] == [
        (place, "preference", ["l"]) for place in (None, "p=1", "p=2")
    ]
    assert "the preference publish is false" in run(our_metastore, "list").output
    differs = run(our_metastore, "diff", table, "--json")
    assert differs.exit_code == 1
    rows = {
        (e["partition"], e["statistic"]): (e["from"], e["to"]) for e in map(json.loads, differs.stdout.splitlines())
    }
    assert rows[None, "ndv"] == (2, 8)
    assert rows[None, "rows"] == (10, 30)
    assert rows["p=1", "ndv"] == (None, 3)
    assert run(our_metastore, "reject", table, "--partition", "p=2").output.endswith("rejected: 1 table or partition\n")
    done = run(our_metastore, "publish", table, "--json")
    assert json.loads(done.output) == {"table": table, "written": 2, "recounted": 0}
    assert run(our_metastore, "diff", table).exit_code == 0
    assert isinstance(run(our_metastore, "publish", table).exception, CallRefused)
