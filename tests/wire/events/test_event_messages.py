"""What every event says; tests/behaviour/metastore/test_notifications.py holds the messages to a real Hive's."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.store.catalog_values import NAME, TABLE, partition

from hmstats.model.events import (
    Event,
    Inserted,
    Logged,
    Notification,
    PartitionAltered,
    PartitionsAdded,
    StatisticsDeleted,
    StatisticsUpdated,
    TableAltered,
)
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.wire.events.event_messages import encoder, logged_to_thrift

NOW = 1_700_000_000


def told(event: Event, *, sketches: bool = False) -> tuple[str, dict[str, Any]]:
    """The type and the message of an event."""
    found = encoder(sketches=sketches)(event, NOW)
    assert (found.catalog, found.database, found.format) == ("hive", "default", "json-0.2")
    return found.type, json.loads(found.message)


def test_a_message_says_when_and_about_what() -> None:
    found = encoder(sketches=False)(Inserted(TABLE, None, ["a", "b"]), NOW)
    assert (found.type, found.table) == ("INSERT", "t")
    message = json.loads(found.message)
    assert message.pop("tableObjJson").startswith('{"1":{"str":"t"},"2":{"str":"default"}')
    assert message == {
        "server": "",
        "servicePrincipal": "",
        "db": "default",
        "table": "t",
        "tableType": "MANAGED_TABLE",
        "ptnObjJson": None,
        "replace": "false",
        "files": ["a###", "b###"],
        "timestamp": NOW,
    }


def test_a_renamed_table_is_logged_by_its_new_name_and_told_by_its_old_one() -> None:
    renamed = replace(TABLE, name=replace(NAME, table="u"))
    found = encoder(sketches=False)(TableAltered(TABLE, renamed), NOW)
    assert (found.table, json.loads(found.message)["table"]) == ("u", "t")


def test_partitions_are_told_by_key_and_name_and_files_of_managed_tables_only() -> None:
    new = [partition("1"), partition("a/b")]
    _, message = told(PartitionsAdded(TABLE, new))
    assert message["partitions"] == [{"p": "1"}, {"p": "a/b"}]
    assert [each["partitionName"] for each in message["partitionFiles"]] == ["p=1", "p=a%2Fb"]
    _, message = told(PartitionsAdded(replace(TABLE, table_type="EXTERNAL_TABLE"), new))
    assert (len(message["partitionListJson"]), message["partitionFiles"]) == (2, [])


def test_a_truncated_partition_is_told_with_its_values_before() -> None:
    kind, message = told(PartitionAltered(TABLE, partition("1"), partition("2"), truncated=True))
    assert (kind, message["isTruncateOp"], message["keyValues"]) == ("ALTER_PARTITION", "true", {"p": "1"})


@pytest.mark.parametrize("sketches", [True, False])
def test_sketches_are_in_messages_where_answers_have_them_too(sketches: bool) -> None:
    column = ColumnStatistics("id", "bigint", LongStatistics(low=1, high=2, nulls=0, ndv=2, bit_vector=b"\x00\x01\x02"))
    written = StatisticsSet((column,), "p=1", "impala")
    kind, message = told(StatisticsUpdated(TABLE, written, {"a": "b"}, ("1",)), sketches=sketches)
    assert (kind, message["partVals"], message["parameters"]) == ("UPDATE_PART_COL_STAT_EVENT", ["1"], {"a": "b"})
    struct = json.loads(message["colStatsJson"])
    assert struct["4"] == {"str": "impala"}
    data = struct["2"]["lst"][2]["3"]["rec"]["2"]["rec"]
    assert data.get("5") == ({"str": "AAEC"} if sketches else None)


def test_deleted_statistics_are_told_without_the_table() -> None:
    assert told(StatisticsDeleted(NAME, None))[1]["colName"] is None
    kind, message = told(StatisticsDeleted(NAME, "id", "p=1", ("1",)))
    assert (kind, message["partName"], message["partValues"]) == ("DELETE_PART_COL_STAT_EVENT", "p=1", ["1"])


def test_what_is_no_event_has_no_message() -> None:
    with pytest.raises(TypeError, match="an event was expected"):
        told(cast("Event", object()))


def test_readers_get_every_field() -> None:
    struct = logged_to_thrift(Logged(7, NOW, Notification("T", "c", "d", None, "{}", "json-0.2")))
    fields = (struct.eventId, struct.eventTime, struct.eventType, struct.catName, struct.dbName, struct.tableName)
    assert fields == (7, NOW, "T", "c", "d", None)
    assert (struct.message, struct.messageFormat) == ("{}", "json-0.2")
