"""Tables and columns that are to blame for wrong estimates of queries."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_BLAME = "HMSTATS_BLAME"


def upgrade() -> None:
    op.create_table(
        _BLAME,
        sa.Column("BLAME_ID", sa.String(length=64), nullable=False),
        sa.Column("CAT_NAME", sa.String(length=256), nullable=False),
        sa.Column("DB_NAME", sa.String(length=128), nullable=False),
        sa.Column("TBL_NAME", sa.String(length=256), nullable=False),
        sa.Column("COLUMN_NAME", sa.String(length=767), nullable=True),
        sa.Column("USED_FOR", sa.String(length=16), nullable=False),
        sa.Column("VERDICT", sa.String(length=16), nullable=False),
        sa.Column("ENGINE", sa.String(length=128), nullable=False),
        sa.Column("SHAPE", sa.String(length=64), nullable=False),
        sa.Column("SEEN_AT", sa.BigInteger(), nullable=False),
        sa.Column("ESTIMATED", sa.Double(), nullable=True),
        sa.Column("NUM_ROWS", sa.BigInteger(), nullable=False),
        sa.Column("FACTOR", sa.Double(), nullable=False),
        sa.Column("WEIGHT", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("BLAME_ID", name=f"{_BLAME}_pkey"),
        comment="Tables and columns that were to blame for wrong estimates of queries, each shape of query once a day",
    )
    op.create_index(f"{_BLAME}_SEEN_AT", _BLAME, ["SEEN_AT"])


def downgrade() -> None:
    op.drop_table(_BLAME)
