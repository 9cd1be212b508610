"""HMSTATS_MIRROR_SEEN: what the other metastore last said of each column's statistics.

A row has the columns of a table or partition and of an engine as a JSON object: by column name, the digest of what the
other metastore said, that of our statistics which agreed with it, what is being sent to it, and what was sent to it
before of which nobody knows whether it came. After a truncation the empty name stands for all columns without a name.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE
from hmstats.store.schema import HMSTATS_MIRROR_SEEN as SEEN
from hmstats.store.statements import queued
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

_KEY = ("TBL_ID", "PART_ID", "ENGINE")
GOT = "got"
"""What `theirs` is between the other metastore's taking of statistics and the next look at what it says of them."""
EMPTIED = "emptied"
"""What `ours` is once the rows are gone that the other metastore's statistics are of, which it goes on to say."""
_OTHERS = ""
"""The key, in a row, of what is known of columns that have no key of their own."""


class Digests(NamedTuple):
    """What was said of a column's statistics, empty if there were none; ours that agreed, empty if none did.

    `sending` are statistics of ours that it may have got since: their digest, and their numbers. `lost` are the numbers
    of those that were sent before, the last at first, and may come to it late.
    """

    theirs: str = ""
    ours: str = ""
    sending: tuple[str, Any] | None = None
    lost: tuple[Any, ...] = ()

    @property
    def is_on_its_way(self) -> bool:
        """Whether nobody knows yet if the other metastore has got what is being sent."""
        return self.sending is not None and self.theirs != GOT

    @property
    def unsettled(self) -> tuple[Any, ...]:
        """The numbers of all sendings of which nobody knows the outcome, the last at first."""
        return (self.sending[1], *self.lost) if self.sending and self.is_on_its_way else self.lost

    @property
    def of_deleted(self) -> "Digests":
        """What is known once the statistics were deleted: what was sent before may come yet."""
        return Digests(lost=self.unsettled)

    @property
    def of_emptied(self) -> "Digests":
        """What is known once the rows were removed: what is said now, and what was sent before, is of these."""
        return Digests("" if self.theirs == GOT else self.theirs, EMPTIED, lost=self.unsettled)


_OF_EMPTIED = Digests().of_emptied
Seen = Mapping[str, Digests]
"""What is known of each column."""


def of_column(seen: Seen, column: str) -> Digests:
    """What is known of a column."""
    return seen.get(column) or seen.get(_OTHERS) or Digests()


def read(connection: Connection, table_id: int, engine: str, owners: Sequence[int]) -> dict[int, Seen]:
    """What was said of these owners: partitions by id, the table itself by 0; unseen ones are absent."""
    query = select(SEEN.c.PART_ID, SEEN.c.BY_COLUMN)
    query = query.where(SEEN.c.TBL_ID == table_id, SEEN.c.ENGINE == engine, one_of(connection, SEEN.c.PART_ID, owners))
    return {owner: _parse(text) for owner, text in connection.execute(query)}


def forget_columns(
    unit: Unit, table_id: int, engine: str | None, owners: Sequence[int] | None, columns: Sequence[str] | None
) -> None:
    """Note that nothing is said any more of these columns (None: of all) of owners (None: of all partitions).

    It is so of one engine's statistics, or of all engines' (None). What was sent and may come late is still remembered.
    """
    query = select(SEEN.c.ENGINE, SEEN.c.PART_ID, SEEN.c.BY_COLUMN).where(SEEN.c.TBL_ID == table_id)
    query = query.where(SEEN.c.PART_ID != 0 if owners is None else one_of(unit.connection, SEEN.c.PART_ID, owners))
    query = query if engine is None else query.where(SEEN.c.ENGINE == engine)
    left: dict[str, dict[int, Seen]] = {}
    for of_engine, owner, text in unit.connection.execute(query):
        left.setdefault(of_engine, {})[owner] = _without(_parse(text), columns)
    for of_engine, noted in left.items():
        write(unit, table_id, of_engine, noted)


def note_emptied(unit: Unit, table_id: int, owners: Sequence[int]) -> None:
    """Note that the rows of owners are gone, whose statistics the other metastore may go on to say."""
    query = select(SEEN.c.PART_ID, SEEN.c.ENGINE, SEEN.c.BY_COLUMN)
    query = query.where(SEEN.c.TBL_ID == table_id, one_of(unit.connection, SEEN.c.PART_ID, owners))
    by_engine: dict[str, dict[int, Seen]] = {DEFAULT_ENGINE: {owner: {_OTHERS: _OF_EMPTIED} for owner in owners}}
    for owner, engine, text in unit.connection.execute(query):
        said = {name: each.of_emptied for name, each in _parse(text).items()}
        by_engine.setdefault(engine, {})[owner] = {**said, _OTHERS: _OF_EMPTIED}
    for engine, noted in by_engine.items():
        write(unit, table_id, engine, noted)


def _without(said: Seen, columns: Sequence[str] | None) -> Seen:
    left = {
        column: digests.of_deleted if columns is None or column in columns else digests
        for column, digests in said.items()
    }
    return {column: digests for column, digests in left.items() if digests != Digests()}


def write(unit: Unit, table_id: int, engine: str, seen: Mapping[int, Seen]) -> None:
    """Replace what was said of these owners."""
    rows = [
        {"TBL_ID": table_id, "PART_ID": owner, "ENGINE": engine, "BY_COLUMN": _text(seen[owner])}
        for owner in sorted(seen)
    ]
    upsert(unit, SEEN, _KEY, rows, lambda _old, new: {"BY_COLUMN": new.BY_COLUMN})


def remove_tables(unit: Unit, table_ids: Sequence[int]) -> None:
    """Forget what was said of tables and all their partitions."""
    queued.delete(unit, SEEN.c.TBL_ID, table_ids)


def remove_partitions(unit: Unit, partition_ids: Sequence[int]) -> None:
    """Forget what was said of partitions."""
    queued.delete(unit, SEEN.c.PART_ID, partition_ids)


def _parse(text: str) -> Seen:
    return {column: _digests(*digests) for column, digests in json.loads(text).items()}


def _digests(theirs: str, ours: str, sending: list[Any] | None = None, lost: Sequence[Any] = ()) -> Digests:
    return Digests(theirs, ours, None if sending is None else (sending[0], sending[1]), tuple(lost))


def _text(seen: Seen) -> str:
    said = {column: digests if digests.lost else digests[:3] for column, digests in seen.items()}
    return json.dumps(said, separators=(",", ":"), sort_keys=True)  # servers of before know nothing of a fourth
