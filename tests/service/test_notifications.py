"""The log through its rules: what clients tell, and what is removed."""

import json
from pathlib import Path

import pytest
from tests.service.statistics.filled import NAME, make_table

from hmstats.errors import MetaError, NoSuchObject
from hmstats.model import events
from hmstats.model.catalog.objects import Partition, Storage
from hmstats.model.events import NotificationFilter
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.notifications import Insertion, NotificationLog
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.wire.events.event_messages import encoder

DAY_SECONDS = 86_400.0


@pytest.fixture
def log(store: Store, tmp_path: Path) -> NotificationLog:
    """The log of a store with one table of two partitions, empty yet."""
    make_table(store, tmp_path, [0, 1])
    store.enable_log(encoder(sketches=False))
    return NotificationLog(store)


def types(log: NotificationLog) -> list[str]:
    return [each.notification.type for each in log.read(NotificationFilter(after=0))]


def test_inserted_files_are_events_of_the_table_or_of_partitions(log: NotificationLog) -> None:
    assert log.record_insertions(NAME, [Insertion(["a"])]) == [1]
    assert log.record_insertions(NAME, [Insertion(["a"], ("0",)), Insertion(["b"], ("1",), replacing=False)]) == [2, 3]
    assert log.record_insertions(NAME, []) == []
    assert (types(log), log.current_id(), log.count(NotificationFilter(after=1))) == (["INSERT"] * 3, 3, 2)


def test_a_table_or_a_partition_can_be_said_to_be_reread(log: NotificationLog) -> None:
    assert log.record_reload(NAME, (), {"told": "1"}, refresh=True) == [1]
    assert log.record_reload(NAME, ("1",), {}, refresh=False) == [2]
    first, second = (each.notification.message for each in log.read(NotificationFilter(after=0)))
    assert ('"refreshEvent":"true"' in first, '"refreshEvent":"false"' in second) == (True, True)
    assert ("told" in first, "told" in second) == (True, False)


def test_thousands_of_partitions_are_several_events(
    store: Store, tmp_path: Path, log: NotificationLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_MOST_PARTITIONS", 2)
    new = [Partition(values=(str(number),), storage=Storage(columns=())) for number in range(2, 7)]
    PartitionChanges(store, Warehouse(str(tmp_path))).add(NAME, new)
    told = [each.notification for each in log.read(NotificationFilter(after=0))]
    assert {each.type for each in told} == {"ADD_PARTITION"}
    named = [[each["p"] for each in json.loads(each.message)["partitions"]] for each in told]
    assert named == [["2", "3"], ["4", "5"], ["6"]]


@pytest.mark.parametrize("values", [("7",), ("0", "1")])
def test_what_is_not_there_is_refused(log: NotificationLog, values: tuple[str, ...]) -> None:
    with pytest.raises((NoSuchObject, MetaError)):
        log.record_insertions(NAME, [Insertion(["a"], ("0",)), Insertion(["a"], values)])
    with pytest.raises((NoSuchObject, MetaError)):
        log.record_reload(NAME, values, {}, refresh=True)
    assert (types(log), log.current_id()) == ([], 0)


def test_what_is_older_than_the_retention_is_removed(log: NotificationLog) -> None:
    log.record_insertions(NAME, [Insertion(["a"])] * 1_100)
    assert log.remove_older(DAY_SECONDS) == 0
    assert log.remove_older(-1.0) == 1_100
    assert (types(log), log.current_id()) == ([], 1_100)


def test_without_a_log_clients_are_answered(store: Store, tmp_path: Path) -> None:
    make_table(store, tmp_path, [0])
    log = NotificationLog(store)
    assert log.record_insertions(NAME, [Insertion(["a"])]) == log.record_reload(NAME, (), {}, refresh=True) == []
    assert (types(log), log.current_id()) == ([], 0)
