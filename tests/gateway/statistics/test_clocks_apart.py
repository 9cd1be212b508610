"""Two gateways and an upstream whose clocks are hours apart: the newer statistics win, whoever's clock is ahead."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.faketime import clock_ahead
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import SECONDS, Doors, bounds, long, until

from hmstats.client import Metastore as Client
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api

pytestmark = pytest.mark.slow

HOURS = {"hmstats-sqlite": (7, -5, 30), "hive-4.0": (0, -12, 23)}
"""How many hours the clocks of the upstream and of two gateways are ahead. A JVM hangs unless its time is right."""


@pytest.fixture(scope="module", params=["hmstats-sqlite", pytest.param("hive-4.0", marks=pytest.mark.hive)])
def ports(
    request: pytest.FixtureRequest,
    postgres_server: str,
    postgres_template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[str, int, int, int]]:
    """The flavour of the upstream, its port, and those of two gateways on one database."""
    upstream, first, second = (tmp_path_factory.mktemp(name) for name in ("upstream", "gateway", "other-gateway"))
    of_upstream, *of_gateways = HOURS[request.param]
    with ExitStack() as stack:
        if of_upstream:
            direct = stack.enter_context(serving(upstream, environment=clock_ahead(of_upstream)))
        else:
            direct = stack.enter_context(hive("4.0", upstream))
        database = stack.enter_context(fresh_database(postgres_server, postgres_template))
        gateways = [
            stack.enter_context(
                serving(
                    folder,
                    *("--upstream", f"thrift://127.0.0.1:{direct}", "--workers", "1"),
                    database=database,
                    settings={"upstream_write_seconds": SECONDS},
                    environment=clock_ahead(hours),
                )
            )
            for folder, hours in zip((first, second), of_gateways, strict=True)
        ]
        one, other = gateways
        yield request.param, direct, one, other


@pytest.fixture
def both(ports: tuple[str, int, int, int]) -> Iterator[tuple[Doors, Doors]]:
    flavour, port, *gateways = ports
    direct = Metastore(flavour, port, 4.0)
    with direct.clients:
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        first, second = (Doors(direct, replace(direct, port=each)) for each in gateways)
        yield first, second


def test_the_clocks_are_apart(both: tuple[Doors, Doors]) -> None:
    """The upstream tells its own time; a gateway's is in the provenance of what is written there."""
    first, second = both
    hours = HOURS[first.direct.flavour]
    first.direct.table("clock", {"a": "bigint"})
    ahead = [(first.direct.read_table("clock").createTime - time.time()) / 3600]
    for door in (first, second):
        door.ours.put_table_statistics(door.name("clock"), StatisticsSet((long(1, 2),)))
        written = door.ours.provenance(door.name("clock"), ["a"])[0].provenance.written_at_seconds
        assert written is not None
        ahead.append((written - time.time()) / 3600)
    assert ahead == pytest.approx(hours, abs=0.5)


def test_whoever_wrote_last_is_answered_at_every_door(both: tuple[Doors, Doors]) -> None:
    first, second = both
    first.direct.table("t", {"a": "bigint"})
    name, clients = first.name(), [first.ours, second.ours, first.there]

    def answers() -> list[list[tuple[int, int]]]:
        return [bounds(each.table_statistics(name, ["a"])) for each in clients]

    def write(writer: Client, low: int) -> None:
        writer.put_table_statistics(name, StatisticsSet((long(low, low + 1),)))

    for turn in range(4):
        for number, writer in enumerate(clients):
            low = 10 * turn + number
            write(writer, low)
            assert bounds(writer.table_statistics(name, ["a"])) == [(low, low + 1)]
            until([[(low, low + 1)]] * 3, answers)


def test_statistics_that_were_not_sent_survive_changes_through_the_other_gateway(both: tuple[Doors, Doors]) -> None:
    first, second = both
    first.direct.table("old", {"a": "bigint"}, keys=["day"])
    first.direct.add_partitions(["1"], ["2"], table="old", columns={"a": "bigint"})
    for turn, (writer, changer) in enumerate(((first, second), (second, first))):
        old, new = ("old", "new") if turn == 0 else ("new", "old")
        sets = [StatisticsSet((long(turn, 7, values=("3",)),), each) for each in ("day=1", "day=2")]
        writer.ours.put_partition_statistics(writer.name(old), sets)
        client = changer.here.client()
        renamed = changer.here.read_table(old)
        renamed.tableName = new
        client.alter_table(changer.direct.database, old, renamed)
        for door in (first, second):
            assert door.ours.top_k(door.name(new), "a", partitions=["day=1"]).values
            found = door.ours.statistics(door.name(new), None, ["day=1", "day=2"])
            assert [bounds(each.columns) for each in found] == [[(turn, 7)]] * 2
