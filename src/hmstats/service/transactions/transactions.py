"""Transactions: opened, renewed by heartbeats, ended, and their write ids.

Engines coordinate with each other through them. Tables whose rows change in place (full ACID) are refused:
see acid.py.
"""

from collections.abc import Iterable, Sequence

from hmstats.errors import MetaError, NoSuchTransaction, TransactionAborted
from hmstats.model.catalog.objects import TableName
from hmstats.model.transactions.locks import Owner
from hmstats.model.transactions.transactions import READ_ONLY, Snapshot, Transaction, TransactionState, ValidWriteIds
from hmstats.store.database.store import Store
from hmstats.store.transactions import locks, transactions, write_ids
from hmstats.store.unit.unit import Unit

_MOST_AT_ONCE = 1_000
"""Most transactions that a call opens, as in Hive."""
_HIGHEST_SEED = 2**62
"""Highest first id that can be set, half of all ids; a higher one would leave too few."""
_REMOVE_ENDED_EVERY = 1_000
"""Ended transactions are deleted each time the ids pass a multiple of this."""


class Transactions:
    """The transactions of all servers of one store. Without a heartbeat for `timeout_seconds` one is aborted."""

    def __init__(self, store: Store, *, timeout_seconds: float) -> None:
        self._store = store
        self._timeout_ms = int(timeout_seconds * 1000)

    def open(self, count: int, owner: Owner, kind: int) -> list[int]:
        """Open `count` transactions, at most a thousand. Returns their ids. Raises MetaError if `count` is below 1."""
        if count < 1:
            raise MetaError(f"the number of transactions to open must be 1 or more, found {count}")

        def begin(unit: Unit) -> list[int]:
            ids = transactions.open_many(unit, min(count, _MOST_AT_ONCE), owner, kind)
            if ids[-1] % _REMOVE_ENDED_EVERY < len(ids):
                transactions.remove_ended(unit)
            return ids

        return self._store.write(begin)

    def commit(self, transaction: int) -> None:
        """Commit a transaction and release its locks; does nothing if it is committed already.

        Raises NoSuchTransaction and TransactionAborted.
        """

        def finish(unit: Unit) -> None:
            if _state(unit, transaction, self._timeout_ms) is not TransactionState.COMMITTED:
                require_open(unit, [transaction], self._timeout_ms)
                _end(unit, [transaction], TransactionState.COMMITTED)

        self._store.write(finish)

    def abort(self, transaction: int) -> None:
        """Abort a transaction and release its locks; does nothing if it is aborted already.

        Raises NoSuchTransaction if it does not exist or is committed.
        """

        def undo(unit: Unit) -> None:
            state = _state(unit, transaction, self._timeout_ms)
            if state in (None, TransactionState.COMMITTED):
                raise _not_open(transaction, state)
            _end(unit, [transaction], TransactionState.ABORTED)

        self._store.write(undo)

    def abort_many(self, ids: Sequence[int]) -> None:
        """Abort the open ones of these transactions, and release their locks."""

        def undo(unit: Unit) -> None:
            states = transactions.lock_states(unit, ids, self._timeout_ms)
            ended = [each for each, (state, _) in states.items() if state is not TransactionState.COMMITTED]
            _end(unit, ended, TransactionState.ABORTED)

        self._store.write(undo)

    def prolong_range(self, lowest: int, highest: int) -> tuple[set[int], set[int]]:
        """Record heartbeats of every open transaction from `lowest` to `highest`. Returns aborted and missing ids.

        Committed ones count as missing. Raises MetaError if the range has more than a hundred thousand ids.
        """
        if highest - lowest >= 100_000:
            raise MetaError(f"a range of transactions must have 100000 at most, found {lowest} to {highest}")
        ids = range(lowest, highest + 1)

        def beat(unit: Unit) -> tuple[set[int], set[int]]:
            states = transactions.lock_states(unit, ids, self._timeout_ms)
            by_state = {
                wanted_state: {i for i, (state, _) in states.items() if state is wanted_state}
                for wanted_state in TransactionState
            }
            alive, aborted = by_state[TransactionState.OPEN], by_state[TransactionState.ABORTED]
            transactions.prolong(unit, sorted(alive))
            return aborted, set(ids) - alive - aborted

        return self._store.write(beat)

    def require_open(self, transaction: int) -> None:
        """Raise NoSuchTransaction or TransactionAborted unless the transaction is open."""
        self._store.write(lambda unit: require_open(unit, [transaction], self._timeout_ms))

    def unfinished(self) -> tuple[int, list[Transaction]]:
        """The highest id given, and the transactions that are open or aborted."""
        with self._store.read() as connection:
            return transactions.unfinished(connection, self._timeout_ms)

    def count_from(self, next_id: int) -> None:
        """Set the id of the next transaction. Raises MetaError unless it is higher than every id given."""
        _check_seed("the next transaction's id", next_id)

        def move(unit: Unit) -> None:
            highest = transactions.highest_when_opening(unit)
            if next_id <= highest:
                raise MetaError(f"the next transaction's id must be above {highest}, found {next_id}")
            transactions.count_from(unit, next_id)

        self._store.write(move)

    def allocate_write_ids(self, name: TableName, ids: Sequence[int], *, anew: bool) -> dict[int, int]:
        """Write ids of a table by transaction: those that the open transactions have, or new ones.

        With `anew` each gets a new id. Raises MetaError if there are no transactions or one is read-only,
        NoSuchTransaction, TransactionAborted.
        """
        transaction_ids = sorted(set(ids))
        if not transaction_ids:
            raise MetaError(f"write ids of {name} must be taken by a transaction, found none")

        def allocate(unit: Unit) -> dict[int, int]:
            kinds = require_open(unit, transaction_ids, self._timeout_ms)
            readers = [each for each, kind in kinds.items() if kind == READ_ONLY]
            if readers:
                raise MetaError(f"transactions {readers} only read: they take no write ids of {name}")
            if anew:
                write_ids.release(unit, name, transaction_ids)
            existing = write_ids.of_transactions(unit.connection, name, transaction_ids)
            missing = [each for each in transaction_ids if each not in existing]
            return dict(sorted((existing | (write_ids.allocate(unit, name, missing) if missing else {})).items()))

        return self._store.write(allocate)

    def valid_write_ids(
        self, names: Iterable[TableName], snapshot: Snapshot | None, write_id: int | None
    ) -> list[ValidWriteIds]:
        """The write ids visible to a reader, for each table: in a snapshot, to the transaction of `write_id`, or now.

        Raises MetaError if the table has not given `write_id`.
        """
        with self._store.read() as connection:
            highest, listed = transactions.unfinished(connection, self._timeout_ms)
            now = Snapshot.of(highest, listed)
            valid = []
            for name in names:
                visible = snapshot or now
                if snapshot is None and write_id is not None:
                    writer = write_ids.transaction_of(connection, name, write_id)
                    if writer is None:
                        raise MetaError(f"invalid write id {write_id} for table {name}")
                    visible = now.as_seen_by(writer)
                mark, written = write_ids.visible_up_to(connection, name, visible.high_water_mark)
                valid.append(ValidWriteIds.of(mark, written, visible))
            return valid

    def last_write_id(self, name: TableName) -> int:
        """The highest write id that a table has given; 0 before the first."""
        with self._store.read() as connection:
            return write_ids.last(connection, name)

    def count_write_ids_from(self, name: TableName, last: int) -> None:
        """Set the highest write id of a table that has given none yet. Raises MetaError if it has given some."""
        _check_seed(f"the last write id of table {name}", last)

        def start(unit: Unit) -> None:
            if not write_ids.start_after(unit, name, last):
                raise MetaError(f"table {name} has given write ids already")

        self._store.write(start)


def require_open(unit: Unit, ids: Sequence[int], timeout_ms: int) -> dict[int, int]:
    """The kinds of open transactions by id; their rows are locked until the unit ends.

    Raises NoSuchTransaction or TransactionAborted for the first that is not open.
    """
    states = transactions.lock_states(unit, ids, timeout_ms)
    for each in ids:
        state = states[each][0] if each in states else None
        if state is not TransactionState.OPEN:
            raise _not_open(each, state)
    return {each: kind for each, (_, kind) in states.items()}


def prolong(unit: Unit, transaction: int, timeout_ms: int) -> None:
    """Record a transaction's heartbeat. Raises NoSuchTransaction or TransactionAborted unless it is open."""
    require_open(unit, [transaction], timeout_ms)
    transactions.prolong(unit, [transaction])


def _check_seed(what: str, seed: int) -> None:
    if not 0 <= seed <= _HIGHEST_SEED:
        raise MetaError(f"{what} must be from 0 to {_HIGHEST_SEED}, found {seed}")


def _state(unit: Unit, transaction: int, timeout_ms: int) -> TransactionState | None:
    state_and_kind = transactions.lock_states(unit, [transaction], timeout_ms).get(transaction)
    return None if state_and_kind is None else state_and_kind[0]


def _end(unit: Unit, ids: Sequence[int], state: TransactionState) -> None:
    transactions.end(unit, ids, state)
    locks.remove_of_transactions(unit, ids)


def _not_open(transaction: int, state: TransactionState | None) -> NoSuchTransaction | TransactionAborted:
    if state is TransactionState.ABORTED:
        return TransactionAborted(f"Transaction txnid:{transaction} already aborted")
    if state is TransactionState.COMMITTED:
        return NoSuchTransaction(f"Transaction txnid:{transaction} is already committed.")
    return NoSuchTransaction(f"No such transaction txnid:{transaction}")
