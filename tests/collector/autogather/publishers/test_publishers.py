"""Every publisher with its aggregator: what tasks publish comes back by piece, once, and goes away."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import fs
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store
from tests.fixtures.servers import serving

from hmstats.collector.autogather.publishers.jdbc import sqlalchemy_url
from hmstats.collector.autogather.publishers.protocols import Aggregator, Publisher, Run
from hmstats.collector.autogather.publishers.registry import publisher_and_aggregator
from hmstats.collector.autogather.publishers.thrift import _LOT_BYTES
from hmstats.errors import HmstatsError, SettingsError
from hmstats.files.file_systems import open_root
from hmstats.model.catalog.names import partition_name
from hmstats.model.statistics.running_writes import PartialState, Place

KINDS = ("thrift", "fs", "fs in a store", "jdbc:sqlite", "sql", "jdbc:postgresql")
DAYS_SECONDS = 3 * 24 * 3600


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("publishers")) as port:
        yield f"thrift://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    """A store of which the standard environment says how it is reached."""
    with object_store(tmp_path_factory.mktemp("store")) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environment.items():
            patch.setenv(name, value)
        open_root.cache_clear()
        yield found
    open_root.cache_clear()


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """A value of hive.stats.dbclass, and a connection for it."""
    kind = request.param
    if kind == "thrift":
        return kind, request.getfixturevalue("server")
    if kind == "fs in a store":
        request.getfixturevalue("store")
        return "fs", f"s3a://{BUCKET}/{time.time_ns()}/states"
    if kind == "jdbc:postgresql":
        return kind, sqlalchemy_url(request.getfixturevalue("postgres_url"))
    return kind, str(tmp_path / "states") if kind == "fs" else f"sqlite:///{tmp_path}/states.sqlite"


def run_at(connection: str, number: int = 0) -> Run:
    return Run(f"{time.time_ns()}-{number}", connection, 24)


def state(piece: str, task: int, attempt: int = 0, number: int = 0, content: bytes = b"\x00\xff") -> PartialState:
    return PartialState(Place(piece, task, attempt, number), content)


def publish(publisher: type[Publisher], run: Run, *states: PartialState) -> None:
    """As an attempt of a task does it."""
    made = publisher()
    made.init(run)
    made.publish(states)
    made.terminate()


def opened(aggregator: type[Aggregator], run: Run) -> Aggregator:
    made = aggregator()
    made.init(run)
    return made


def pieces_are_together(found: list[PartialState]) -> bool:
    names = [piece for piece, _ in groupby(found, key=lambda each: each.place.piece)]
    return len(names) == len(set(names))


@pytest.mark.slow
def test_states_come_back_by_piece_and_are_gone_at_the_end(place: tuple[str, str]) -> None:
    publisher, aggregator = publisher_and_aggregator(place[0])
    run = run_at(place[1])
    collector = opened(aggregator, run)
    pieces = ("", "k=b", "k=B", "k=a/j=1", "k=a", "k=ä%20b", "k=__HIVE_DEFAULT_PARTITION__")
    given_states = [state(piece, task, 7, number) for task in range(3) for number, piece in enumerate(pieces)]
    for task in range(3):
        publish(publisher, run, *(each for each in given_states if each.place.task == task))
    found = list(collector.aggregate())
    assert sorted(found) == sorted(given_states)
    assert pieces_are_together(found)
    collector.terminate()
    again = opened(aggregator, run)
    assert list(again.aggregate()) == []
    again.terminate()


def test_what_is_published_again_comes_back_once(place: tuple[str, str]) -> None:
    publisher, aggregator = publisher_and_aggregator(place[0])
    run = run_at(place[1])
    collector = opened(aggregator, run)
    publish(publisher, run, state("k=1", 1), state("k=2", 1, number=1))
    publish(publisher, run, state("k=1", 1), state("k=2", 1, number=1))
    publish(publisher, run, state("k=1", 1, attempt=9))
    assert sorted(collector.aggregate()) == [
        state("k=1", 1),
        state("k=1", 1, attempt=9),
        state("k=2", 1, number=1),
    ]
    collector.terminate()


def test_runs_at_once_do_not_meet(place: tuple[str, str]) -> None:
    publisher, aggregator = publisher_and_aggregator(place[0])
    one, other = run_at(place[1], 1), run_at(place[1], 2)
    of_one, of_other = opened(aggregator, one), opened(aggregator, other)
    publish(publisher, one, state("", 1))
    publish(publisher, other, state("", 2))
    of_one.terminate()
    assert list(of_other.aggregate()) == [state("", 2)]
    of_other.terminate()


def test_a_run_without_states(place: tuple[str, str]) -> None:
    publisher, aggregator = publisher_and_aggregator(place[0])
    run = run_at(place[1])
    collector = opened(aggregator, run)
    publish(publisher, run)
    assert list(collector.aggregate()) == []
    collector.terminate()


@pytest.mark.slow
def test_states_that_fill_more_than_one_message(server: str) -> None:
    publisher, aggregator = publisher_and_aggregator("thrift")
    run = run_at(server)
    collector = opened(aggregator, run)
    states = [state(f"k={number}", 0, number=number, content=bytes(_LOT_BYTES // 3)) for number in range(8)]
    publish(publisher, run, *states)
    assert list(collector.aggregate()) == states
    collector.terminate()


@pytest.mark.slow
@given(st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text), min_size=1, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_every_partition_name_is_a_place_of_files(tmp_path: Path, values: list[str]) -> None:
    name = partition_name([f"k{number}" for number in range(len(values))], [value[:20] for value in values])
    publisher, aggregator = publisher_and_aggregator("fs")
    run = run_at(str(tmp_path))
    collector = opened(aggregator, run)
    publish(publisher, run, state(name, 3, 2**40, 5))
    assert list(collector.aggregate()) == [state(name, 3, 2**40, 5)]
    collector.terminate()


def test_folders_of_runs_that_died_are_removed_and_nothing_else(tmp_path: Path) -> None:
    publisher, aggregator = publisher_and_aggregator("fs")
    dead, alive = run_at(str(tmp_path), 1), run_at(str(tmp_path), 2)
    for run in (dead, alive):
        opened(aggregator, run)
        publish(publisher, run, state("k=1", 1))
    old = time.time() - DAYS_SECONDS
    (tmp_path / "data" / "k=1").mkdir(parents=True)
    (tmp_path / "data" / "k=1" / "file").write_text("data")
    for path in [*tmp_path.rglob("*")]:
        if alive.id not in str(path):
            os.utime(path, (old, old))
    opened(aggregator, run_at(str(tmp_path), 3)).terminate()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", f"hmstats-run-{alive.id}"]
    assert (tmp_path / "data" / "k=1" / "file").read_text() == "data"


def test_in_a_store_a_run_is_alive_before_it_publishes(store: ObjectStore) -> None:
    """Directories of a store have no times."""
    publisher, aggregator = publisher_and_aggregator("fs")
    place = f"{BUCKET}/{time.time_ns()}"
    alive, dead = run_at(f"s3a://{place}", 1), run_at(f"s3a://{place}", 2)
    for run in (alive, dead):
        opened(aggregator, run)
    publish(publisher, dead, state("k=1", 1))
    opened(aggregator, replace(run_at(f"s3a://{place}", 3), retention_hours=-1)).terminate()
    left = store.files().get_file_info(fs.FileSelector(place))
    assert [each.base_name for each in left] == [f"hmstats-run-{alive.id}"]


def test_rows_of_runs_that_died_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher, aggregator = publisher_and_aggregator("sql")
    url = f"sqlite:///{tmp_path}/states.sqlite"
    dead, alive = run_at(url, 1), run_at(url, 2)
    now = time.time()
    collectors = [opened(aggregator, run) for run in (dead, alive)]
    with monkeypatch.context() as patch:
        patch.setattr("hmstats.collector.autogather.publishers.sql.time.time", lambda: now - DAYS_SECONDS)
        publish(publisher, dead, state("", 1))
    publish(publisher, alive, state("", 1))
    opened(aggregator, run_at(url, 3)).terminate()
    assert [list(each.aggregate()) for each in collectors] == [[], [state("", 1)]]


@pytest.mark.parametrize(
    ("dbclass", "connection"),
    [
        ("thrift", "thrift://127.0.0.1:1"),
        ("fs", "/proc/nowhere"),
        ("fs", "nothing://there/at/all"),
        ("sql", "sqlite:////nowhere/at/all.sqlite"),
    ],
)
def test_a_place_that_cannot_be_used_is_said(dbclass: str, connection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.collector.autogather.publishers.thrift._RETRIES", 0)
    publisher, aggregator = publisher_and_aggregator(dbclass)
    with pytest.raises(HmstatsError):
        opened(aggregator, run_at(connection))
    with pytest.raises(HmstatsError):
        publish(publisher, run_at(connection), state("", 1))


@pytest.mark.parametrize("dbclass", ["hbase", "", "counter:fs"])
def test_a_dbclass_that_nobody_has(dbclass: str) -> None:
    with pytest.raises(SettingsError, match=r"hive.stats.dbclass must be one of fs, jdbc, sql, thrift, found"):
        publisher_and_aggregator(dbclass)


@pytest.mark.parametrize("url", ["nothing", "nothing://there/at/all", "mssql+nothing://there/at"])
def test_a_url_that_leads_to_no_database(url: str) -> None:
    with pytest.raises(SettingsError, match="leads to no database"):
        opened(publisher_and_aggregator("sql")[1], run_at(url))
