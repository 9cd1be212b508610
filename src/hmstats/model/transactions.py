"""Transactions and the write ids that they take of tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from hmstats.errors import InvalidInput
from hmstats.model.locks import Owner

READ_ONLY = 2
"""Hive's TxnType of a transaction that takes no write ids."""


class TransactionState(Enum):
    """The value is Hive's letter in TXNS."""

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
    def of(cls, high_water_mark: int, transactions: Iterable[Transaction]) -> "Snapshot":
        """What is true now."""
        states: dict[TransactionState, set[int]] = {state: set() for state in TransactionState}
        for each in transactions:
            states[each.state].add(each.id)
        open_ids, aborted_ids = states[TransactionState.OPEN], states[TransactionState.ABORTED]
        return cls(high_water_mark, frozenset(open_ids), frozenset(aborted_ids))

    def as_seen_by(self, transaction: int) -> "Snapshot":
        """The same for a reader in a transaction: what came later is not seen, its own changes are."""
        return Snapshot(
            min(self.high_water_mark, transaction), self.open_ids - {transaction}, self.aborted_ids - {transaction}
        )

    def sees(self, transaction: int) -> bool:
        """Whether the changes of a transaction are seen."""
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
        """From the pairs of transaction and write id up to the mark, in order of the write ids.

        When none of them is seen, the mark goes down to the first, as in Hive 4: older ones were forgotten, and are
        seen all.
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
        """From Hive's text `table:mark:lowest open:open,...:aborted,...`. Raises InvalidInput for another text."""
        try:
            _, mark, _, *listed = text.split(":")
            opened, aborted = (_numbers(each) for each in (*listed, "", "")[:2])
            return cls(int(mark), tuple(sorted({*opened, *aborted})), frozenset(aborted))
        except ValueError as error:
            raise InvalidInput(f"a list of valid write ids must be table:mark:open:ids:ids, found {text}") from error

    @property
    def lowest_open(self) -> int | None:
        """The lowest write id whose transaction may still be committed."""
        return next((each for each in self.invalid if each not in self.aborted), None)

    def sees(self, write_id: int) -> bool:
        """Whether what was written with a write id is seen."""
        return write_id <= self.high_water_mark and write_id not in self.invalid


@dataclass(frozen=True, slots=True)
class WriteState:
    """What a writer of statistics says of its transaction: the write id that they are of, and which it has seen."""

    write_id: int | None = None
    valid: str | None = None

    @property
    def known(self) -> bool:
        """Whether it says both."""
        return bool(self.valid) and (self.write_id or 0) > 0


NO_TRANSACTION = WriteState()


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",") if each]
