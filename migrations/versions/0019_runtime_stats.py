"""Runtime statistics of Hive's queries, in Hive's own table."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_TABLE = "RUNTIME_STATS"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("RS_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("CREATE_TIME", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("WEIGHT", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PAYLOAD", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("RS_ID", name=f"{_TABLE}_pkey"),
    )
    op.create_index(f"IDX_{_TABLE}_CREATE_TIME", _TABLE, ["CREATE_TIME"])


def downgrade() -> None:
    op.drop_table(_TABLE)
