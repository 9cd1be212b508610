"""Answers about statistics that a gateway caches: a repeated one is not made again, and no change is hidden by it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.runs.tiers import first_of
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, Doors, bounds, of_partition

from hmstats.client import Metastore as Client
from hmstats.wire.idl import hive_metastore as api

WAYS = ("behind", "through")


@dataclass(frozen=True, slots=True)
class Servers:
    """The ports of an upstream and of a gateway to it, and the gateway's log."""

    upstream: int
    gateway: int
    log: Path


@pytest.fixture(scope="module", params=first_of(WAYS))
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """An hmstats and a gateway to it that logs what is answered from the cache."""
    folder = tmp_path_factory.mktemp("cached")
    for each in ("upstream", "gateway"):
        (folder / each).mkdir()
    settings = {"log_level": "debug", "upstream_writes": request.param, "workers": 1}
    with (
        serving(folder / "upstream") as port,
        serving(folder / "gateway", "--upstream", f"thrift://127.0.0.1:{port}", settings=settings) as gateway,
    ):
        yield Servers(port, gateway, folder / "gateway" / "server.log")


@pytest.fixture
def doors(servers: Servers) -> Iterator[Doors]:
    """Clients of both, with a partitioned table of statistics in a database of the test's own."""
    direct = Metastore("hmstats-sqlite", servers.upstream, 4.0)
    with direct.clients:
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        make_table(direct)
        found = Doors(direct, replace(direct, port=servers.gateway))
        found.there.put_partition_statistics(found.name(), [of_partition("day=1", 10), of_partition("day=2", 20)])
        yield found


def make_table(metastore: Metastore) -> None:
    """Make table t with two partitions."""
    metastore.table("t", COLUMNS, keys=["day"])
    metastore.add_partitions(["1"], ["2"], table="t", columns=COLUMNS)


def aggregated(doors: Doors) -> list[tuple[int, int]]:
    """The bounds of both partitions together, as the gateway knows them."""
    return bounds(doors.ours.aggregated_statistics(doors.name(), ["a"], ["day=1", "day=2"])[0])


def cached(servers: Servers) -> int:
    """How many calls the gateway has answered from its cache."""
    return servers.log.read_text().count('"outcome": "cached"')


def test_a_repeated_answer_is_not_made_again(servers: Servers, doors: Doors) -> None:
    assert aggregated(doors) == [(10, 21)]
    before = cached(servers)
    assert [aggregated(doors), aggregated(doors)] == [[(10, 21)]] * 2
    assert cached(servers) == before + 2


def _put(client: Client, doors: Doors, day: str, low: int) -> None:
    client.put_partition_statistics(doors.name(), [of_partition(f"day={day}", low)])


def _drop_partition(doors: Doors) -> None:
    doors.direct.client().drop_partition_by_name(doors.direct.database, "t", "day=1", True)


def _make_table_anew(doors: Doors) -> None:
    doors.here.client().drop_table(doors.direct.database, "t", True)
    make_table(doors.direct)


CHANGES: dict[str, tuple[Callable[[Doors], None], list[tuple[int, int]]]] = {
    "statistics written here": (lambda doors: _put(doors.ours, doors, "1", 5), [(5, 21)]),
    "statistics written there": (lambda doors: _put(doors.there, doors, "2", 30), [(10, 31)]),
    "a partition dropped there": (_drop_partition, [(20, 21)]),
    "the table made anew": (_make_table_anew, []),
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_change_is_seen_by_the_next_question(doors: Doors, change: str) -> None:
    make, expected = CHANGES[change]
    assert [aggregated(doors), aggregated(doors)] == [[(10, 21)]] * 2
    make(doors)
    assert [aggregated(doors), aggregated(doors)] == [expected] * 2
