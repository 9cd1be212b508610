"""Health over HTTP tells the gateway and its upstreams apart."""

import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.ports import free_port
from tests.fixtures.servers import serving
from tests.gateway.doors import SECONDS, long
from tests.gateway.gateways import wait_until
from tests.gateway.places.several import several
from tests.server.monitoring.test_health import get

from hmstats.client import connect
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api

Said = tuple[int, list[str]]


def asking(port: int) -> Callable[[], Said]:
    """A look at /health/ready: its status, and the lines below the first."""

    def look() -> Said:
        status, text = get(("127.0.0.1", port), "/health/ready")
        return status, text.splitlines()[1:]

    return look


@pytest.mark.slow  # the upstream's end is seen at the next probe
@pytest.mark.parametrize("needed", [False, True])
def test_an_upstream_that_ends_is_named_and_the_gateway_answers_statistics(tmp_path: Path, *, needed: bool) -> None:
    (tmp_path / "upstream").mkdir()
    http_port = free_port()
    look = asking(http_port)
    settings = {"http_port": http_port, "ready_needs_upstreams": needed, "workers": 1}
    with ExitStack() as upstream, ExitStack() as stack:
        port = upstream.enter_context(serving(tmp_path / "upstream"))
        uri = f"thrift://127.0.0.1:{port}"
        front = stack.enter_context(serving(tmp_path, "--upstream", uri, settings=settings))
        wait_until(lambda: look() == (200, ["the upstream answers"]))
        metastore = Metastore("hmstats-sqlite", front, 4.0)
        stack.enter_context(metastore.clients)
        metastore.client().create_database(api.Database(name=metastore.database, description="", parameters={}))
        table = f"{metastore.database}.{metastore.table(columns={'a': 'bigint'})}"
        ours = stack.enter_context(connect(f"thrift://127.0.0.1:{front}", retries=0))
        ours.put_table_statistics(table, StatisticsSet((long(3, 7),)))
        upstream.close()
        wait_until(lambda: look() == (503 if needed else 200, [f"the upstream does not answer at {uri}"]))
        assert len(ours.table_statistics(table, ["a"])) == 1


@pytest.mark.slow
def test_what_waits_for_an_upstream_that_is_away_is_counted_by_a_gateway_that_has_just_started(tmp_path: Path) -> None:
    (tmp_path / "upstream").mkdir()
    http_port = free_port()
    with serving(tmp_path / "upstream") as upstream:
        flags = ("--upstream", f"thrift://127.0.0.1:{upstream}")
        metastore = Metastore("hmstats-sqlite", upstream, 4.0)
        with metastore.clients, serving(tmp_path, *flags, settings={"upstream_writes": "off"}) as front:
            metastore.client().create_database(api.Database(name=metastore.database, description="", parameters={}))
            table = f"{metastore.database}.{metastore.table(columns={'a': 'bigint'})}"
            with connect(f"thrift://127.0.0.1:{front}", retries=0) as ours:
                ours.put_table_statistics(table, StatisticsSet((long(3, 7),)))
    with serving(tmp_path, *flags, settings={"http_port": http_port, "upstream_write_seconds": SECONDS}):
        counted = 'hmstats_upstream_unsent_tables{upstream="upstream"} 1.0'
        wait_until(lambda: counted in get(("127.0.0.1", http_port), "/metrics")[1])


@pytest.mark.slow
def test_each_of_several_upstreams_is_told_by_its_name(hmstats_sqlite: int, tmp_path: Path) -> None:
    first = Metastore("hmstats-sqlite", hmstats_sqlite, 4.0)
    http_port = free_port()
    look = asking(http_port)
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        uri = f"thrift://127.0.0.1:{hanging.getsockname()[1]}"
        uris = {"second": uri}
        with several(tmp_path, first, first, uris=uris, http_port=http_port, upstream_hanging_seconds=0.5):
            expected = (200, ["upstream first answers", f"upstream second does not answer at {uri}"])
            wait_until(lambda: look() == expected)
