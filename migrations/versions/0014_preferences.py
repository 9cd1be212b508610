"""Preferences: how statistics are made and kept."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_PREFERENCE"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("DB_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PART_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=False),
        sa.Column("NAME", sa.String(length=64), nullable=False),
        sa.Column("VALUE", sa.Text(), nullable=False),
        sa.Column("SET_BY", sa.String(length=256), nullable=True),
        sa.Column("SET_AT", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "DB_ID", "PART_ID", "COLUMN_NAME", "NAME", name=f"{_TABLE}_pkey"),
        comment="How statistics are made: of everything DB_ID and TBL_ID are 0, of a database TBL_ID",
    )
    op.create_index(f"{_TABLE}_PART_ID", _TABLE, ["PART_ID"])


def downgrade() -> None:
    op.drop_table(_TABLE)
