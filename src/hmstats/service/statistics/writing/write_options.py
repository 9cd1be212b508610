"""Options of a write of statistics."""

from dataclasses import dataclass

from hmstats.model.transactions.transactions import NO_TRANSACTION, WriteState


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How statistics are written.

    `merge`: they describe new rows. `replaces`: nothing of the stored ones stays, not even what the new ones do not
    know. `author` is the sender, `state` its transaction. `past_locks`: locked ones are written too. `automatic`: an
    automatic run sends them. `publishes`: nothing waits. `brought`: they came with new objects, which no lock refuses.
    """

    merge: bool = False
    author: str | None = None
    state: WriteState = NO_TRANSACTION
    past_locks: bool = False
    automatic: bool = False
    publishes: bool = False
    replaces: bool = False
    brought: bool = False


DEFAULTS = WriteOptions()
