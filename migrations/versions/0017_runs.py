"""Runs that refresh statistics, and leases of tables."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_RUN = "HMSTATS_RUN"
_LEASE = "HMSTATS_RUN_LEASE"


def upgrade() -> None:
    big = sa.BigInteger
    op.create_table(
        _RUN,
        sa.Column("RUN_ID", sa.String(length=64), nullable=False),
        sa.Column("TBL_ID", big(), nullable=False),
        sa.Column("CAT_NAME", sa.String(length=256), nullable=False),
        sa.Column("DB_NAME", sa.String(length=128), nullable=False),
        sa.Column("TBL_NAME", sa.String(length=256), nullable=False),
        sa.Column("RUNNER", sa.String(length=256), nullable=False),
        sa.Column("STARTED_AT", big(), nullable=False),
        sa.Column("ENDED_AT", big(), nullable=True),
        sa.Column("OUTCOME", sa.String(length=16), nullable=False),
        sa.Column("REASON", sa.Text(), nullable=True),
        sa.Column("PART_NAMES", sa.Text(), nullable=False),
        sa.Column("WHY", sa.Text(), nullable=False),
        sa.Column("NUM_ROWS", big(), nullable=True),
        sa.Column("NUM_BYTES", big(), nullable=True),
        sa.Column("SECONDS", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("RUN_ID", name=f"{_RUN}_pkey"),
        comment="Refreshes of statistics; PART_NAMES (none: the table) and WHY, the terms of the score, are JSON",
    )
    op.create_index(f"{_RUN}_STARTED_AT", _RUN, ["STARTED_AT"])
    op.create_table(
        _LEASE,
        sa.Column("TBL_ID", big(), autoincrement=False, nullable=False),
        sa.Column("RUN_ID", sa.String(length=64), nullable=True),
        sa.Column("UNTIL", big(), nullable=False),
        sa.Column("FAILURES", sa.Integer(), nullable=False),
        sa.Column("RETRY_AT", big(), nullable=True),
        sa.PrimaryKeyConstraint("TBL_ID", name=f"{_LEASE}_pkey"),
        comment="Which run refreshes a table, until when; how often in a row that failed, and when it is tried again",
    )


def downgrade() -> None:
    op.drop_table(_LEASE)
    op.drop_table(_RUN)
