"""Migrations run while servers of the version before serve: none locks a large table for long or takes one away."""

import io

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from tests.store.locking_statements import complaints

from hmstats.store.migration import migrate, schema_revision

_SCRIPTS = ScriptDirectory.from_config(migrate._config(None))
REVISIONS = [(str(each.down_revision), each.revision) for each in _SCRIPTS.walk_revisions() if each.down_revision]


def _sql(old: str, new: str) -> str:
    written = io.StringIO()
    config = migrate._config(None)
    config.attributes["dialect"] = "postgresql"
    config.output_buffer = written
    command.upgrade(config, f"{old}:{new}", sql=True)
    return written.getvalue()


@pytest.mark.parametrize(("old", "new"), REVISIONS)
def test_a_migration_holds_nobody_up(old: str, new: str) -> None:
    written = _sql(old, new)
    assert f"SET version_num='{new}'" in written
    assert complaints(written) == []


def test_revisions_are_numbered() -> None:
    """A server knows by the number that a database is one revision ahead."""
    revisions = sorted([new for _, new in REVISIONS] + ["0001"])
    assert revisions == [f"{number:04d}" for number in range(1, len(revisions) + 1)]
    assert schema_revision.head() == revisions[-1]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ('CREATE INDEX "I" ON "PART_COL_STATS" ("A")', "CONCURRENTLY"),
        ("CREATE UNIQUE INDEX i ON tbls (a)", "CONCURRENTLY"),
        ('ALTER TABLE "TBLS" ALTER COLUMN "A" TYPE BIGINT', "rewritten"),
        ('ALTER TABLE "TBLS" ALTER COLUMN "A" SET NOT NULL', "all rows are read"),
        ('ALTER TABLE "TBLS" ADD COLUMN "A" BIGINT NOT NULL', "no value"),
        ('ALTER TABLE "TBLS" ADD CONSTRAINT "C" FOREIGN KEY("A") REFERENCES "DBS" ("B")', "NOT VALID"),
        ('ALTER TABLE "TBLS" ADD CHECK (a > 0)', "NOT VALID"),
        ('ALTER TABLE "TBLS" ADD CONSTRAINT "C" UNIQUE ("A")', "USING INDEX"),
        ('ALTER TABLE "TBLS" DROP COLUMN "A"', "version before"),
        ('ALTER TABLE "TBLS" RENAME TO "OTHER"', "version before"),
        ('ALTER TABLE "TBLS" RENAME COLUMN "A" TO "B"', "version before"),
        ('DROP TABLE "TBLS"', "version before"),
        ('UPDATE "PART_COL_STATS" SET "A"=1', "many rows"),
        ('DELETE FROM "PART_COL_STATS"', "many rows"),
        ('LOCK TABLE "TBLS"', "locked"),
        ('VACUUM FULL "TBLS"', "rewritten"),
        ('ALTER TABLE "TBLS" SET TABLESPACE other', "rewritten"),
        ('CREATE TABLE "HMSTATS_X" ("A" BIGINT, FOREIGN KEY("A") REFERENCES "TBLS" ("TBL_ID"))', "ON DELETE CASCADE"),
    ],
)
def test_what_holds_a_service_up_is_found(statement: str, reason: str) -> None:
    (complaint,) = complaints(f'-- a comment\nBEGIN;\n{statement};\nCREATE TABLE "NEW" (\n "A" BIGINT\n);\nCOMMIT;')
    assert complaint.startswith(statement)
    assert reason in complaint


@pytest.mark.parametrize(
    "statements",
    [
        'CREATE TABLE "NEW" ("A" BIGINT NOT NULL, FOREIGN KEY("A") REFERENCES "TBLS" ("TBL_ID"))',
        'CREATE TABLE "HMSTATS_X" ("A" BIGINT, FOREIGN KEY("A") REFERENCES "TBLS" ("TBL_ID") ON DELETE CASCADE)',
        'CREATE TABLE "NEW" ("A" BIGINT); CREATE INDEX "I" ON "NEW" ("A")',
        'CREATE INDEX CONCURRENTLY "I" ON "PART_COL_STATS" ("A")',
        'ALTER TABLE "TBLS" ADD COLUMN "A" BIGINT',
        'ALTER TABLE "TBLS" ADD COLUMN "A" BIGINT DEFAULT \'0\' NOT NULL',
        'ALTER TABLE "TBLS" ADD CONSTRAINT "C" FOREIGN KEY("A") REFERENCES "DBS" ("B") NOT VALID',
        'ALTER TABLE "TBLS" ADD CONSTRAINT "C" UNIQUE USING INDEX "I"',
        'ALTER TABLE "TBLS" SET (fillfactor = 50)',
        'INSERT INTO "TXNS" ("A") VALUES (1)',
    ],
)
def test_what_holds_nobody_up_passes(statements: str) -> None:
    assert complaints(statements) == []
