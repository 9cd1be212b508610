"""What others do at the upstream, or here, while statistics are on their way to the upstream."""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, SECONDS, Doors, bounds, long, of_all, of_partition, until
from tests.gateway.held_upstream import Hold, Way, way_to

from hmstats.errors import CallRefused
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api

_SENT = "set_aggr_stats_for"
_ALL = ["a", "d", "s"]


@pytest.fixture(
    scope="module", params=["hmstats-sqlite", *(pytest.param(each, marks=pytest.mark.hive) for each in HIVES)]
)
def ways(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, int, int, Way]]:
    """A metastore's flavour, its port, that of a gateway to it, and the way between them."""
    port = request.getfixturevalue(re.sub(r"\W", "_", request.param))
    settings = {"upstream_write_seconds": SECONDS, "workers": 1}
    with way_to(port) as (way, between):
        upstream = ("--upstream", f"thrift://127.0.0.1:{between}")
        with serving(tmp_path_factory.mktemp("gateway"), *upstream, settings=settings) as gateway:
            yield request.param, port, gateway, way


@pytest.fixture
def doors(ways: tuple[str, int, int, Way]) -> Iterator[Doors]:
    flavour, port, gateway, _ = ways
    generation = float(flavour.removeprefix("hive-")) if flavour in HIVES else 4.0
    direct = Metastore(flavour, port, generation)
    with direct.clients:
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        yield Doors(direct, replace(direct, port=gateway))


@pytest.fixture
def way(ways: tuple[str, int, int, Way], doors: Doors) -> Way:
    way = ways[-1]
    way.about = doors.direct.database
    return way


def columns(found: Any) -> list[str]:
    return [each.column for each in found]


def in_background(ask: Callable[[], Any]) -> Future[Any]:
    """The answer to come of a question that waits."""
    with ExitStack() as stack:
        executor = stack.enter_context(ThreadPoolExecutor(1))
        stack.pop_all()
        return executor.submit(ask)


def delete_column(metastore: Metastore, partition: str | None = None) -> bool:
    client = metastore.client()
    if partition is None:
        return bool(client.delete_table_column_statistics(metastore.database, "t", "a", "hive"))
    return bool(client.delete_partition_column_statistics(metastore.database, "t", partition, "a", "hive"))


def test_a_delete_at_the_upstream_is_seen_before_the_answer_to_the_sending_is(doors: Doors, way: Way) -> None:
    doors.here.table(columns=COLUMNS)
    with way.holding(_SENT, Hold.AFTER):
        doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
        until(_ALL, lambda: columns(doors.there.table_statistics(doors.name(), _ALL)))
        assert delete_column(doors.direct)
        asked = in_background(lambda: columns(doors.ours.table_statistics(doors.name(), _ALL)))
        time.sleep(2 * SECONDS)
        assert not asked.done()
        way.let_go()
        assert asked.result() == ["d", "s"]
    time.sleep(3 * SECONDS)
    assert columns(doors.ours.table_statistics(doors.name(), _ALL)) == ["d", "s"]
    assert columns(doors.there.table_statistics(doors.name(), _ALL)) == ["d", "s"]


@pytest.mark.slow
def test_a_delete_of_a_partitions_statistics_at_the_upstream_is_seen(doors: Doors, way: Way) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], columns=COLUMNS)
    days = ["day=1", "day=2"]

    def read(client: Any) -> list[str]:
        found = client.partition_statistics(doors.name(), ["a"], days)
        return sorted(str(each.partition) for each in found if each.columns)

    with way.holding(_SENT, Hold.AFTER):
        doors.ours.put_partition_statistics(doors.name(), [of_partition(each, 1) for each in days])
        until(days, lambda: read(doors.there))
        assert delete_column(doors.direct, "day=1")
        asked = in_background(lambda: read(doors.ours))
        way.let_go()
        assert asked.result() == ["day=2"]
    time.sleep(3 * SECONDS)
    assert read(doors.ours) == ["day=2"]
    assert read(doors.there) == ["day=2"]


@pytest.mark.slow
@pytest.mark.parametrize("hold", Hold)
def test_a_delete_at_the_gateway_waits_for_what_is_being_sent(doors: Doors, way: Way, hold: Hold) -> None:
    doors.here.table(columns=COLUMNS)
    with way.holding(_SENT, hold):
        doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
        way.wait_held()
        deleted = in_background(lambda: delete_column(doors.here))
        time.sleep(2 * SECONDS)
        assert not deleted.done()
        way.let_go()
        assert deleted.result()
    assert columns(doors.ours.table_statistics(doors.name(), _ALL)) == ["d", "s"]
    time.sleep(3 * SECONDS)
    assert columns(doors.ours.table_statistics(doors.name(), _ALL)) == ["d", "s"]
    assert columns(doors.there.table_statistics(doors.name(), _ALL)) == ["d", "s"]


@pytest.mark.slow
@pytest.mark.parametrize("partition", [None, "day=1"])
def test_a_delete_at_the_gateway_of_what_is_queued_drops_that(doors: Doors, way: Way, partition: str | None) -> None:
    """The only worker's sending of another table is held up, so that these are queued."""
    doors.here.table("other", columns=COLUMNS)
    doors.here.table(columns=COLUMNS, keys=["day"] if partition else ())
    if partition:
        doors.here.add_partitions(["1"], columns=COLUMNS)

    def write() -> None:
        if partition:
            doors.ours.put_partition_statistics(doors.name(), [of_partition(partition, 1)])
        else:
            doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))

    def read(client: Any) -> list[str]:
        if partition:
            found = list(client.partition_statistics(doors.name(), ["a"], [partition]))
            return columns(found[0].columns) if found else []
        return columns(client.table_statistics(doors.name(), ["a"]))

    with way.holding(_SENT, Hold.BEFORE):
        doors.ours.put_table_statistics(doors.name("other"), StatisticsSet(of_all(1)))
        way.wait_held()
        write()
        assert read(doors.ours) == ["a"]
        assert read(doors.there) == []
        assert delete_column(doors.here, partition)
        assert read(doors.ours) == []
    until(_ALL, lambda: columns(doors.there.table_statistics(doors.name("other"), _ALL)))
    time.sleep(3 * SECONDS)
    assert read(doors.ours) == []
    assert read(doors.there) == []


def test_a_delete_of_statistics_that_nobody_has_is_answered_as_by_the_upstream(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.table_statistics(doors.name(), _ALL)
    said = []
    for metastore in (doors.direct, doors.here):
        try:
            said.append(delete_column(metastore))
        except api.NoSuchObjectException as error:
            said.append(error.message)
    assert said[0] == said[1]


@pytest.mark.slow
@pytest.mark.parametrize("hold", Hold)
def test_what_comes_to_a_table_that_was_made_anew_is_taken_back(doors: Doors, way: Way, hold: Hold) -> None:
    doors.here.table(columns=COLUMNS)
    with way.holding(_SENT, hold):
        doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
        way.wait_held()
        if doors.direct.generation < 4:
            time.sleep(1.1)  # its tables have no ids
        doors.direct.client().drop_table(doors.direct.database, "t", True)
        doors.direct.table(columns=COLUMNS)
        asked = in_background(lambda: columns(doors.ours.table_statistics(doors.name(), _ALL)))
        time.sleep(SECONDS)
        way.let_go()
        assert asked.result() == []
    time.sleep(3 * SECONDS)
    assert columns(doors.ours.table_statistics(doors.name(), _ALL)) == []
    assert columns(doors.there.table_statistics(doors.name(), _ALL)) == []


@pytest.mark.slow
def test_what_comes_to_a_partition_that_was_made_anew_is_taken_back(doors: Doors, way: Way) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], columns=COLUMNS)
    days = ["day=1", "day=2"]

    def read(client: Any) -> list[str]:
        found = client.partition_statistics(doors.name(), ["a"], days)
        return sorted(str(each.partition) for each in found if each.columns)

    with way.holding(_SENT, Hold.BEFORE):
        doors.ours.put_partition_statistics(doors.name(), [of_partition(each, 1) for each in days])
        way.wait_held()
        time.sleep(1.1)  # partitions have no ids
        doors.direct.client().drop_partition_by_name(doors.direct.database, "t", "day=1", True)
        doors.direct.add_partitions(["1"], columns=COLUMNS)
        way.let_go()
        until(["day=2"], lambda: read(doors.there))
    time.sleep(3 * SECONDS)
    assert read(doors.ours) == ["day=2"]
    assert read(doors.there) == ["day=2"]


@pytest.mark.slow
def test_a_refused_sending_holds_no_drop_up(doors: Doors, way: Way) -> None:
    """The upstream has lost the table while its statistics come: it refuses them, and the table is made again here."""
    doors.here.table(columns=COLUMNS)
    with way.holding(_SENT, Hold.BEFORE):
        doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
        way.wait_held()
        doors.direct.client().drop_table(doors.direct.database, "t", True)
        way.let_go()
    began = time.monotonic()
    time.sleep(2 * SECONDS)
    with pytest.raises(CallRefused, match="NoSuchObject"):
        doors.ours.table_statistics(doors.name(), _ALL)
    doors.here.table(columns=COLUMNS)
    doors.here.client().drop_table(doors.direct.database, "t", True)
    assert time.monotonic() - began < 20


@pytest.mark.slow
@pytest.mark.parametrize("partition", [None, "day=1"])
def test_what_comes_late_over_a_broken_connection_overwrites_nothing_newer(
    doors: Doors, way: Way, partition: str | None
) -> None:
    """Nobody knows of the first ones whether they will come; the second ones have come before them."""
    doors.here.table(columns=COLUMNS, keys=["day"] if partition else ())
    if partition:
        doors.here.add_partitions(["1"], columns=COLUMNS)

    def write(value: int) -> None:
        if partition:
            doors.ours.put_partition_statistics(doors.name(), [of_partition(partition, value)])
        else:
            doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(value)))

    def read(client: Any) -> list[Any]:
        if not partition:
            return [each.data for each in client.table_statistics(doors.name(), ["a"])]
        (found,) = client.partition_statistics(doors.name(), ["a"], [partition])
        return [each.data for each in found.columns]

    def send() -> None:
        """Have what is unsent sent now by a change of the table, which waits for no pause after a failure."""
        doors.here.client().alter_table(doors.direct.database, "t", doors.direct.read_table())

    with way.holding(_SENT, Hold.BEFORE):
        write(1)
        way.wait_held()
        late = read(doors.ours)
        way.break_held()
        write(2)
        newest = read(doors.ours)
        assert newest != late
        send()
        assert read(doors.there) == newest
    until(late, lambda: read(doors.there))
    assert read(doors.ours) == newest
    send()
    assert read(doors.there) == newest
    assert read(doors.ours) == newest


@pytest.mark.parametrize("partition", [None, "day=1"])
def test_what_is_sent_again_for_its_marks_and_comes_late_overwrites_nothing_newer(
    doors: Doors, way: Way, partition: str | None
) -> None:
    """The same numbers are written twice; the upstream gets the second ones late, behind others."""
    doors.here.table(columns=COLUMNS, keys=["day"] if partition else ())
    if partition:
        doors.here.add_partitions(["1"], columns=COLUMNS)

    def write(value: int) -> None:
        if partition:
            doors.ours.put_partition_statistics(doors.name(), [of_partition(partition, value)])
        else:
            doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(value, value + 1),)))

    def read(client: Any) -> list[Any]:
        if not partition:
            return bounds(client.table_statistics(doors.name(), ["a"]))
        return [bounds(each.columns) for each in client.partition_statistics(doors.name(), ["a"], [partition])]

    def unmark() -> None:
        client, database = doors.direct.client(), doors.direct.database
        if partition:
            found = client.get_partition_by_name(database, "t", partition)
            found.parameters.pop(PARAMETER)
            client.alter_partitions(database, "t", [found])
        else:
            table = doors.direct.read_table()
            table.parameters.pop(PARAMETER)
            quiet = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
            client.alter_table_with_environment_context(database, "t", table, quiet)

    write(1)
    first = read(doors.ours)
    until(first, lambda: read(doors.there))
    time.sleep(3 * SECONDS)
    unmark()
    with way.holding(_SENT, Hold.BEFORE):
        again = in_background(lambda: write(1))
        way.wait_held()
        way.break_held()
        again.result()
        write(2)
        newest = read(doors.ours)
        until(newest, lambda: read(doors.there))
        time.sleep(3 * SECONDS)
    until(first, lambda: read(doors.there))
    assert read(doors.ours) == newest
    until(newest, lambda: read(doors.there))
    assert read(doors.ours) == newest


@pytest.mark.parametrize("partition", [None, "day=1"])
@pytest.mark.parametrize("deletes_here", [True, False], ids=["deleted here", "deleted there"])
def test_what_comes_late_behind_a_delete_is_not_taken_for_newer(
    doors: Doors, way: Way, partition: str | None, *, deletes_here: bool
) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"] if partition else ())
    if partition:
        doors.here.add_partitions(["1"], columns=COLUMNS)

    def write(value: int) -> None:
        if partition:
            doors.ours.put_partition_statistics(doors.name(), [of_partition(partition, value)])
        else:
            doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(value, value + 1),)))

    def read(client: Any) -> list[Any]:
        if not partition:
            return bounds(client.table_statistics(doors.name(), ["a"]))
        found = client.partition_statistics(doors.name(), ["a"], [partition])
        return [of for each in found for of in bounds(each.columns)]

    write(1)
    until([(1, 2)], lambda: read(doors.there))
    time.sleep(3 * SECONDS)
    with way.holding(_SENT, Hold.BEFORE):
        write(2)
        way.wait_held()
        way.break_held()
        assert read(doors.ours) == [(2, 3)]
        assert delete_column(doors.here if deletes_here else doors.direct, partition)
        assert read(doors.ours) == []
    until([(2, 3)], lambda: read(doors.there))
    assert read(doors.ours) == []
    write(3)
    assert read(doors.ours) == [(3, 4)]


def test_the_upstream_is_asked_nothing_between_the_last_look_and_the_sending(doors: Doors, way: Way) -> None:
    """What others write there meanwhile is overwritten."""
    way.passed.clear()
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    until(_ALL, lambda: columns(doors.there.table_statistics(doors.name(), _ALL)))
    passed = [each for each in way.passed if each and each != "get_provenance"]  # whether a look is of stored ones
    assert passed[passed.index(_SENT) - 1] == "get_table_statistics_req"
