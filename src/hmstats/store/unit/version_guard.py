"""A guard on a table's version: statements do nothing if it is not as expected, so that nothing need be read before.

The last writer of a table has cached its version (versions.py) and its facts. Its next write travels in one round
trip: the table is locked, and each statement checks that the version is still the expected one, or
the next one, made by the unit itself. The row count of the last statement tells whether it was. PostgreSQL runs
statements that are sent together as one transaction.
"""

from typing import NamedTuple

from sqlalchemy import TextClause, text

from hmstats.store.unit.prepared import Prepared

_OWN = "CAST(xmin AS text) = CAST(mod(txid_current(), 4294967296) AS text)"
"""The condition that the running transaction wrote the row, by its xmin, which is the id without the epoch."""
_CONDITION = f"""EXISTS (
    SELECT FROM "HMSTATS_TABLE_VERSION" WHERE "TBL_ID" = {{table}}
    AND ("VERSION" = {{version}} OR "VERSION" = CAST({{version}} AS bigint) + 1 AND {_OWN})
)"""
NAMES = ("expected_table", "expected_version", "expected_version")
"""The parameters of AS_EXPECTED."""
AS_EXPECTED = _CONDITION.format(table="%s", version="%s")
"""PostgreSQL's condition that the table's version is as expected, or the next one by this transaction itself."""
LOCK = 'SELECT "TBL_ID" FROM "TBLS" WHERE "TBL_ID" = %s FOR UPDATE'
"""Locks the table's row, so that other writers of it wait until the transaction ends."""
PREPARED_LOCK = Prepared.of(LOCK)


class ExpectedTable(NamedTuple):
    """The id and expected version of a table."""

    id: int
    version: int

    @property
    def values(self) -> dict[str, int]:
        """The values of the condition's parameters by name."""
        return {"expected_table": self.id, "expected_version": self.version}


def is_as_expected() -> TextClause:
    """The condition as an expression of SQLAlchemy, with named parameters."""
    return text(_CONDITION.format(table=":expected_table", version=":expected_version"))
