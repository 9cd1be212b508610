"""Health of statistics."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_HEALTH = "HMSTATS_HEALTH"
_PROGRESS = "HMSTATS_HEALTH_PROGRESS"


def upgrade() -> None:
    big, number = sa.BigInteger, sa.Integer
    op.create_table(
        _HEALTH,
        sa.Column("TBL_ID", big(), autoincrement=False, nullable=False),
        sa.Column("PART_ID", big(), autoincrement=False, nullable=False),
        sa.Column("VERSION", big(), nullable=False),
        sa.Column("HEALTH", number(), nullable=False),
        sa.Column("REASON", sa.String(length=16), nullable=False),
        sa.Column("NUM_ROWS", big(), nullable=True),
        sa.Column("NUM_FILES", big(), nullable=True),
        sa.Column("TOTAL_SIZE", big(), nullable=True),
        sa.Column("ROWS_THEN", big(), nullable=True),
        sa.Column("FILES_THEN", big(), nullable=True),
        sa.Column("SIZE_THEN", big(), nullable=True),
        sa.Column("MOVED_ROWS", big(), nullable=False),
        sa.Column("MARKED", sa.Boolean(), nullable=False),
        sa.Column("NUM_COLUMNS", number(), nullable=False),
        sa.Column("ANALYZED_COLUMNS", number(), nullable=False),
        sa.Column("ANALYZED_AT", big(), nullable=True),
        sa.Column("STALE_SINCE", big(), nullable=True),
        sa.Column("NUM_PARTITIONS", big(), nullable=True),
        sa.Column("STALE_PARTITIONS", big(), nullable=True),
        sa.PrimaryKeyConstraint("TBL_ID", "PART_ID", name=f"{_HEALTH}_pkey"),
        comment="Health of statistics, 0 to 100; PART_ID 0: of the table. THEN: when they were made",
    )
    op.create_index(f"{_HEALTH}_PART_ID", _HEALTH, ["PART_ID", "HEALTH", "TBL_ID"])
    op.create_table(
        _PROGRESS,
        sa.Column("ID", big(), autoincrement=False, nullable=False),
        sa.Column("EVENT_ID", big(), nullable=False),
        sa.Column("WALKED_TO", big(), nullable=True),
        sa.PrimaryKeyConstraint("ID", name=f"{_PROGRESS}_pkey"),
        comment="One row: the last event that HMSTATS_HEALTH reflects; the last table of a walk through all tables",
    )


def downgrade() -> None:
    op.drop_table(_PROGRESS)
    op.drop_table(_HEALTH)
