"""A refresh of a Hive's tables through a gateway: what is stale is analysed, and the Hive gets it."""

from pathlib import Path

import pytest
from tests.collector.parted import NAMES, ROWS, parted
from tests.fixtures.commands import run_here
from tests.fixtures.servers import serving
from tests.gateway.doors import SECONDS, until

from hmstats.client import connect


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.hive
def test_what_is_stale_is_analysed_and_the_upstream_gets_it(hive_3_1: int, tmp_path: Path) -> None:
    upstream, database = f"thrift://127.0.0.1:{hive_3_1}", f"sqlite:///{tmp_path}/hmstats.sqlite"
    name = parted(hive_3_1, tmp_path / "data", ("number",))
    tables = f"{name.database}.*"
    settings = {"upstream_write_seconds": SECONDS, "exclusive": "false"}
    with serving(tmp_path, "--upstream", upstream, settings=settings) as port:
        there, gateway = connect(upstream), f"thrift://127.0.0.1:{port}"
        with there, connect(gateway) as ours:
            assert run_here("adopt", "--database", database, "--upstream", upstream, tables, "--write").returncode == 0
            assert [each.health.health for each in ours.health.tables(databases=name.database)] == [0]
            refreshed = run_here("refresh", tables, "--metastore", gateway)
            assert refreshed.returncode == 0, refreshed.stderr
            assert f"{name.database}.t ({len(NAMES)} partitions) done in" in refreshed.stdout
            assert [each.health.health for each in ours.health.tables(databases=name.database)] == [100]
            (run,), _ = ours.runs.listed(databases=name.database)
            assert (run.table, run.rows) == (name, ROWS * len(NAMES))
            until(len(NAMES), lambda: len(list(there.partition_statistics(name, ["number"], NAMES))))
            found = there.partitions(name, NAMES)
            assert [each.parameters["numRows"] for each in found] == [str(ROWS)] * len(NAMES)
