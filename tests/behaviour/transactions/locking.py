"""Short ways to ask for locks and transactions."""

from typing import Any

from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

SHARED_READ, SHARED_WRITE, EXCLUSIVE, EXCL_WRITE = 1, 2, 3, 4
ACQUIRED, WAITING, NOT_ACQUIRED = 1, 2, 4
COMMITTED, ABORTED, OPEN = 1, 2, 3
INSERT = 2


def component(
    metastore: Metastore,
    kind: int = EXCLUSIVE,
    table: str | None = "t",
    partition: str | None = None,
    database: str | None = None,
) -> Any:
    """A component of a lock, in the test's own database."""
    return api.LockComponent(
        type=kind,
        level=1 if table is None else 3 if partition else 2,
        dbname=database or metastore.database,
        tablename=table,
        partitionname=partition,
        operationType=INSERT,
        isTransactional=True,
    )


def request(*components: Any, **values: Any) -> Any:
    """A request for a lock."""
    return api.LockRequest(component=list(components), user="ada", hostname="here", **values)


def ask(metastore: Metastore, kind: int = EXCLUSIVE, table: str | None = "t", **where: Any) -> Any:
    """Ask for a lock of one component; the answer."""
    return metastore.client().lock(request(component(metastore, kind, table, **where)))


def check(metastore: Metastore, lock_id: int) -> int:
    """What `check_lock` says."""
    state: int = metastore.client().check_lock(api.CheckLockRequest(lockid=lock_id)).state
    return state


def release(metastore: Metastore, *lock_ids: int) -> None:
    """Unlock locks."""
    for each in lock_ids:
        metastore.client().unlock(api.UnlockRequest(lockid=each))


def shown(metastore: Metastore, **wanted: Any) -> list[Any]:
    """The locks in the test's own database, or those wanted."""
    asked = {"dbname": metastore.database} | wanted
    found: list[Any] = metastore.client().show_locks(api.ShowLocksRequest(**asked)).locks
    return found


def open_transactions(metastore: Metastore, count: int = 1, **values: Any) -> list[int]:
    """Open transactions; their ids."""
    asked = api.OpenTxnRequest(num_txns=count, user="ada", hostname="here", **values)
    ids: list[int] = metastore.client().open_txns(asked).txn_ids
    return ids


def commit(metastore: Metastore, transaction: int) -> None:
    """Commit a transaction."""
    metastore.client().commit_txn(api.CommitTxnRequest(txnid=transaction))


def abort(metastore: Metastore, transaction: int) -> None:
    """Abort a transaction."""
    metastore.client().abort_txn(api.AbortTxnRequest(txnid=transaction))
