"""Three ways to make PART_COL_STATS a partitioned table of PostgreSQL, as the SQL that does it, and what it then is.

Two copy its rows into parts, by a hash of PART_ID or by ranges of it. Readers go on meanwhile, since the old table
stays until the end; writers wait, since each of them begins by locking its table's row in TBLS. The third copies
nothing: the table itself becomes the part of all ids so far, and later ids have another part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import psycopg2
from psycopg2 import errors

PARTS = 16
_ROOM = "WITH (fillfactor = 40)"
_INDEXES = ("PART_COL_STATS_pkey", "HMSTATS_PART_COL_STATS_UNIQUE", "PART_COL_STATS_N49", "PCS_STATS_IDX")
_BOUNDS = """
SELECT percentile_disc(array(SELECT i / {parts}.0 FROM generate_series(1, {parts} - 1) AS i))
    WITHIN GROUP (ORDER BY "PART_ID") FROM "PARTITIONS\""""
_NEXT_ID = """
SELECT "NEXT_VAL" FROM "SEQUENCE_TABLE"
WHERE "SEQUENCE_NAME" = 'org.apache.hadoop.hive.metastore.model.MPartition'"""
_AHEAD = 1_000_000
"""Partitions that may be added before the second part gets the next one."""
_PARTS_OF = """
SELECT c.oid::regclass::text FROM pg_class c
WHERE c.oid IN (SELECT relid FROM pg_partition_tree('"PART_COL_STATS"') WHERE isleaf)
    OR c.oid = '"PART_COL_STATS"'::regclass AND c.relkind = 'r' ORDER BY 1"""
_SIZES = """
SELECT sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid)), max(pg_indexes_size(c.oid)) FROM pg_class c
WHERE c.oid = ANY(%s::regclass[])"""


@dataclass(frozen=True)
class Sizes:
    """Bytes of the rows, of all indexes, and of those of the part whose indexes are largest."""

    rows: int
    indexes: int
    largest: int


def by_hash(url: str, parts: int = PARTS) -> list[str]:
    """Statements that copy the rows into parts by a hash of PART_ID."""
    del url
    return _copied("HASH", [f"WITH (MODULUS {parts}, REMAINDER {each})" for each in range(parts)])


def by_range(url: str, parts: int = PARTS) -> list[str]:
    """Statements that copy the rows into parts by ranges of PART_ID with as many partitions each."""
    bounds = ["MINVALUE", *map(str, query(url, _BOUNDS.format(parts=parts))[0][0]), "MAXVALUE"]
    return _copied("RANGE", [f"FROM ({low}) TO ({high})" for low, high in pairwise(bounds)])


def attached(url: str) -> list[str]:
    """Statements that make the table one part of two, without a copy."""
    bound = query(url, _NEXT_ID)[0][0] + _AHEAD
    check = f'ADD CONSTRAINT "PART_COL_STATS_ids" CHECK ("PART_ID" < {bound})'
    return [
        f'ALTER TABLE "PART_COL_STATS" {check} NOT VALID',
        'ALTER TABLE "PART_COL_STATS" VALIDATE CONSTRAINT "PART_COL_STATS_ids"',
        "BEGIN",
        "SET LOCAL lock_timeout = '500ms'",  # readers lock both tables in either order; below deadlock_timeout
        'LOCK TABLE "TBLS" IN EXCLUSIVE MODE',
        'LOCK TABLE "PARTITIONS", "PART_COL_STATS" IN ACCESS EXCLUSIVE MODE',
        'ALTER TABLE "PART_COL_STATS" RENAME TO "PART_COL_STATS_0"',
        *(f'ALTER INDEX "{each}" RENAME TO "{each}_0"' for each in _INDEXES),
        'CREATE TABLE "PART_COL_STATS" (LIKE "PART_COL_STATS_0" INCLUDING DEFAULTS) PARTITION BY RANGE ("PART_ID")',
        *_constraints("PART_COL_STATS")[1:],
        f'ALTER TABLE "PART_COL_STATS" ATTACH PARTITION "PART_COL_STATS_0" FOR VALUES FROM (MINVALUE) TO ({bound})',
        'CREATE TABLE "PART_COL_STATS_1" PARTITION OF "PART_COL_STATS" '
        f"FOR VALUES FROM ({bound}) TO (MAXVALUE) {_ROOM}",
        "COMMIT",
    ]


def _copied(kind: str, bounds: Sequence[str]) -> list[str]:
    new = "PART_COL_STATS_SPLIT"
    return [
        "BEGIN",
        'LOCK TABLE "TBLS" IN EXCLUSIVE MODE',
        f'CREATE TABLE "{new}" (LIKE "PART_COL_STATS" INCLUDING DEFAULTS) PARTITION BY {kind} ("PART_ID")',
        *(
            f'CREATE TABLE "PART_COL_STATS_{number}" PARTITION OF "{new}" FOR VALUES {bound} {_ROOM}'
            for number, bound in enumerate(bounds)
        ),
        f'INSERT INTO "{new}" SELECT * FROM "PART_COL_STATS"',
        *(f'ALTER INDEX "{each}" RENAME TO "{each}_OLD"' for each in _INDEXES),
        *_constraints(new),
        'ALTER TABLE "PART_COL_STATS" RENAME TO "PART_COL_STATS_OLD"',
        f'ALTER TABLE "{new}" RENAME TO "PART_COL_STATS"',
        "COMMIT",
        'DROP TABLE "PART_COL_STATS_OLD"',  # it locks PARTITIONS too, and would deadlock with readers if it stood above
    ]


def _constraints(table: str) -> list[str]:
    """The primary key, which must have the column that the parts differ by, the indexes and the foreign key."""
    names = '"DB_NAME", "TABLE_NAME", "COLUMN_NAME", "PARTITION_NAME", "CAT_NAME"'
    return [
        f'ALTER TABLE "{table}" ADD CONSTRAINT "PART_COL_STATS_pkey" PRIMARY KEY ("CS_ID", "PART_ID")',
        f'CREATE UNIQUE INDEX "HMSTATS_PART_COL_STATS_UNIQUE" ON "{table}" ("PART_ID", "COLUMN_NAME", "ENGINE")',
        f'CREATE INDEX "PART_COL_STATS_N49" ON "{table}" ("PART_ID")',
        f'CREATE INDEX "PCS_STATS_IDX" ON "{table}" ({names})',
        f'ALTER TABLE "{table}" ADD CONSTRAINT "PART_COL_STATS_fkey" FOREIGN KEY ("PART_ID") '
        'REFERENCES "PARTITIONS" ("PART_ID") DEFERRABLE',
    ]


def parts_of(url: str) -> list[str]:
    """The names of the parts as SQL has them; of a table that is whole, its own."""
    return [name for (name,) in query(url, _PARTS_OF)]


def sizes_of(url: str) -> Sizes:
    """What rows and indexes take on the disk."""
    ((rows, indexes, largest),) = query(url, _SIZES, parts_of(url))
    return Sizes(int(rows), int(indexes), int(largest))


def query(url: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """The rows of a statement."""
    connection = psycopg2.connect(url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found
    finally:
        connection.close()


def make(url: str, statements: Sequence[str]) -> int:
    """Run the statements of a way, its transaction again whenever a lock was not to be had; returns the tries."""
    if not statements:
        return 0
    begin, end = statements.index("BEGIN"), statements.index("COMMIT") + 1
    execute(url, *statements[:begin])
    tries = 1
    while not _done(url, statements[begin:end]):
        tries += 1
    execute(url, *statements[end:])
    return tries


def _done(url: str, statements: Sequence[str]) -> bool:
    try:
        execute(url, *statements)
    except (errors.LockNotAvailable, errors.DeadlockDetected):
        return False
    return True


def execute(url: str, *statements: str) -> None:
    """Run statements one by one, each a transaction of its own unless they say BEGIN."""
    connection = psycopg2.connect(url)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
    finally:
        connection.close()
