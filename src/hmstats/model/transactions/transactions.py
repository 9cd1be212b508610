"""Transactions and the write ids that they take of tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from hmstats.errors import InvalidInput
from hmstats.model.transactions.locks import Owner

READ_ONLY = 2
"""Hive's TxnType of a transaction that takes no write ids."""


_NO_MARK = 2**63 - 1
_MOST_IDS = 1_000_000
"""The most ids in a list, since a run of a few bytes could expand to more ids than fit in memory."""


class TransactionState(Enum):
    """The state of a transaction; the value is Hive's letter in TXNS."""

    OPEN = "o"
    ABORTED = "a"
    COMMITTED = "c"


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction that is open or aborted. `kind` is Hive's TxnType; times are milliseconds of the database's clock.

    An open one whose heartbeat is too old reads as aborted.
    """

    id: int
    state: TransactionState
    kind: int
    owner: Owner
    meta: str | None
    heartbeats: int
    started_ms: int
    last_heartbeat_ms: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The transactions whose changes a reader must not see, among those up to `high_water_mark`.

    `open_ids` and `aborted_ids` have no id in common; one above the mark is not seen either.
    """

    high_water_mark: int
    open_ids: frozenset[int] = frozenset()
    aborted_ids: frozenset[int] = frozenset()

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        """Parse Hive's text of a ValidReadTxnList, `mark:lowest open:open:aborted`; an empty one sees everything.

        Ids stand with commas between them, runs of them as `13-17`; lists at the end may be left out. Raises ValueError
        for another text.
        """
        if not text:
            return cls(_NO_MARK)
        mark, _, *listed = text.split(":")
        opened, aborted = _two_lists(listed)
        return cls(min(int(mark), _NO_MARK), frozenset(opened) - frozenset(aborted), frozenset(aborted))

    @classmethod
    def of(cls, high_water_mark: int, transactions: Iterable[Transaction]) -> "Snapshot":
        """The snapshot of these transactions."""
        states: dict[TransactionState, set[int]] = {state: set() for state in TransactionState}
        for each in transactions:
            states[each.state].add(each.id)
        open_ids, aborted_ids = states[TransactionState.OPEN], states[TransactionState.ABORTED]
        return cls(high_water_mark, frozenset(open_ids), frozenset(aborted_ids))

    def as_seen_by(self, transaction: int) -> "Snapshot":
        """The snapshot for a reader in a transaction: the reader sees its own changes and no later transaction."""
        return Snapshot(
            min(self.high_water_mark, transaction), self.open_ids - {transaction}, self.aborted_ids - {transaction}
        )

    def sees(self, transaction: int) -> bool:
        """Whether a reader sees the changes of a transaction."""
        return (
            transaction <= self.high_water_mark
            and transaction not in self.open_ids
            and transaction not in self.aborted_ids
        )


@dataclass(frozen=True, slots=True)
class ValidWriteIds:
    """The write ids of a table that a reader must not see, among those up to `high_water_mark`, in order."""

    high_water_mark: int
    invalid: tuple[int, ...]
    aborted: frozenset[int]

    @classmethod
    def of(cls, high_water_mark: int, written: Iterable[tuple[int, int]], snapshot: Snapshot) -> "ValidWriteIds":
        """Made from the pairs of transaction and write id up to the mark, in order of the write ids.

        If none of them is visible, the mark becomes the first, as in Hive 4: older ones were deleted, and all are
        visible.
        """
        pairs = list(written)
        unseen = {write_id: transaction for transaction, write_id in pairs if not snapshot.sees(transaction)}
        if unseen and len(unseen) == len(pairs):
            high_water_mark = min(unseen)
            unseen = {high_water_mark: unseen[high_water_mark]}
        aborted = {write_id for write_id, transaction in unseen.items() if transaction in snapshot.aborted_ids}
        return cls(high_water_mark, tuple(sorted(unseen)), frozenset(aborted))

    @classmethod
    def parse(cls, text: str) -> "ValidWriteIds":
        """Parse Hive's text of a ValidReaderWriteIdList, `table:mark:lowest open:open:aborted`.

        The lists are those of `Snapshot.parse`. Raises InvalidInput for another text.
        """
        try:
            _, mark, _, *listed = text.split(":")
            opened, aborted = _two_lists(listed)
            return cls(int(mark), tuple(sorted({*opened, *aborted})), frozenset(aborted))
        except ValueError as error:
            raise InvalidInput(f"a list of valid write ids must be table:mark:open:ids:ids, found {text}") from error

    @property
    def lowest_open(self) -> int | None:
        """The lowest write id whose transaction may still be committed."""
        return next((each for each in self.invalid if each not in self.aborted), None)

    def sees(self, write_id: int) -> bool:
        """Whether a reader sees rows that were written with a write id."""
        return write_id <= self.high_water_mark and write_id not in self.invalid


@dataclass(frozen=True, slots=True)
class WriteState:
    """The transaction of a writer of statistics: its write id, and the write ids that it has seen."""

    write_id: int | None = None
    valid: str | None = None

    @property
    def known(self) -> bool:
        """Whether both are set."""
        return bool(self.valid) and (self.write_id or 0) > 0


NO_TRANSACTION = WriteState()


def _two_lists(listed: Sequence[str]) -> tuple[list[int], list[int]]:
    """The open and the aborted ids. Raises ValueError when there are more lists, or too many ids."""
    if len(listed) > 2:
        raise ValueError(f"expected two lists, found {len(listed)}")
    opened, aborted = (_runs(each) for each in (*listed, "", "")[:2])
    if sum(run.stop - run.start for run in (*opened, *aborted)) > _MOST_IDS:
        raise ValueError(f"expected {_MOST_IDS} ids at most")
    return [*chain.from_iterable(opened)], [*chain.from_iterable(aborted)]


def _runs(text: str) -> list[range]:
    """The runs of ids in a list; a single id is one too."""
    pairs = (each.partition("-") for each in text.split(",") if each)
    return [_run(int(first), int(last if dash else first)) for first, dash, last in pairs]


def _run(first: int, last: int) -> range:
    if not 0 <= first <= last <= _NO_MARK:
        raise ValueError(f"expected a run of ids, found {first}-{last}")
    return range(first, last + 1)
