"""What is locked is no part of an analysis; where all is locked, one that somebody asked for is refused."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.options import DEFAULT
from hmstats.collector.planning.locked import check_unlocked
from hmstats.collector.planning.plan import Plan
from hmstats.collector.planning.prepare import prepare
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.statistics.statistics_locks import LockedObject

COLUMNS = {"a": "int", "b": "int"}


@pytest.fixture
def service(our_metastore: Metastore) -> Iterator[client.Metastore]:
    our_metastore.table("t", COLUMNS, keys=("p",))
    our_metastore.add_partitions(("1",), ("2",), columns=COLUMNS)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as made:
        yield made


def lock(service: client.Metastore, metastore: Metastore, table: str | None = "t", **more: Any) -> None:
    service.locks.lock(LockedObject(DatabaseName("hive", metastore.database), table, **more), reason="plans")


def planned(
    service: client.Metastore, metastore: Metastore, *, automatic: bool = False, past_locks: bool = False
) -> Plan:
    request = Statement(TableName("hive", metastore.database, "t"))
    plan, _ = prepare(service, request, DEFAULT, changed_only=automatic, past_locks=past_locks)
    return plan


@pytest.mark.parametrize("table", ["t", None])
def test_a_locked_table(service: client.Metastore, our_metastore: Metastore, table: str | None) -> None:
    lock(service, our_metastore, table)
    sentence = f"the statistics of {our_metastore.database}.t are locked: .* is locked by .* .plans.; --past-locks"
    with pytest.raises(StatementError, match=sentence):
        planned(service, our_metastore)
    with pytest.raises(StatementError, match=sentence):
        check_unlocked(service, TableName("hive", our_metastore.database, "t"))
    left = planned(service, our_metastore, automatic=True)
    assert left.pieces == ()
    assert left.left_out is not None
    assert "are locked" in left.left_out
    assert len(planned(service, our_metastore, past_locks=True).pieces) == 2


def test_locked_columns_and_partitions(service: client.Metastore, our_metastore: Metastore) -> None:
    lock(service, our_metastore, columns=("b",))
    lock(service, our_metastore, partition="p=1")
    plan = planned(service, our_metastore)
    assert (list(plan.types), plan.skipped) == (["a"], {"b": "its statistics are locked"})
    assert [each.name for each in plan.pieces] == ["p=2"]
    assert [each.name for each in plan.locked] == ["p=1"]
    assert not plan.whole
    lock(service, our_metastore, columns=("a",))
    with pytest.raises(StatementError, match="all columns"):
        planned(service, our_metastore)


def test_hives_parameter_counts_for_automatic_runs(service: client.Metastore, our_metastore: Metastore) -> None:
    ask = our_metastore.client()
    part = ask.get_partition(our_metastore.database, "t", ["1"])
    part.parameters = {**part.parameters, "skip.stats.autoupdate": "true"}
    ask.alter_partition(our_metastore.database, "t", part)
    assert [each.name for each in planned(service, our_metastore, automatic=True).locked] == ["p=1"]
    assert len(planned(service, our_metastore).pieces) == 2
    table = our_metastore.read_table()
    table.parameters = {**table.parameters, "skip.stats.autoupdate": "TRUE"}
    ask.alter_table(our_metastore.database, "t", table)
    assert "skip.stats.autoupdate" in (planned(service, our_metastore, automatic=True).left_out or "")
    assert len(planned(service, our_metastore).pieces) == 2
