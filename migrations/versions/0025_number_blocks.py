"""Blocks of the numbers of partitions' statistics."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_INDEX, _BLOCK = "HMSTATS_NUMBER_INDEX", "HMSTATS_NUMBER_BLOCK"


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def upgrade() -> None:
    op.create_table(
        _INDEX,
        _big("TBL_ID"),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=False),
        sa.Column("ENGINE", sa.String(length=128), nullable=False),
        _big("BUILD"),
        _big("VERSION"),
        sa.PrimaryKeyConstraint("TBL_ID", "COLUMN_NAME", name=f"{_INDEX}_pkey"),
        comment="Columns whose partitions' numbers are in blocks, of this engine, as of this version of the table",
    )
    op.create_table(
        _BLOCK,
        _big("TBL_ID"),
        _big("BUILD"),
        _big("LOW_ID"),
        sa.Column("MEMBERS", sa.LargeBinary(), nullable=False),
        sa.Column("NUMBERS", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "BUILD", "LOW_ID", name=f"{_BLOCK}_pkey"),
        comment="The numbers of neighbouring partitions' statistics of a column, from which any of them are summed up",
    )


def downgrade() -> None:
    op.drop_table(_BLOCK)
    op.drop_table(_INDEX)
