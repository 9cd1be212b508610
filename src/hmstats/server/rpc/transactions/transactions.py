"""Calls about transactions, write ids and compaction."""

from collections.abc import Mapping
from typing import Any

from hmstats.errors import MetaError
from hmstats.model.transactions.transactions import READ_ONLY
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.transactions.transactions import Transactions
from hmstats.wire.idl import hive_metastore
from hmstats.wire.transactions import (
    full_table_name,
    open_transactions_to_thrift,
    owner_from_thrift,
    snapshot_from_text,
    transaction_to_thrift,
    write_ids_to_thrift,
)

_NO_COMPACTION = "tables are not compacted by this metastore: it has no tables whose rows change in place"


class TransactionCalls:
    """Opening, ending and prolonging transactions; write ids; the refusals of compaction."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def open_txns(self, session: Session, rqst: Any) -> Any:
        """Open transactions, a thousand at most."""
        _refuse_replication(rqst)
        ids = self._transactions.open(rqst.num_txns or 0, owner_from_thrift(rqst), rqst.txn_type or 0)
        return hive_metastore.OpenTxnsResponse(txn_ids=ids)

    def get_open_txns(self, session: Session) -> Any:
        """The transactions that are open or aborted, without readers, and the highest id there is."""
        return open_transactions_to_thrift(*self._transactions.unfinished(), (READ_ONLY,))

    def get_open_txns_req(self, session: Session, getOpenTxnsRequest: Any) -> Any:
        """The transactions that are open or aborted, without those of some types."""
        return open_transactions_to_thrift(*self._transactions.unfinished(), getOpenTxnsRequest.excludeTxnTypes or ())

    def get_open_txns_info(self, session: Session) -> Any:
        """The transactions that are open or aborted, and who opened them."""
        highest, found = self._transactions.unfinished()
        return hive_metastore.GetOpenTxnsInfoResponse(
            txn_high_water_mark=highest, open_txns=[transaction_to_thrift(each) for each in found]
        )

    def commit_txn(self, session: Session, rqst: Any) -> None:
        """Commit a transaction and release its locks; one that is committed already is left as it is."""
        _refuse_replication(rqst)
        if rqst.keyValue is not None:
            raise MetaError("a commit that sets a table's parameter is not supported; alter the table")
        self._transactions.commit(rqst.txnid or 0)

    def abort_txn(self, session: Session, rqst: Any) -> None:
        """Abort a transaction and release its locks; one that is aborted already is left as it is."""
        _refuse_replication(rqst)
        self._transactions.abort(rqst.txnid or 0)

    def abort_txns(self, session: Session, rqst: Any) -> None:
        """Abort those of the transactions that are open."""
        self._transactions.abort_many(rqst.txn_ids or [])

    def heartbeat_txn_range(self, session: Session, txns: Any) -> Any:
        """Prolong the transactions of a range; those that are aborted or not there come back."""
        aborted, missing = self._transactions.prolong_range(txns.min or 0, txns.max or 0)
        return hive_metastore.HeartbeatTxnRangeResponse(aborted=aborted, nosuch=missing)

    def seed_txn_id(self, session: Session, rqst: Any) -> None:
        """Set the next transaction's id, which must be above every one there is."""
        self._transactions.count_from(rqst.seedTxnId or 0)

    def get_latest_txnid_in_conflict(self, session: Session, txnId: int) -> int:
        """0, for none: no table has rows that two transactions could change."""
        return 0

    def add_dynamic_partitions(self, session: Session, rqst: Any) -> None:
        """Check that the transaction is open; nothing else, since no call waits for written partitions."""
        self._transactions.require_open(rqst.txnid or 0)

    def allocate_table_write_ids(self, session: Session, rqst: Any) -> Any:
        """Write ids of a table for open transactions: their existing ones, or the next."""
        _refuse_replication(rqst)
        name = subject.table(rqst.dbName, rqst.tableName)
        given = self._transactions.allocate_write_ids(name, rqst.txnIds or [], anew=bool(rqst.reallocate))
        pairs = [hive_metastore.TxnToWriteId(txnId=txn, writeId=write_id) for txn, write_id in given.items()]
        return hive_metastore.AllocateTableWriteIdsResponse(txnToWriteIds=pairs)

    def get_valid_write_ids(self, session: Session, rqst: Any) -> Any:
        """For each table the write ids that a reader must not see: in a list of transactions, or now."""
        full_names = rqst.fullTableNames or []
        snapshot = None if rqst.validTxnList is None else snapshot_from_text(rqst.validTxnList)
        names = [full_table_name(each) for each in full_names]
        found = self._transactions.valid_write_ids(names, snapshot, rqst.writeId)
        listed = [write_ids_to_thrift(name, each) for name, each in zip(full_names, found, strict=True)]
        return hive_metastore.GetValidWriteIdsResponse(tblValidWriteIds=listed)

    def get_max_allocated_table_write_id(self, session: Session, rqst: Any) -> Any:
        """The highest write id that a table has given; 0 before the first."""
        last = self._transactions.last_write_id(subject.table(rqst.dbName, rqst.tableName))
        return hive_metastore.MaxAllocatedTableWriteIdResponse(maxWriteId=last)

    def seed_write_id(self, session: Session, rqst: Any) -> None:
        """Set the highest write id of a table that has given none."""
        self._transactions.count_write_ids_from(subject.table(rqst.dbName, rqst.tableName), rqst.seedWriteId or 0)

    def add_write_ids_to_min_history(self, session: Session, txnId: int, writeIds: Mapping[str, int] | None) -> None:
        """No effect: open transactions are looked up directly."""

    def compact(self, session: Session, rqst: Any) -> None:
        """Refused: tables are not compacted."""
        raise MetaError(_NO_COMPACTION)

    def compact2(self, session: Session, rqst: Any) -> Any:
        """Refused, with the reason: tables are not compacted."""
        return hive_metastore.CompactionResponse(id=-1, state="refused", accepted=False, errormessage=_NO_COMPACTION)

    def show_compact(self, session: Session, rqst: Any) -> Any:
        """None: tables are not compacted."""
        return hive_metastore.ShowCompactResponse(compacts=[])

    def get_latest_committed_compaction_info(self, session: Session, rqst: Any) -> Any:
        """None: tables are not compacted."""
        return hive_metastore.GetLatestCommittedCompactionInfoResponse(compactions=[])

    def find_next_compact(self, session: Session, workerId: str | None) -> Any:
        """None: tables are not compacted."""
        return hive_metastore.OptionalCompactionInfoStruct()

    def find_next_compact2(self, session: Session, rqst: Any) -> Any:
        """None: tables are not compacted."""
        return hive_metastore.OptionalCompactionInfoStruct()


def _refuse_replication(request: Any) -> None:
    if request.replPolicy is not None:
        raise MetaError(f"replication is not supported, found the policy {request.replPolicy}")
