"""Provenance in one row for all columns of a partition or table, filled from the rows that there were for each column.

The old table stays for servers of the version before, and goes with the next revision. A downgrade brings back to it
what is newer in the new one. On PostgreSQL pages of statistics get more room, for writers that go on beside each other.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_OLD, _NEW = "HMSTATS_PROVENANCE", "HMSTATS_COLUMN_PROVENANCE"
_MOST = "1.7976931348623157e308"
"""The largest number of floating point: JSON knows no larger one."""
_VALUES = ("WRITTEN_AT", "WRITER", "TOOL", "EXACT", "NDV_STANDARD_ERROR", "ROWS_SEEN", "SAMPLE_FRACTION")
"""What a column's array has, in its order."""


def upgrade() -> None:
    op.create_table(
        _NEW,
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PART_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ENGINE", sa.String(length=128), autoincrement=False, nullable=False),
        sa.Column("BY_COLUMN", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "PART_ID", "ENGINE", name=f"{_NEW}_pkey"),
        comment="How the statistics of each column were made, by whom and when: a JSON object of the columns",
    )
    if _is_postgresql():
        op.execute(f'ALTER TABLE "{_NEW}" SET (fillfactor = 50)')
    op.execute(f"""
        INSERT INTO "{_NEW}" ("TBL_ID", "PART_ID", "ENGINE", "BY_COLUMN")
        SELECT "TBL_ID", "PART_ID", "ENGINE", {_object()} FROM "{_OLD}" GROUP BY "TBL_ID", "PART_ID", "ENGINE"
    """)
    op.create_index(f"{_NEW}_PART_ID", _NEW, ["PART_ID"])
    _fill(40)
    _describe_old("Neither read nor written since revision 0007: the revision after it drops this table")


def downgrade() -> None:
    _fill(50)
    names = ", ".join(f'"{name}"' for name in _VALUES)
    replaced = ", ".join(f'"{name}" = excluded."{name}"' for name in _VALUES)
    op.execute(f"""
        INSERT INTO "{_OLD}" ("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE", {names})
        SELECT "TBL_ID", "PART_ID", each.key, "ENGINE", {_from_array()}
        FROM "{_NEW}" CROSS JOIN {"jsonb_each" if _is_postgresql() else "json_each"}("BY_COLUMN") AS each WHERE true
        ON CONFLICT ("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE")
        DO UPDATE SET {replaced} WHERE excluded."WRITTEN_AT" >= "{_OLD}"."WRITTEN_AT"
    """)
    op.drop_table(_NEW)
    _describe_old("How the statistics of each column were made, by whom and when")


def _is_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"


def _object() -> str:
    """The expression for the object of a group's columns."""
    if _is_postgresql():
        numbers = {name: f'CASE WHEN "{name}" <= {_MOST} THEN "{name}" END' for name in _VALUES[4::2]}
        values = (numbers.get(name, f'"{name}"') for name in _VALUES)
        return f'jsonb_object_agg("COLUMN_NAME", jsonb_build_array({", ".join(values)}))'
    # Left to itself SQLite knows no true and false, and writes 15 digits of a number.
    written = {
        name: f"json(CASE WHEN \"{name}\" <= {_MOST} THEN printf('%!.17g', \"{name}\") ELSE 'null' END)"
        for name in _VALUES[4::2]
    }
    written["EXACT"] = "json(CASE \"EXACT\" WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END)"
    values = (written.get(name, f'"{name}"') for name in _VALUES)
    return f'json_group_object("COLUMN_NAME", json_array({", ".join(values)}))'


def _from_array() -> str:
    """The expressions for the values of a column's array, in their order."""
    if not _is_postgresql():
        return ", ".join(f"json_extract(each.value, '$[{place}]')" for place, _ in enumerate(_VALUES))
    kinds = {"WRITER": "TEXT", "TOOL": "TEXT", "EXACT": "BOOLEAN", "WRITTEN_AT": "BIGINT", "ROWS_SEEN": "BIGINT"}
    return ", ".join(
        f"CAST(each.value ->> {place} AS {kinds.get(name, 'DOUBLE PRECISION')})" for place, name in enumerate(_VALUES)
    )


def _fill(percent: int) -> None:
    for table in ("TAB_COL_STATS", "PART_COL_STATS") if _is_postgresql() else ():
        op.execute(f'ALTER TABLE "{table}" SET (fillfactor = {percent})')


def _describe_old(comment: str) -> None:
    if _is_postgresql():
        op.create_table_comment(_OLD, comment)
