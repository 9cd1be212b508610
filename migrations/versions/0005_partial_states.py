"""Partial states of running writes, which a job's tasks leave and its end collects."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_PARTIAL_STATE"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("RUN_ID", sa.String(length=128), autoincrement=False, nullable=False),
        _big("TASK"),
        _big("ATTEMPT"),
        _big("NUMBER"),
        sa.Column("PIECE", sa.Text(), nullable=False),
        sa.Column("STATE", sa.LargeBinary(), nullable=False),
        _big("WRITTEN_AT"),
        sa.PrimaryKeyConstraint("RUN_ID", "TASK", "ATTEMPT", "NUMBER", name=f"{_TABLE}_pkey"),
        comment="What tasks of running writes have found so far, by run",
    )


def downgrade() -> None:
    op.drop_table(_TABLE)


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)
