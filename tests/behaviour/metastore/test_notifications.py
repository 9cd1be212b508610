"""The notification log: whole sessions leave the events that a real Hive 4.0.1 wrote for them, and readers follow.

tests/testdata/hive-events-4.0.json is what event_session.py printed for a Hive with its listener for notifications.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.behaviour.metastore import event_session
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

HIVE = json.loads((Path(__file__).parents[2] / "testdata" / "hive-events-4.0.json").read_text())
Events = list[dict[str, Any]]


def test_a_whole_session_leaves_hives_events(our_metastore: Metastore) -> None:
    ours = event_session.play(our_metastore.client())
    assert list(ours) == list(event_session.STEPS)
    for step, events in ours.items():
        assert _comparable(step, events) == _comparable(step, _as_we_say(step, HIVE[step])), step


def _as_we_say(step: str, events: Events) -> Events:
    """Hive's events without those that repeat others or say nothing.

    Of a truncation Hive tells twice; of a partitioned table it tells for each partition, where one event says it all.
    """
    if step == "truncate partitioned table":
        return []
    told = [each for each in events if not step.startswith("truncate") or each["message"]["isTruncateOp"] == "true"]
    return [each for each in told if each["message"].get("partitions") != []]


def _comparable(step: str, events: Events) -> Events:
    if step == "truncate partitioned table":
        return []
    for event in events:
        event["message"].get("dbJson", {}).pop("11", None)  # the database's type, which Hive leaves out of a new one
        if event["type"] == "UPDATE_PART_COL_STAT_EVENT":
            event["message"].pop("parameters", None)  # of some calls Hive tells all, of others those that were put
    anyhow = step in ("drop database with all in it", "set partitions' statistics")
    return sorted(events, key=str) if anyhow else events


def test_a_truncated_table_is_one_event_however_many_partitions_it_has(our_metastore: Metastore) -> None:
    our_metastore.table(keys=["k"])
    our_metastore.add_partitions(["1"], ["2"])
    client = our_metastore.client()
    told = Told(client)
    client.truncate_table(our_metastore.database, "t", None)
    (event,) = told.new()
    assert (event.eventType, json.loads(event.message)["isTruncateOp"]) == ("ALTER_TABLE", "true")
    client.truncate_table(our_metastore.database, "t", ["k=2"])
    (event,) = told.new()
    message = json.loads(event.message)
    assert (event.eventType, message["isTruncateOp"], message["keyValues"]) == ("ALTER_PARTITION", "true", {"k": "2"})


class Told:
    """A reader that follows the log."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._last = client.get_current_notificationEventId().eventId

    def new(self, **wanted: Any) -> list[Any]:
        """The events since the last time; their ids have no gap where nothing is left out."""
        found = self._client.get_next_notification(api.NotificationEventRequest(lastEvent=self._last, **wanted)).events
        if not wanted:
            assert [each.eventId for each in found] == list(range(self._last + 1, self._last + 1 + len(found)))
        self._last = self._client.get_current_notificationEventId().eventId
        return list(found)


def test_a_refused_change_leaves_no_event_and_no_gap(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    told = Told(client)
    our_metastore.table()
    with pytest.raises(api.AlreadyExistsException):
        our_metastore.table()
    with pytest.raises(api.NoSuchObjectException):
        client.drop_table(our_metastore.database, "nothing", True)
    client.drop_table(our_metastore.database, "t", True)
    assert [each.eventType for each in told.new()] == ["CREATE_TABLE", "DROP_TABLE"]


def test_what_changed_nothing_is_no_event(our_metastore: Metastore) -> None:
    our_metastore.table(keys=["k"])
    our_metastore.add_partitions(["1"])
    client = our_metastore.client()
    told = Told(client)
    again = api.AddPartitionsRequest(
        dbName=our_metastore.database, tblName="t", parts=[our_metastore.partition("1")], ifNotExists=True
    )
    client.add_partitions_req(again)
    missing = api.DropPartitionsRequest(
        dbName=our_metastore.database, tblName="t", parts=api.RequestPartsSpec(names=["k=9"]), ifExists=True
    )
    client.drop_partitions_req(missing)
    assert told.new() == []


def test_statistics_are_told_with_the_table_as_it_is(our_metastore: Metastore) -> None:
    our_metastore.table(parameters={"first": "1"})
    client = our_metastore.client()
    told = Told(client)
    client.update_table_column_statistics(statistics(our_metastore, statistics_of("l")))
    changed = our_metastore.read_table()
    changed.parameters["second"] = "2"
    client.alter_table_with_environment_context(our_metastore.database, "t", changed, None)
    client.update_table_column_statistics(statistics(our_metastore, statistics_of("l")))
    client.update_table_column_statistics(statistics(our_metastore, statistics_of("s")))
    of_types = ("UPDATE_TBL_COL_STAT_EVENT", "ALTER_TABLE", "UPDATE_TBL_COL_STAT_EVENT", "UPDATE_TBL_COL_STAT_EVENT")
    events = told.new()
    assert [each.eventType for each in events] == list(of_types)
    first, _, second, third = (json.loads(each.message) for each in events)
    assert ("second" in first["parameters"], second["parameters"]["second"]) == (False, "2")
    marked = json.loads(third["parameters"]["COLUMN_STATS_ACCURATE"])["COLUMN_STATS"]
    assert marked == {"l": "true", "s": "true"}
    assert third["parameters"] == our_metastore.parameters()
    assert _parameters_of(third["tableObjJson"]) == our_metastore.parameters()
    (column,) = json.loads(third["colStatsJson"])["2"]["lst"][2:]
    assert column["1"]["str"] == "s"


def _parameters_of(table: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(table)["9"]["map"][3]
    return found


def test_readers_choose(our_metastore: Metastore) -> None:
    client, database = our_metastore.client(), our_metastore.database
    last = client.get_current_notificationEventId().eventId
    our_metastore.table("a")
    our_metastore.table("b")
    client.drop_table(database, "a", True)

    def chosen(**wanted: Any) -> list[tuple[str, str]]:
        events = client.get_next_notification(api.NotificationEventRequest(lastEvent=last, **wanted)).events
        return [(each.eventType, each.tableName) for each in events]

    made_a, made_b, dropped = ("CREATE_TABLE", "a"), ("CREATE_TABLE", "b"), ("DROP_TABLE", "a")
    assert chosen() == [made_a, made_b, dropped]
    assert chosen(maxEvents=2) == [made_a, made_b]
    assert chosen(maxEvents=0) == chosen(maxEvents=-1) == chosen()
    assert chosen(dbName=database.upper(), tableNames=["A"]) == [made_a, dropped]
    assert chosen(catName="HIVE", tableNames=["a", "b"]) == chosen()
    assert chosen(catName="other") == chosen(dbName="other") == chosen(tableNames=["other"]) == []
    assert chosen(eventTypeSkipList=["CREATE_TABLE"]) == [dropped]
    assert chosen(eventTypeSkipList=["create_table"], tableNames=[]) == chosen()
    assert chosen(eventTypeList=["DROP_TABLE"]) == [dropped]
    assert client.get_next_notification(api.NotificationEventRequest(lastEvent=last + 3)).events == []

    def counted(**wanted: Any) -> int:
        request = api.NotificationEventsCountRequest(fromEventId=last, dbName=database, **wanted)
        found: int = client.get_notification_events_count(request).eventsCount
        return found

    assert (counted(), counted(limit=2), counted(limit=0), counted(toEventId=last + 1)) == (3, 2, 0, 1)
    assert (counted(tableNames=["B"]), counted(catName="other"), counted(limit=-1)) == (1, 0, 3)


def test_events_of_all_databases_are_counted(our_metastore: Metastore) -> None:
    """Of the database `*`, as Hive counts what a dump of everything would tell."""
    client = our_metastore.client()
    before = client.get_current_notificationEventId().eventId
    our_metastore.table()
    after = client.get_current_notificationEventId().eventId
    request = api.NotificationEventsCountRequest(fromEventId=before, dbName="*", toEventId=after)
    assert client.get_notification_events_count(request).eventsCount == after - before > 0


def test_inserted_files_are_told_with_the_ids_of_their_events(our_metastore: Metastore) -> None:
    our_metastore.table(keys=["k"])
    our_metastore.add_partitions(["1"], ["2"])
    client = our_metastore.client()
    told = Told(client)

    def fire(table: str = "t", **data: Any) -> list[int]:
        request = api.FireEventRequest(
            successful=True, data=api.FireEventRequestData(**data), dbName=our_metastore.database, tableName=table
        )
        found: list[int] = client.fire_listener_event(request).eventIds
        return found

    def files(name: str, **values: Any) -> Any:
        return api.InsertEventRequestData(filesAdded=[name], **values)

    ids = fire(insertDatas=[files("x", partitionVal=["1"], replace=False), files("y", partitionVal=["2"])])
    events = told.new()
    assert ids == [each.eventId for each in events]
    messages = [json.loads(each.message) for each in events]
    assert [(each["files"], each["replace"]) for each in messages] == [(["x###"], "false"), (["y###"], "true")]
    assert [json.loads(each["ptnObjJson"])["1"]["lst"][2:] for each in messages] == [["1"], ["2"]]
    with pytest.raises(TApplicationException, match="nothing table not found"):
        fire("nothing", insertDatas=[files("z", partitionVal=["1"])])
    with pytest.raises(TApplicationException, match="Partition values must be set"):
        fire(insertDatas=[files("z")])
    with pytest.raises(TApplicationException, match=r"partition k=9 of table .* not found"):
        fire(insertDatas=[files("x", partitionVal=["1"]), files("z", partitionVal=["9"])])
    assert fire(insertDatas=[]) == []
    assert told.new() == []


def test_an_insert_that_a_client_of_hive_2_3_tells_names_no_file_that_is_none(our_metastore: Metastore) -> None:
    """Its files stand where newer clients have another field; its checksums are empty beside HDFS."""
    our_metastore.table()
    client = our_metastore.client()
    told = Told(client)
    checksums = api.InsertEventRequestData(filesAdded=[""])  # with these ids
    data = api.FireEventRequestData(insertData=checksums)
    client.fire_listener_event(
        api.FireEventRequest(successful=True, data=data, dbName=our_metastore.database, tableName="t")
    )
    (event,) = told.new()
    assert (event.eventType, json.loads(event.message)["files"]) == ("INSERT", [])


def test_calls_of_replication_answer_and_do_nothing(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    told = Told(client)
    files = api.InsertEventRequestData(filesAdded=["f"])
    write = api.WriteNotificationLogRequest(txnId=1, writeId=1, db=our_metastore.database, table="t", fileInfo=files)
    assert client.add_write_notification_log(write) == api.WriteNotificationLogResponse()
    batch = api.WriteNotificationLogBatchRequest(
        catalog="hive", db=our_metastore.database, table="t", requestList=[write]
    )
    assert client.add_write_notification_log_in_batch(batch) == api.WriteNotificationLogBatchResponse()
    recycled = client.cm_recycle(api.CmRecycleRequest(dataPath="file:///nothing", purge=False))
    assert recycled == api.CmRecycleResponse()
    assert told.new() == []


def test_transactions_and_locks_are_no_events(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    told = Told(client)
    opened = client.open_txns(api.OpenTxnRequest(num_txns=1, user="ada", hostname="here")).txn_ids
    client.commit_txn(api.CommitTxnRequest(txnid=opened[0]))
    assert told.new() == []


def test_writers_at_once_leave_no_gap_and_their_own_order(our_metastore: Metastore) -> None:
    told = Told(our_metastore.client())

    def write(name: str, client: Any) -> None:
        for _ in range(5):
            client.create_table(api.Table(tableName=name, dbName=our_metastore.database, sd=our_metastore.storage()))
            client.drop_table(our_metastore.database, name, True)

    _at_once({f"t{each}": write for each in range(4)}, our_metastore.client)
    events = told.new()
    assert len(events) == 4 * 10
    for number in range(4):
        own = [each.eventType for each in events if each.tableName == f"t{number}"]
        assert own == ["CREATE_TABLE", "DROP_TABLE"] * 5


def _at_once(work: Mapping[str, Callable[[str, Any], None]], client: Callable[[], Any]) -> None:
    failed: list[BaseException] = []

    def run(name: str, connection: Any) -> None:
        try:
            work[name](name, connection)
        except BaseException as error:  # noqa: BLE001 (told below, where the test sees it)
            failed.append(error)

    threads = [threading.Thread(target=run, args=(name, client())) for name in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_reader_never_sees_an_event_before_an_earlier_one(our_metastore: Metastore) -> None:
    client, reader = our_metastore.client(), our_metastore.client()
    last = reader.get_current_notificationEventId().eventId
    seen: list[int] = []
    done = threading.Event()

    def follow() -> None:
        while not (done.is_set() and len(seen) >= 40):
            after = seen[-1] if seen else last
            events = reader.get_next_notification(api.NotificationEventRequest(lastEvent=after)).events
            seen.extend(each.eventId for each in events)

    follower = threading.Thread(target=follow)
    follower.start()

    def write(name: str, connection: Any) -> None:
        for _ in range(5):
            connection.create_table(
                api.Table(tableName=name, dbName=our_metastore.database, sd=our_metastore.storage())
            )
            connection.drop_table(our_metastore.database, name, True)

    _at_once({f"t{each}": write for each in range(4)}, our_metastore.client)
    done.set()
    follower.join()
    assert seen == list(range(last + 1, last + 41))
    assert client.get_current_notificationEventId().eventId == last + 40


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Metastore]:
    """A server of ours that keeps no log."""
    with serving(tmp_path, settings={"notifications": False}) as port:
        found = Metastore("hmstats-sqlite", port, 4.0)
        with found.clients:
            found.client().create_database(api.Database(name=found.database))
            yield found


def test_without_a_log_nothing_is_told_and_everything_works(quiet: Metastore) -> None:
    quiet.table()
    client = quiet.client()
    client.update_table_column_statistics(statistics(quiet, statistics_of("l")))
    client.drop_database(quiet.database, True, True)
    assert client.get_current_notificationEventId().eventId == 0
    assert client.get_next_notification(api.NotificationEventRequest(lastEvent=0)).events == []
