"""Audit records of several processes: the newest, and that older ones were left out or removed."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from hmstats.model.access.audit_record import AuditRecord, WantedRecords
from hmstats.service.access.audit_records import AuditRecords, Numbered
from hmstats.store.database.store import Store

NOW_MS = round(time.time() * 1000)
PLAIN = AuditRecord(NOW_MS, 0, 7, "10.0.0.5:5000", "ada", "token", "ada", "drop_table", ("hive.d.t",), True, 2, "ok")
EVERYTHING = WantedRecords()


def test_it_is_told_when_older_records_are_left_out(store: Store) -> None:
    records = AuditRecords(store)
    records.add([Numbered(1, number, replace(PLAIN, time_ms=NOW_MS + number)) for number in range(3)])
    assert [each.time_ms - NOW_MS for each in records.find(EVERYTHING, 2).records] == [2, 1]
    assert [records.find(EVERYTHING, limit).more for limit in (2, 3, 4)] == [True, False, False]


def test_records_of_many_writers_are_all_kept(database_url: str, store: Store) -> None:
    def write(writer: int) -> None:
        own = Store.open(database_url)
        try:
            for batch in range(5):
                AuditRecords(own).add([Numbered(writer, batch * 20 + number, PLAIN) for number in range(20)])
        finally:
            own.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(AuditRecords(store).find(WantedRecords(("hive", "d", "t")), 1_000).records) == 400


def test_servers_that_remove_old_records_at_once_leave_the_new_ones(store: Store) -> None:
    records = AuditRecords(store)
    old = replace(PLAIN, time_ms=NOW_MS - 3 * 86_400_000)
    records.add([Numbered(1, number, old) for number in range(2_500)] + [Numbered(2, 0, PLAIN)])
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(records.remove_older, [2 * 86_400.0] * 2))
    assert records.find(EVERYTHING, 10).records == [PLAIN]
