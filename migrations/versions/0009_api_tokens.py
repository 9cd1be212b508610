"""Tokens by which clients prove who they are; of each secret only a hash."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_API_TOKEN"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("HASH", sa.String(length=64), autoincrement=False, nullable=False),
        sa.Column("NAME", sa.String(length=128), nullable=False),
        sa.Column("USER_NAME", sa.String(length=256), nullable=False),
        sa.Column("USER_GROUPS", sa.Text(), nullable=False),
        sa.Column("CREATED_AT", sa.BigInteger(), nullable=False),
        sa.Column("EXPIRES_AT", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("HASH", name=f"{_TABLE}_pkey"),
        sa.UniqueConstraint("NAME", name=f"{_TABLE}_NAME_key"),
        comment="Tokens by which clients prove who they are; HASH is the SHA-256 of the text that a client sends",
    )


def downgrade() -> None:
    op.drop_table(_TABLE)
