"""Calls that change a table, and whose connection to the upstream breaks: nobody knows whether they are carried out."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, SECONDS, Doors, bounds, long, of_partition, until
from tests.gateway.held_upstream import Hold, Way, way_to

from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.wire.idl import hive_metastore as api

_Change = Callable[[Metastore], object]
DAYS = ["day=1", "day=2"]


def drop_partition(door: Metastore) -> object:
    return door.client().drop_partition_by_name(door.database, "t", "day=1", True)


def truncate(door: Metastore) -> object:
    return door.client().truncate_table(door.database, "t", None)


def delete_statistics(door: Metastore) -> object:
    return door.client().delete_partition_column_statistics(door.database, "t", "day=1", "a", "hive")


CHANGES: dict[str, _Change] = {
    "drop_partition_by_name": drop_partition,
    "truncate_table": truncate,
    "delete_partition_column_statistics": delete_statistics,
}


@pytest.fixture
def doors_and_way(hmstats_sqlite: int, tmp_path: Path) -> Iterator[tuple[Doors, Way]]:
    direct, settings = Metastore("hmstats-sqlite", hmstats_sqlite, 4.0), {"upstream_write_seconds": SECONDS}
    with (
        way_to(direct.port) as (way, between),
        direct.clients,
        serving(tmp_path, "--upstream", f"thrift://127.0.0.1:{between}", settings=settings) as port,
    ):
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        yield Doors(direct, replace(direct, port=port)), way


def break_off(doors: Doors, way: Way, name: str) -> None:
    """Have the connection of a change break before the upstream gets it; it gets it afterwards."""
    with way.holding(name, Hold.BEFORE), ThreadPoolExecutor(1) as executor:
        asked = executor.submit(CHANGES[name], doors.here)
        way.wait_held()
        way.break_held()
        with pytest.raises(Exception):  # noqa: B017, PT011 - the client's connection ends
            asked.result()


def read(client: Any, doors: Doors) -> dict[str | None, Any]:
    found = client.partition_statistics(doors.name(), ["a"], DAYS)
    return {each.partition: bounds(each.columns) for each in found if each.columns}


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_stated_of_a_table_outlives_a_change_that_breaks_off(
    doors_and_way: tuple[Doors, Way], name: str
) -> None:
    doors, way = doors_and_way
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], columns=COLUMNS)
    doors.ours.put_partition_statistics(doors.name(), [of_partition(each, 1) for each in DAYS])
    until([[(1, 2)], [(1, 2)]], lambda: list(read(doors.there, doors).values()))
    of = DatabaseName("hive", doors.direct.database)
    doors.ours.preferences.change(Subject(of, "t"), {"guard": "off"})
    doors.ours.locks.lock(LockedObject(of, "t"), reason="checked by hand")
    before = read(doors.there, doors)
    break_off(doors, way, name)
    until(True, lambda: read(doors.there, doors) != before)
    until(read(doors.there, doors), lambda: read(doors.ours, doors))
    assert [each.name for each in doors.ours.preferences.listed(of.database)] == ["guard"]
    assert [each.reason for each in doors.ours.locks.listed(of.database)] == ["checked by hand"]


def drop_database(door: Metastore, *, cascade: bool) -> object:
    return door.client().drop_database(door.database, False, cascade)


@pytest.mark.parametrize("cascade", [False, True], ids=["refused as not empty", "carried out"])
def test_what_was_stated_of_a_database_outlives_a_drop_that_breaks_off_and_is_refused(
    doors_and_way: tuple[Doors, Way], *, cascade: bool
) -> None:
    doors, way = doors_and_way
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 2, values=("1",)),)))
    of = DatabaseName("hive", doors.direct.database)
    doors.ours.preferences.change(Subject(of), {"guard": "off"})
    doors.ours.preferences.change(Subject(of, "t"), {"guard": "all"})
    doors.ours.locks.lock(LockedObject(of), reason="of all")
    doors.ours.locks.lock(LockedObject(of, "t"), reason="of one")
    with way.holding("drop_database", Hold.BEFORE), ThreadPoolExecutor(1) as executor:
        asked = executor.submit(drop_database, doors.here, cascade=cascade)
        way.wait_held()
        way.break_held()
        with pytest.raises(Exception):  # noqa: B017, PT011 - the client's connection ends
            asked.result()
    until(cascade, lambda: doors.direct.database not in doors.direct.client().get_all_databases())
    with suppress(CallRefused):  # the database or its table is gone: whoever asks for it sees that
        assert not doors.ours.table_statistics(doors.name(), ["a"]) or not cascade
    stated = ["guard", "guard"], ["of all", "of one"]
    found = (
        [each.name for each in doors.ours.preferences.listed(of.database)],
        sorted(str(each.reason) for each in doors.ours.locks.listed(of.database)),
    )
    assert found == (([], []) if cascade else stated)
