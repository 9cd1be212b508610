"""Calls about locks."""

from typing import Any

from hmstats.server.rpc.caller import Session
from hmstats.service.transactions.locks import Locks
from hmstats.wire.idl import hive_metastore
from hmstats.wire.transactions import (
    answer_to_thrift,
    lock_filter_from_thrift,
    lock_request_from_thrift,
    lock_to_thrift,
)


class LockCalls:
    """lock, its check, release and heartbeat, and the list."""

    def __init__(self, locks: Locks) -> None:
        self._locks = locks

    def lock(self, session: Session, rqst: Any) -> Any:
        """Request a lock, granted at once if none conflicts; else it waits, and `check_lock` asks again."""
        return answer_to_thrift(self._locks.lock(lock_request_from_thrift(rqst)))

    def check_lock(self, session: Session, rqst: Any) -> Any:
        """Whether a lock is granted by now; prolongs it too."""
        return answer_to_thrift(self._locks.check(rqst.lockid or 0))

    def unlock(self, session: Session, rqst: Any) -> None:
        """Release a lock; no effect if it does not exist."""
        self._locks.unlock(rqst.lockid or 0)

    def heartbeat(self, session: Session, ids: Any) -> None:
        """Prolong a lock, a transaction or both."""
        self._locks.heartbeat(ids.lockid or 0, ids.txnid or 0)

    def show_locks(self, session: Session, rqst: Any) -> Any:
        """The locks of a database, table, partition or transaction, or all of them, in order."""
        found = self._locks.listed(lock_filter_from_thrift(rqst))
        return hive_metastore.ShowLocksResponse(locks=[lock_to_thrift(each) for each in found])
