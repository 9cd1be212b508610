"""A guard on a table's definition: statements do nothing if it is not as expected, so that nothing need be read before.

A recent writer of a table has cached its facts, and the number of its definition (versions.py). Its next write travels
in one round trip: the table is locked, and each statement checks that the number is still the expected one, or
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
    AND ("VERSION" - "TOLD_WRITES" = {{definition}}
        OR "VERSION" - "TOLD_WRITES" = CAST({{definition}} AS bigint) + 1 AND {_OWN})
    AND ("VERSION" <= {{latest}} OR "VERSION" = CAST({{latest}} AS bigint) + 1 AND {_OWN})
)"""
NAMES = ("expected_table", "expected_definition", "expected_definition", "latest_version", "latest_version")
"""The parameters of AS_EXPECTED."""
AS_EXPECTED = _CONDITION.format(table="%s", definition="%s", latest="%s")
"""PostgreSQL's condition that the table's definition is as expected, or the next one by this transaction itself."""
_ANY = 2**62
"""More than any version."""
LOCK = 'SELECT "TBL_ID" FROM "TBLS" WHERE "TBL_ID" = %s FOR UPDATE'
"""Locks the table's row, so that other writers of it wait until the transaction ends."""
PREPARED_LOCK = Prepared.of(LOCK)


class ExpectedTable(NamedTuple):
    """The id of a table, the expected number of its definition, and its version when it was cached.

    With `unwritten`, the version must not have grown since, so that no earlier try can have written.
    """

    id: int
    definition: int
    version: int
    unwritten: bool = False

    @property
    def values(self) -> dict[str, int]:
        """The values of the condition's parameters by name."""
        latest = self.version if self.unwritten else _ANY
        return {"expected_table": self.id, "expected_definition": self.definition, "latest_version": latest}


def is_as_expected() -> TextClause:
    """The condition as an expression of SQLAlchemy, with named parameters."""
    return text(_CONDITION.format(table=":expected_table", definition=":expected_definition", latest=":latest_version"))
