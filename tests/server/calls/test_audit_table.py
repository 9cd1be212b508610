"""The queue of audit records: bounded, never waited for, and nothing lost while the database is away."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs
from tests.server.access.guarded import done, guarded, raised, statistics

from hmstats.errors import MetaError, StoreUnavailable
from hmstats.model.access.audit_record import AuditRecord, WantedRecords
from hmstats.server.calls.audit import AuditLog
from hmstats.server.calls.audit_table import AuditTable
from hmstats.service.access.audit_records import AuditRecords, Numbered
from hmstats.store.database.store import Store

PLAIN = AuditRecord(1_000, 0, 7, "10.0.0.5:5000", "ada", "token", "ada", "drop_table", (), True, 2, "ok")


def lost() -> float:
    return REGISTRY.get_sample_value("hmstats_audit_records_lost_total") or 0.0


class Failing(AuditRecords):
    """Records over a database that is away, or refuses the calls named `bad`."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.away = False

    def add(self, records: Sequence[Numbered]) -> None:
        """Fail, or store the records."""
        if self.away:
            raise StoreUnavailable("the database does not answer")
        if any(each.record.call == "bad" for each in records):
            raise MetaError("a record is refused")
        super().add(records)

    def times(self) -> list[int]:
        """The times of all that is stored, from the first."""
        return [each.time_ms for each in self.find(WantedRecords(), 10_000).records][::-1]


@pytest.fixture
def records(store: Store) -> Failing:
    return Failing(store)


def fill(table: AuditTable, times: range, *, changes: bool = True) -> None:
    for at in times:
        table.add(replace(PLAIN, time_ms=at), changes=changes)


def test_records_wait_while_the_database_is_away_and_are_written_once(records: Failing) -> None:
    table, before = AuditTable(records, 1.0), lost()
    fill(table, range(1_500))
    records.away = True
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            table.write_waiting()
    fill(table, range(1_500, 2_500))
    records.away = False
    table.write_waiting()
    table.write_waiting()
    assert records.times() == list(range(2_500))
    assert lost() == before


def test_a_full_queue_loses_reads_first_counts_and_tells(records: Failing) -> None:
    table, before = AuditTable(records, 1.0, most_waiting=10), lost()
    fill(table, range(8), changes=False)
    fill(table, range(100, 107))
    with capture_logs() as log:
        table.write_waiting()
    assert records.times() == [*range(5), *range(100, 105)]
    assert lost() - before == 5
    (line,) = [each for each in log if each["event"] == "audit_records_lost"]
    assert (line["log_level"], line["number"]) == ("error", 5)
    fill(table, range(200, 201), changes=False)
    table.write_waiting()
    assert records.times()[-1] == 200


def test_only_what_the_database_refuses_is_lost(records: Failing) -> None:
    table, before = AuditTable(records, 1.0), lost()
    for at in range(100):
        table.add(replace(PLAIN, time_ms=at, call="bad" if at in (0, 57, 58) else "good"), changes=True)
    table.write_waiting()
    assert records.times() == [at for at in range(100) if at not in (0, 57, 58)]
    assert lost() - before == 3


def test_the_end_writes_what_waits_and_counts_what_it_cannot(records: Failing) -> None:
    table, before = AuditTable(records, 1.0), lost()
    fill(table, range(3))
    table.close()
    assert records.times() == [0, 1, 2]
    records.away = True
    fill(table, range(3, 1_500))
    table.close()
    assert lost() - before == 1_497


def test_calls_come_into_the_table_with_what_they_are_about(database_url: str, tmp_path: Path) -> None:
    opened = Store.open(database_url)
    table = AuditTable(AuditRecords(opened), 1.0)
    with guarded(database_url, tmp_path, AuditLog(table=table)) as server:
        server.rule('[[rule]]\nusers = ["ada"]\nobjects = ["hive.open"]\nallow = ["list", "read"]\n')
        raised(server.client("ada").ask("drop_table", dbname="OPEN", name="t", deleteData=False))
        done(server.client("root").ask("update_table_column_statistics", stats_obj=statistics("open", "t")))
        table.write_waiting()
        found = AuditRecords(opened).find(WantedRecords(("hive", "open", "t")), 100).records
    opened.close()
    assert [(each.principal, each.call, each.objects, each.allowed, each.rule) for each in found][:3] == [
        ("root", "update_table_column_statistics", ("hive.open.t",), True, 1),
        ("ada", "drop_table", ("hive.open.t",), False, 2),
        ("root", "update_table_column_statistics", ("hive.open.t",), True, 1),
    ]
