"""Blocks of bit vectors."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_INDEX, _BLOCK = "HMSTATS_VECTOR_INDEX", "HMSTATS_VECTOR_BLOCK"


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
        comment="Columns whose partitions' bit vectors are in blocks, of this engine, as of this version of the table",
    )
    op.create_table(
        _BLOCK,
        _big("TBL_ID"),
        _big("BUILD"),
        _big("LOW_ID"),
        sa.Column("MEMBERS", sa.LargeBinary(), nullable=False),
        sa.Column("MERGED", sa.LargeBinary(), nullable=False),
        sa.Column("LISTED", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "BUILD", "LOW_ID", name=f"{_BLOCK}_pkey"),
        comment="Bit vectors of neighbouring partitions, merged, and listed so that any of them can be merged",
    )


def downgrade() -> None:
    op.drop_table(_BLOCK)
    op.drop_table(_INDEX)
