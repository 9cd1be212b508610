"""Tokens that stand for a proof by Kerberos, and the users on whose behalf others are recorded."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_DELEGATION_TOKEN"
_AUDIT = "HMSTATS_AUDIT"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("NUMBER", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("SECRET", sa.String(length=64), nullable=False),
        sa.Column("OWNER_NAME", sa.String(length=256), nullable=False),
        sa.Column("RENEWER", sa.String(length=256), nullable=False),
        sa.Column("REAL_USER", sa.String(length=256), nullable=False),
        sa.Column("ISSUED_AT", sa.BigInteger(), nullable=False),
        sa.Column("ENDS_AT", sa.BigInteger(), nullable=False),
        sa.Column("EXPIRES_AT", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("NUMBER", name=f"{_TABLE}_pkey"),
        comment="Tokens that stand for a proof by Kerberos; REAL_USER is empty if the owner asked, times are epoch ms",
    )
    op.create_index(f"{_TABLE}_EXPIRES_AT", _TABLE, ["EXPIRES_AT"])
    op.add_column(_AUDIT, sa.Column("VIA", sa.String(length=256), nullable=True))


def downgrade() -> None:
    op.drop_column(_AUDIT, "VIA")
    op.drop_table(_TABLE)
