"""Locks, transactions and write ids <-> their structs.

Names become lower case. A lock's database is one text with its catalog, so databases of one name in two catalogs
differ.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from hmstats.errors import InvalidInput, MetaError
from hmstats.model.catalog.names import database_name, database_text, table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.transactions.locks import (
    Lock,
    LockAnswer,
    LockComponent,
    LockFilter,
    LockKind,
    LockRequest,
    LockState,
    Owner,
)
from hmstats.model.transactions.transactions import Snapshot, Transaction, TransactionState, ValidWriteIds
from hmstats.wire.idl import hive_metastore

_KINDS = {1: LockKind.SHARED_READ, 2: LockKind.SHARED_WRITE, 3: LockKind.EXCLUSIVE, 4: LockKind.EXCL_WRITE}
_KIND_NUMBERS = {kind: number for number, kind in _KINDS.items()}
_STATE_NUMBERS = {LockState.ACQUIRED: 1, LockState.WAITING: 2, LockState.NOT_ACQUIRED: 4}
_TRANSACTION_STATE_NUMBERS = {TransactionState.COMMITTED: 1, TransactionState.ABORTED: 2, TransactionState.OPEN: 3}


def full_table_name(full_name: str) -> TableName:
    """The table that `database.table` names. Raises MetaError for another text."""
    database, separator, table = full_name.partition(".")
    if not (database and separator and table) or "." in table:
        raise MetaError(f"a table's full name must be database.table, found {full_name}")
    return table_name(database, table)


def owner_from_thrift(request: Any) -> Owner:
    """The user, host and agent that a request names."""
    return Owner(request.user or "", request.hostname or "", request.agentInfo)


def lock_request_from_thrift(request: Any) -> LockRequest:
    """The model's LockRequest. Raises InvalidInput for a component without a database or of an unknown kind."""
    return LockRequest(
        components=tuple(_component(each) for each in request.component or ()),
        owner=owner_from_thrift(request),
        transaction=request.txnid or 0,
        reads_never_wait=bool(request.zeroWaitReadEnabled),
        never_waits=bool(request.exclusiveCTAS),
    )


def _component(struct: Any) -> LockComponent:
    kind = _KINDS.get(struct.type)
    if kind is None or not struct.dbname:
        raise InvalidInput(f"a lock must have a type of {sorted(_KINDS)} and a database, found {struct}")
    table = struct.tablename.lower() if struct.tablename else None
    partition = _partition(struct.partitionname) if table and struct.partitionname else None
    return LockComponent(kind, database_text(database_name(struct.dbname)), table, partition)


def _partition(name: str) -> str:
    """A partition's name with its keys in lower case; the values stay."""
    pairs = (element.partition("=") for element in name.split("/"))
    return "/".join(key.lower() + separator + value for key, separator, value in pairs)


def lock_filter_from_thrift(request: Any) -> LockFilter:
    """A ShowLocksRequest."""
    return LockFilter(
        database=database_text(database_name(request.dbname)) if request.dbname else None,
        table=request.tablename.lower() if request.tablename else None,
        partition=_partition(request.partname) if request.partname else None,
        transaction=request.txnid or None,
    )


def answer_to_thrift(answer: LockAnswer) -> Any:
    """A LockResponse."""
    return hive_metastore.LockResponse(lockid=answer.id, state=_STATE_NUMBERS[answer.state], errorMessage=answer.reason)


def lock_to_thrift(lock: Lock) -> Any:
    """A ShowLocksResponseElement."""
    blocker, part = lock.blocked_by or (None, None)
    return hive_metastore.ShowLocksResponseElement(
        lockid=lock.id,
        dbname=lock.component.database,
        tablename=lock.component.table,
        partname=lock.component.partition,
        state=_STATE_NUMBERS[lock.state],
        type=_KIND_NUMBERS[lock.component.kind],
        txnid=lock.transaction,
        lastheartbeat=lock.last_heartbeat_ms,
        acquiredat=lock.acquired_ms,
        user=lock.owner.user,
        hostname=lock.owner.host,
        heartbeatCount=lock.heartbeats,
        agentInfo=lock.owner.agent,
        blockedByExtId=blocker,
        blockedByIntId=part,
        lockIdInternal=lock.part,
    )


def transaction_to_thrift(transaction: Transaction) -> Any:
    """A TxnInfo."""
    return hive_metastore.TxnInfo(
        id=transaction.id,
        state=_TRANSACTION_STATE_NUMBERS[transaction.state],
        user=transaction.owner.user,
        hostname=transaction.owner.host,
        agentInfo=transaction.owner.agent,
        heartbeatCount=transaction.heartbeats,
        metaInfo=transaction.meta,
        startedTime=transaction.started_ms,
        lastHeartbeatTime=transaction.last_heartbeat_ms,
    )


def open_transactions_to_thrift(
    high_water_mark: int, transactions: Sequence[Transaction], without_kinds: Iterable[int] = ()
) -> Any:
    """A GetOpenTxnsResponse: ids of open and aborted transactions, abort bits, and the lowest open id."""
    skipped = frozenset(without_kinds)
    shown = [each for each in transactions if each.kind not in skipped]
    return hive_metastore.GetOpenTxnsResponse(
        txn_high_water_mark=high_water_mark,
        open_txns=[each.id for each in shown],
        min_open_txn=min((each.id for each in transactions if each.state is TransactionState.OPEN), default=None),
        abortedBits=_bits(each.state is TransactionState.ABORTED for each in shown),
    )


def write_ids_to_thrift(full_name: str, found: ValidWriteIds) -> Any:
    """A TableValidWriteIds."""
    return hive_metastore.TableValidWriteIds(
        fullTableName=full_name,
        writeIdHighWaterMark=found.high_water_mark,
        invalidWriteIds=list(found.invalid),
        minOpenWriteId=found.lowest_open,
        abortedBits=_bits(each in found.aborted for each in found.invalid),
    )


def snapshot_from_text(text: str) -> Snapshot:
    """Parse Hive's text of a snapshot. Raises MetaError for an invalid text."""
    try:
        return Snapshot.parse(text)
    except ValueError as error:
        raise MetaError(f"a list of transactions must be mark:lowest:open,...:aborted,..., found {text}") from error


def _bits(flags: Iterable[bool]) -> bytes:
    """Java's BitSet.toByteArray: bit i of the whole is bit i % 8 of byte i // 8, without empty bytes at the end."""
    number = sum(1 << index for index, flag in enumerate(flags) if flag)
    return number.to_bytes((number.bit_length() + 7) // 8, "little")
