"""A table as a unit expects it to be: its statements do nothing where it is not, so that nothing need be read before.

Whoever has written to a table knows its number (versions.py) and what it was like then. All that the next write says
travels in one round trip: the table is locked, and each statement looks whether the number is still that one, or the
one after it that the unit itself has counted. How many rows the last one changed tells whether it was. PostgreSQL makes
one transaction of statements that come together.
"""

from typing import NamedTuple

from sqlalchemy import TextClause, text

from hmstats.store.prepared import Prepared

_OWN = "CAST(xmin AS text) = CAST(mod(txid_current(), 4294967296) AS text)"
"""Whether the running transaction wrote the row: PostgreSQL notes of each row who did, without the epoch."""
_CONDITION = f"""EXISTS (
    SELECT FROM "HMSTATS_TABLE_VERSION" WHERE "TBL_ID" = {{table}}
    AND ("VERSION" = {{version}} OR "VERSION" = CAST({{version}} AS bigint) + 1 AND {_OWN})
)"""
NAMES = ("expected_table", "expected_version", "expected_version")
"""The parameters of AS_EXPECTED."""
AS_EXPECTED = _CONDITION.format(table="%s", version="%s")
"""PostgreSQL's condition that the table is as expected, but for what the transaction itself changed."""
LOCK = 'SELECT "TBL_ID" FROM "TBLS" WHERE "TBL_ID" = %s FOR UPDATE'
"""Has other writers of the table wait until the transaction ends."""
PREPARED_LOCK = Prepared.of(LOCK)


class ExpectedTable(NamedTuple):
    """A table's id and number."""

    id: int
    version: int

    @property
    def values(self) -> dict[str, int]:
        """By the names of the condition's parameters."""
        return {"expected_table": self.id, "expected_version": self.version}


def is_as_expected() -> TextClause:
    """The condition for a statement of SQLAlchemy's, with named parameters."""
    return text(_CONDITION.format(table=":expected_table", version=":expected_version"))
