"""What a refusal, an event or the past says is of no object that its reader may not see."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.access.guarded import Guarded, done, guarded, raised, statistics, table
from tests.server.serving import Client

from hmstats.wire.idl import extension
from hmstats.wire.idl import hive_metastore as api

RULES = """
[[rule]]
users = ["ada"]
objects = ["hive.open"]
allow = ["list", "read", "read_statistics", "write_statistics", "lock", "read_notifications"]
"""


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    with guarded(sqlite_url, tmp_path) as running:
        running.rule(RULES)
        yield running


def test_a_lock_of_another_s_transaction(server: Guarded) -> None:
    root, ada = server.client("root"), server.client("ada")
    opened = done(root.ask("open_txns", rqst=api.OpenTxnRequest(num_txns=1, user="root", hostname="h")))
    part = api.LockComponent(type=1, level=2, dbname="shut", tablename="t", operationType=1, isTransactional=True)
    asked = api.LockRequest(component=[part], txnid=opened.txn_ids[0], user="root", hostname="h")
    lock = done(root.ask("lock", rqst=asked)).lockid
    refused = raised(ada.ask("unlock", rqst=api.UnlockRequest(lockid=lock)))
    assert isinstance(refused, api.TxnOpenException)
    assert refused.message == f"lock {lock} is released with its transaction {opened.txn_ids[0]}, not before"


def test_an_event_of_a_foreign_key_of_a_hidden_table(server: Guarded) -> None:
    root, ada = server.client("root"), server.client("ada")
    primary = api.SQLPrimaryKey("open", "t", "l", 1, "pk", False, False, False, catName="hive")
    done(root.ask("add_primary_key", req=api.AddPrimaryKeyRequest(primaryKeyCols=[primary])))
    for child in ("shut", "open"):
        named = {"fk_name": child, "pk_name": "pk", "enable_cstr": False, "validate_cstr": False, "rely_cstr": False}
        key = api.SQLForeignKey("open", "t", "l", child, "p", "l", 1, 0, 0, **named, catName="hive")
        done(root.ask("add_foreign_key", req=api.AddForeignKeyRequest(foreignKeyCols=[key])))
    request = api.NotificationEventRequest(lastEvent=0)

    def told(client: Client) -> list[str]:
        events = done(client.ask("get_next_notification", rqst=request)).events
        return [each.message for each in events if each.eventType == "ADD_FOREIGNKEY"]

    assert len(told(root)) == 2
    (seen,) = told(ada)
    assert "shut" not in seen


def test_the_past_of_a_table_under_a_hidden_name(server: Guarded) -> None:
    """Its numbers of now are for whoever may read those of its new name, but not those of the time before."""
    root, ada = server.client("root"), server.client("ada")
    before_ms = int(time.time() * 1_000)
    time.sleep(0.01)
    done(root.ask("delete_table_column_statistics", db_name="shut", tbl_name="t", col_name="l", engine="hive"))
    done(root.ask("alter_table", dbname="shut", tbl_name="t", new_tbl=table("open", "moved")))
    done(root.ask("update_table_column_statistics", stats_obj=statistics("open", "moved")))
    time.sleep(0.01)
    after_ms = int(time.time() * 1_000)
    named = {"dbName": "open", "tblName": "moved"}

    def told(client: Client, at_ms: int) -> bool:
        request = extension.PastStatisticsRequest(**named, at=at_ms)
        reply = client.ask("get_past_statistics", request=request)
        return reply.content.success is not None and bool(reply.content.success.colStats)

    def restored(client: Client, at_ms: int) -> bool:
        request = extension.RestoreStatisticsRequest(**named, at=at_ms, dryRun=True)
        return client.ask("restore_statistics", request=request).content.success is not None

    assert [told(root, before_ms), restored(root, before_ms)] == [True, True]
    assert [told(ada, after_ms), restored(ada, after_ms)] == [True, True]
    assert [told(ada, before_ms), restored(ada, before_ms)] == [False, False]
