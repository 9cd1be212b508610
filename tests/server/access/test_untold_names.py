"""What a refusal or an event says names no object that its reader may not list."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.access.guarded import Guarded, done, guarded, raised
from tests.server.serving import Client

from hmstats.wire.idl import hive_metastore as api

RULES = """
[[rule]]
users = ["ada"]
objects = ["hive.open"]
allow = ["list", "read", "lock", "read_notifications"]
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
