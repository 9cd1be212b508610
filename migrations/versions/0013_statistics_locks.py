"""Locks on statistics."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_STATISTICS_LOCK"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("DB_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PART_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=False),
        sa.Column("REFUSE", sa.Boolean(), nullable=False),
        sa.Column("REASON", sa.Text(), nullable=True),
        sa.Column("LOCKED_BY", sa.String(length=256), nullable=True),
        sa.Column("LOCKED_AT", sa.BigInteger(), nullable=False),
        sa.Column("DROPPED", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "DB_ID", "PART_ID", "COLUMN_NAME", name=f"{_TABLE}_pkey"),
        comment="Locked statistics: of a database TBL_ID is 0, of a table DB_ID; PART_ID 0 and no COLUMN_NAME: all",
    )
    op.create_index(f"{_TABLE}_PART_ID", _TABLE, ["PART_ID"])


def downgrade() -> None:
    op.drop_table(_TABLE)
