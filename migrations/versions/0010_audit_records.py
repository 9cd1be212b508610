"""Audit records, and the objects that each is about."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_RECORD, _OBJECT = "HMSTATS_AUDIT", "HMSTATS_AUDIT_OBJECT"
_KEY = ("AT", "WRITER", "NUMBER")
_NAMES = ("CAT_NAME", "DB_NAME", "TBL_NAME")


def _key_columns() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False) for name in _KEY]


def upgrade() -> None:
    op.create_table(
        _RECORD,
        *_key_columns(),
        sa.Column("WORKER", sa.BigInteger(), nullable=True),
        sa.Column("CONNECTION_ID", sa.BigInteger(), nullable=False),
        sa.Column("ADDRESS", sa.String(length=128), nullable=False),
        sa.Column("PRINCIPAL", sa.String(length=256), nullable=True),
        sa.Column("MECHANISM", sa.String(length=64), nullable=True),
        sa.Column("USER_NAME", sa.String(length=256), nullable=True),
        sa.Column("CALL_NAME", sa.String(length=128), nullable=True),
        sa.Column("OBJECTS", sa.Text(), nullable=False),
        sa.Column("ALLOWED", sa.Boolean(), nullable=False),
        sa.Column("RULE_NUMBER", sa.BigInteger(), nullable=True),
        sa.Column("OUTCOME", sa.String(length=128), nullable=False),
        sa.PrimaryKeyConstraint(*_KEY, name=f"{_RECORD}_pkey"),
        comment="Calls that were recorded: AT in epoch milliseconds, OBJECTS a JSON list",
    )
    op.create_table(
        _OBJECT,
        *(sa.Column(name, sa.String(length=256), autoincrement=False, nullable=False) for name in _NAMES),
        *_key_columns(),
        sa.PrimaryKeyConstraint(*_NAMES, *_KEY, name=f"{_OBJECT}_pkey"),
        comment="The objects that each audit record is about; a database has no TBL_NAME, a catalog no DB_NAME",
    )
    op.create_index(f"{_OBJECT}_AT", _OBJECT, ["AT"])


def downgrade() -> None:
    op.drop_table(_OBJECT)
    op.drop_table(_RECORD)
