"""Audit records: by which names they are found, and how clients' texts are kept."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from tests.store.row_counts import row_counts

from hmstats.model.access.audit_record import AuditRecord, WantedRecords
from hmstats.store.access import audit_records
from hmstats.store.access.audit_records import Numbered
from hmstats.store.database.store import Store

PLAIN = AuditRecord(1_000, 0, 7, "10.0.0.5:5000", "ada", "token", "ada", "drop_table", (), True, 2, "ok")


def add(store: Store, *records: AuditRecord, writer: int = 2**63 - 1, first: int = 0) -> Sequence[Numbered]:
    numbered = [Numbered(writer, number, each) for number, each in enumerate(records, first)]
    store.write(partial(audit_records.insert_many, records=numbered))
    return numbered


def found(store: Store, *about: str, limit: int = 100, **wanted: object) -> list[AuditRecord]:
    with store.read() as connection:
        return audit_records.newest(connection, WantedRecords(about or None, **wanted), limit)  # type: ignore[arg-type]


def test_records_are_found_by_table_database_and_catalog_under_old_and_new_names(store: Store) -> None:
    objects = [
        ("hive.d.t",),
        ("hive.d.t", "hive.e.new"),
        ("hive.d.tt",),
        ("hive.d",),
        ("hive",),
        ("other.d.t",),
        (),
        ("hive.d%.t",),
    ]
    add(store, *(replace(PLAIN, time_ms=at, objects=names) for at, names in enumerate(objects)))
    times = {
        about: [each.time_ms for each in found(store, *about)]
        for about in [
            ("hive", "d", "t"),
            ("hive", "e", "new"),
            ("hive", "d"),
            ("hive", "e"),
            ("other", "d"),
            ("x", "y"),
        ]
    }
    assert times == {
        ("hive", "d", "t"): [4, 3, 1, 0],
        ("hive", "e", "new"): [4, 1],
        ("hive", "d"): [4, 3, 2, 1, 0],
        ("hive", "e"): [4, 1],
        ("other", "d"): [5],
        ("x", "y"): [],
    }
    assert [each.objects for each in found(store)] == objects[::-1]


def test_records_are_found_by_time_user_and_refusal_the_newest_first(store: Store) -> None:
    add(
        store,
        PLAIN,
        replace(PLAIN, time_ms=1_001, principal=None, user="bob", mechanism=None, worker=None, rule=None),
        replace(PLAIN, time_ms=1_002, principal=None, user=None, call=None, allowed=False, outcome="NotAuthenticated"),
    )
    assert [each.time_ms for each in found(store)] == [1_002, 1_001, 1_000]
    assert [each.time_ms for each in found(store, limit=2)] == [1_002, 1_001]
    assert [each.time_ms for each in found(store, since_ms=1_001)] == [1_002, 1_001]
    assert found(store, user="ada") == [PLAIN]
    assert [each.time_ms for each in found(store, user="bob")] == [1_001]
    assert [each.call for each in found(store, denied=True)] == [None]
    assert found(store, denied=True, user="ada") == []


def test_a_record_that_is_written_twice_is_there_once_and_writers_do_not_meet(store: Store) -> None:
    record = replace(PLAIN, objects=("hive.d.t", "hive.d.t"))
    for _ in range(2):
        add(store, record)
    add(store, record, writer=1)
    assert [each.objects for each in found(store, "hive", "d", "t")] == [("hive.d.t", "hive.d.t")] * 2


@pytest.mark.parametrize("name", ["x" * 70_000, "\U0001f600" * 70_000, "\0", "\ud83d", "'; --", "a\nb", ".", "", "..."])
def test_any_text_of_a_client_is_stored(store: Store, name: str) -> None:
    odd = replace(PLAIN, objects=(f"{name}.{name}.{name}",), user=name, principal=name, call=name, address=name)
    add(store, odd, PLAIN)
    (first, second) = found(store)
    assert PLAIN in (first, second)
    assert [len(each.objects) for each in (first, second)] in ([0, 1], [1, 0])
    if "." not in name:
        assert len(found(store, name, name, name)) == 1


def test_a_call_about_very_many_objects_is_stored_with_the_first_thousand(store: Store) -> None:
    add(store, replace(PLAIN, objects=tuple(f"hive.d.t{number}" for number in range(3_000))))
    (record,) = found(store, "hive", "d", "t999")
    assert len(record.objects) == 1_000
    assert found(store, "hive", "d", "t1000") == []


def test_old_records_are_removed_with_their_objects(store: Store) -> None:
    before = row_counts(store)
    add(store, *(replace(PLAIN, time_ms=at, objects=("hive.d.t", "hive.d.u")) for at in range(2_500)))
    removed = [store.write(partial(audit_records.remove_older, before_ms=2_400)) for _ in range(4)]
    assert removed == [1_000, 1_000, 400, 0]
    assert len(found(store, "hive", "d", "u", limit=1_000)) == 100
    store.write(partial(audit_records.remove_older, before_ms=10_000))
    assert row_counts(store) == before


def test_who_acts_as_another_is_kept_and_found(store: Store) -> None:
    acting = replace(PLAIN, principal="alice", user="alice", via="trino")
    add(store, PLAIN, acting)
    assert found(store, user="trino") == found(store, user="alice") == [acting]
