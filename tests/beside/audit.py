"""Which transactions change what in a database, as PostgreSQL itself sees it: triggers write it down."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import create_engine, text

from hmstats.store.changes import hive_changes, notifications
from hmstats.store.database.store import database_url

SEQUENCE = "NOTIFICATION_SEQUENCE"
LOOKED_AT = (
    *("DBS", "DATABASE_PARAMS", "TBLS", "TABLE_PARAMS", "PARTITION_KEYS", "MV_CREATION_METADATA", "MV_TABLES_USED"),
    *("PARTITIONS", "PARTITION_PARAMS", "PARTITION_KEY_VALS", "TAB_COL_STATS", "PART_COL_STATS"),
    *("SDS", "SD_PARAMS", "SERDES", "SERDE_PARAMS", "COLUMNS_V2", "BUCKETING_COLS", "SORT_COLS"),
)
"""The tables that answers are made from."""
_PREPARE = """
DROP SCHEMA IF EXISTS audit CASCADE;
CREATE SCHEMA audit;
CREATE TABLE audit.changes (transaction bigint, changed text, row_before jsonb, row_after jsonb);
CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR OLD IS DISTINCT FROM NEW THEN
        INSERT INTO audit.changes VALUES (txid_current(), TG_TABLE_NAME, to_jsonb(OLD), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END $$;
"""
_WATCH = 'CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON "{}" FOR EACH ROW EXECUTE FUNCTION audit.note()'
_TABLES = """
SELECT DISTINCT coalesce(seen ->> 'TBL_ID', (
    SELECT p."TBL_ID"::text FROM "PARTITIONS" p WHERE p."PART_ID" = (seen ->> 'PART_ID')::bigint
)) FROM audit.changes, unnest(ARRAY[row_before, row_after]) AS both_rows (seen) WHERE changed <> 'MV_TABLES_USED'
"""
"""The ids of the tables of which rows changed: a partition that is gone tells none, but its own row did. A row of
MV_TABLES_USED is of the view, and names the table that it was made of."""


@dataclass
class Seen:
    """By transaction the tables of the database of which it changed rows.

    `unnamed` are the ids of tables that changed although the events together say that nothing but others did.
    """

    transactions: dict[int, set[str]] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)

    @property
    def unlogged(self) -> set[str]:
        """What transactions changed that logged no event."""
        return {name for changed in self.transactions.values() if SEQUENCE not in changed for name in changed}

    @property
    def changed(self) -> bool:
        """Whether an answer may be another now."""
        return any(changed - {SEQUENCE} for changed in self.transactions.values())


class Audit:
    """Watches a database from now on."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(database_url(url), isolation_level="AUTOCOMMIT")
        with self._engine.connect() as connection:
            connection.exec_driver_sql(_PREPARE)
            self._watched = [
                name
                for name in (*LOOKED_AT, SEQUENCE)
                if connection.execute(text("SELECT to_regclass(:name)"), {"name": f'"{name}"'}).scalar_one()
            ]
            for name in self._watched:
                connection.exec_driver_sql(_WATCH.format(name))

    @contextmanager
    def seeing(self) -> Iterator[Seen]:
        """What is committed inside; complete at the end."""
        seen = Seen()
        with self._engine.connect() as connection:
            connection.exec_driver_sql("DELETE FROM audit.changes")
            before = notifications.current_id(connection)
            yield seen
            for transaction, changed in connection.exec_driver_sql("SELECT transaction, changed FROM audit.changes"):
                seen.transactions.setdefault(transaction, set()).add(changed)
            tables = set(connection.exec_driver_sql(_TABLES).scalars()) - {None}
        told = hive_changes.since(self._engine, before)
        if told and told.named:
            seen.unnamed = tables - frozenset().union(*told.named.values())

    def close(self) -> None:
        """Stop watching, one table after the other: a transaction that locked all would meet those of others."""
        with self._engine.connect() as connection:
            for name in self._watched:
                connection.exec_driver_sql(f'DROP TRIGGER audited ON "{name}"')
            connection.exec_driver_sql("DROP SCHEMA audit CASCADE")
        self._engine.dispose()
