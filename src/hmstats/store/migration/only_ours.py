"""Restricts migrations beside a Hive to our own tables, whose names begin with HMSTATS_.

Migrations define all tables of hmstats' own databases, Hive's among them. Beside a Hive the same migrations run, but
statements about Hive's tables are not sent.
"""

import re
from typing import Any

from sqlalchemy import Connection, event

from hmstats.errors import SchemaError
from hmstats.store.beside_hive.present_tables import OURS

_INDEX = r'CREATE (?:UNIQUE )?INDEX (?:CONCURRENTLY )?"?\w+"? ON'
_CHANGES = rf"(?:CREATE|ALTER|DROP) TABLE|{_INDEX}|INSERT INTO|UPDATE|DELETE FROM|COMMENT ON (?:TABLE|COLUMN)"
_CHANGE = re.compile(rf'\s*(?:{_CHANGES})\s+(?:IF (?:NOT )?EXISTS )?"?(\w+)"?')
_LOOK = re.compile(r"\s*(?:SELECT|WITH|SET)\b")
_NOTHING = "SELECT 1 WHERE false"


def only_ours(connection: Connection) -> None:
    """Suppress the connection's changes of tables other than ours from now on.

    A statement that is neither a query nor a change of a table raises SchemaError.
    """

    @event.listens_for(connection, "before_cursor_execute", retval=True)
    def send(_c: object, _cursor: object, sql: str, values: Any, _context: object, _many: object) -> tuple[str, Any]:
        if _LOOK.match(sql):
            return sql, values
        changed = _CHANGE.match(sql)
        if changed is None:
            raise SchemaError(f"a migration beside a Hive must change tables only, found {sql.strip()[:80]!r}")
        return (sql, values) if changed[1].startswith(OURS) else (_NOTHING, ())
