"""All old statistics of an hmstats and of real Hives are taken over by `hmstats adopt --upstream`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.commands import Said, run_here
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, bounds, of_all, of_partition
from tests.gateway.held_upstream import way_to

from hmstats.client import connect
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api

pytestmark = pytest.mark.slow


@pytest.fixture(params=["hmstats-sqlite", *(pytest.param(each, marks=pytest.mark.hive) for each in HIVES)])
def upstream(request: pytest.FixtureRequest) -> Iterator[Metastore]:
    """A metastore with a table, a partitioned one with more partitions than are asked for at once, and a view."""
    port = request.getfixturevalue(re.sub(r"\W", "_", request.param))
    generation = float(request.param.removeprefix("hive-")) if request.param in HIVES else 4.0
    found = Metastore(request.param, port, generation)
    with found.clients, connect(f"thrift://127.0.0.1:{port}", retries=0) as there:
        found.client().create_database(api.Database(name=found.database, description="", parameters={}))
        found.table(columns=COLUMNS)
        there.put_table_statistics(f"{found.database}.t", StatisticsSet(of_all(1)))
        found.table("parts", columns=COLUMNS, keys=["day"])
        found.add_partitions(["1"], ["2 3"], ["4"], table="parts", columns=COLUMNS)
        for place, low in (("day=1", 1), ("day=2 3", 5)):
            there.put_partition_statistics(f"{found.database}.parts", [of_partition(place, low)])
        found.client().create_table(
            api.Table(
                tableName="seen",
                dbName=found.database,
                owner="tester",
                sd=found.storage(COLUMNS),
                partitionKeys=[],
                parameters={},
                tableType="VIRTUAL_VIEW",
                viewOriginalText="select 1",
                viewExpandedText="select 1",
            )
        )
        yield found


def adopt(folder: Path, port: int, *flags: str) -> Said:
    database = f"sqlite:///{folder}/hmstats.sqlite"
    return run_here("adopt", "--database", database, "--upstream", f"thrift://127.0.0.1:{port}", *flags)


def test_old_statistics_are_here_before_anybody_asks(upstream: Metastore, tmp_path: Path) -> None:
    """The gateway answers while the upstream is away: what it says it has had before."""
    view, own = f"{upstream.database}.seen", f"{upstream.database}.*"
    with way_to(upstream.port) as (_, port):
        listed = json.loads(adopt(tmp_path, port, own, "--json").stdout)
        assert listed["left"][view] == "it is a view"
        assert (listed["tables"], listed["taken_over"]) == (2, False)
        assert not (tmp_path / "hmstats.sqlite").exists()
        for _ in range(2):
            done = json.loads(adopt(tmp_path, port, own, "--json", "--write").stdout)
            assert done["taken_over"]
            assert (done["tables"], done["left"][view]) == (listed["tables"], "it is a view")
    address = f"thrift://127.0.0.1:{port}"
    with (
        connect(f"thrift://127.0.0.1:{upstream.port}", retries=0) as there,
        serving(tmp_path, "--upstream", address) as gateway,
        connect(f"thrift://127.0.0.1:{gateway}", retries=0) as ours,
    ):
        name = f"{upstream.database}.t"
        assert ours.table_statistics(name, ["a", "d", "s"]) == there.table_statistics(name, ["a", "d", "s"])
        days = ["day=1", "day=2 3", "day=4"]
        found = ours.partition_statistics(f"{upstream.database}.parts", ["a"], days)
        assert {each.partition: bounds(each.columns) for each in found} == {"day=1": [(1, 2)], "day=2 3": [(5, 6)]}


def test_an_upstream_that_is_away_is_named(tmp_path: Path) -> None:
    with way_to(1) as (_, port):
        pass
    done = adopt(tmp_path, port, "--write")
    assert done.returncode != 0
    assert f"127.0.0.1:{port}" in done.stderr


def test_tables_that_nobody_has_are_named(hmstats_sqlite: int, tmp_path: Path) -> None:
    done = adopt(tmp_path, hmstats_sqlite, "nobody", "--write")
    assert done.returncode != 0
    assert f"no table of thrift://127.0.0.1:{hmstats_sqlite} matches nobody" in done.stderr


def test_tables_are_taken_over_from_an_upstream_only() -> None:
    done = run_here("adopt", "sales")
    assert done.returncode == 2
    assert "sales: tables are taken over from an upstream, and there is no --upstream" in done.stderr
