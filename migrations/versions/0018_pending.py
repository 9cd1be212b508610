"""Pending statistics: new numbers that wait until somebody publishes them."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_OWNER, _COLUMN = "HMSTATS_PENDING", "HMSTATS_PENDING_COLUMN"


def _key() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False) for name in ("TBL_ID", "PART_ID")]


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=True)


def upgrade() -> None:
    op.create_table(
        _OWNER,
        *_key(),
        sa.Column("HELD_BY", sa.String(length=32), nullable=False),
        sa.Column("REASON", sa.Text(), nullable=False),
        sa.Column("WRITER", sa.String(length=256), nullable=True),
        sa.Column("HELD_AT", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PARAMETERS", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "PART_ID", name=f"{_OWNER}_pkey"),
        comment="Statistics that wait: of a table PART_ID is 0; PARAMETERS is a JSON object",
    )
    op.create_index(f"{_OWNER}_PART_ID", _OWNER, ["PART_ID"])
    op.create_table(
        _COLUMN,
        *_key(),
        sa.Column("ENGINE", sa.String(length=128), nullable=False),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=False),
        sa.Column("COLUMN_TYPE", sa.String(length=128), nullable=True),
        _big("LONG_LOW_VALUE"),
        _big("LONG_HIGH_VALUE"),
        sa.Column("DOUBLE_LOW_VALUE", sa.Double(), nullable=True),
        sa.Column("DOUBLE_HIGH_VALUE", sa.Double(), nullable=True),
        sa.Column("BIG_DECIMAL_LOW_VALUE", sa.String(length=4000), nullable=True),
        sa.Column("BIG_DECIMAL_HIGH_VALUE", sa.String(length=4000), nullable=True),
        _big("NUM_NULLS"),
        _big("NUM_DISTINCTS"),
        sa.Column("AVG_COL_LEN", sa.Double(), nullable=True),
        _big("MAX_COL_LEN"),
        _big("NUM_TRUES"),
        _big("NUM_FALSES"),
        sa.Column("BIT_VECTOR", sa.LargeBinary(), nullable=True),
        sa.Column("HISTOGRAM", sa.LargeBinary(), nullable=True),
        sa.Column("TOP_K", sa.LargeBinary(), nullable=True),
        sa.Column("PROVENANCE", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("TBL_ID", "PART_ID", "ENGINE", "COLUMN_NAME", name=f"{_COLUMN}_pkey"),
        comment="Column statistics that wait",
    )
    op.create_index(f"{_COLUMN}_PART_ID", _COLUMN, ["PART_ID"])


def downgrade() -> None:
    op.drop_table(_COLUMN)
    op.drop_table(_OWNER)
