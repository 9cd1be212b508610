"""Audit records of two servers over one database, of which workers are killed."""

from pathlib import Path
from typing import Any

from tests.faults.harness.worker_processes import wait_until, workers
from tests.server.access.guarded import done
from tests.server.serving import Client

from hmstats.model.access.audit_record import WantedRecords
from hmstats.service.access.audit_records import AuditRecords
from hmstats.store.database.store import Store
from hmstats.wire.idl import hive_metastore as api


def test_a_killed_worker_loses_what_had_queued_up_and_nothing_else(database_url: str, tmp_path: Path) -> None:
    store = Store.open(database_url)
    records = AuditRecords(store)

    def create(port: int, *names: str) -> None:
        with Client(("127.0.0.1", port)) as client:
            for name in names:
                database = api.Database(name=name, description="", parameters={})
                done(client.ask("create_database", database=database))

    def recorded() -> list[str]:
        found = records.find(WantedRecords(), 10_000).records
        return [each.objects[0].removeprefix("hive.") for each in found if each.call == "create_database"][::-1]

    def has(*names: str) -> bool:
        return set(names) <= set(recorded())

    settings: dict[str, Any] = {"audit": "writes", "audit_table_days": 1, "exclusive": False}
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    with (
        workers(folders[0], database_url, **settings) as first,
        workers(folders[1], database_url, 1, **settings) as second,
    ):
        create(first.port, "a1", "a2")
        create(second.port, "b1", "b2")
        wait_until(lambda: has("a1", "a2", "b1", "b2"))
        create(first.port, "c1", "c2", "c3")
        before = first.alive()
        for pid in before:
            first.kill(pid)
        create(second.port, "d1")
        wait_until(lambda: len(first.alive() - before) == 2 and first.whole())
        create(first.port, "e1")
        lost = second.metric("hmstats_audit_records_lost_total")
    told = recorded()
    store.close()
    assert lost == 0
    assert len(told) == len(set(told))
    assert {"a1", "a2", "b1", "b2", "d1", "e1"} <= set(told)
    killed = [name for name in told if name.startswith("c")]
    assert killed == ["c1", "c2", "c3"][: len(killed)]
