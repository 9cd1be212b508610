"""Mirrors of another metastore's tables, for a gateway that answers their statistics."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "HMSTATS_MIRROR",
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("UPSTREAM_ID", sa.BigInteger(), nullable=True),
        sa.Column("SENT_VERSION", sa.BigInteger(), nullable=False),
        sa.Column("CLAIMED_UNTIL", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", name="HMSTATS_MIRROR_pkey"),
        comment="Tables whose catalog is another metastore's: their id there, and the version whose statistics it has",
    )
    _keep_room("HMSTATS_MIRROR")
    op.create_index("HMSTATS_MIRROR_UPSTREAM_ID", "HMSTATS_MIRROR", ["UPSTREAM_ID"])
    op.create_table(
        "HMSTATS_MIRROR_SEEN",
        sa.Column("TBL_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PART_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ENGINE", sa.String(length=128), nullable=False),
        sa.Column("BY_COLUMN", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "PART_ID", "ENGINE", name="HMSTATS_MIRROR_SEEN_pkey"),
        comment="What the other metastore last said of each column's statistics, and ours that agreed: digests in JSON",
    )
    _keep_room("HMSTATS_MIRROR_SEEN")
    op.create_index("HMSTATS_MIRROR_SEEN_PART_ID", "HMSTATS_MIRROR_SEEN", ["PART_ID"])
    op.create_table(
        "HMSTATS_MIRROR_CALL",
        sa.Column("ID", sa.String(length=32), nullable=False),
        sa.Column("CAT_NAME", sa.String(length=256), nullable=False),
        sa.Column("DB_NAME", sa.String(length=256), nullable=False),
        sa.Column("TBL_NAME", sa.String(length=256), nullable=True),
        sa.Column("STARTED_AT", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("ID", name="HMSTATS_MIRROR_CALL_pkey"),
        comment="Calls under way that change tables of the other metastore; of a whole database without TBL_NAME",
    )


def downgrade() -> None:
    for name in ("HMSTATS_MIRROR_CALL", "HMSTATS_MIRROR_SEEN", "HMSTATS_MIRROR"):
        op.drop_table(name)


def _keep_room(table: str) -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute(f'ALTER TABLE "{table}" SET (fillfactor = 50)')
