"""When tables and partitions were made, in the history of those that are gone: before that there is nothing of them."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_TABLES, _COLUMN = ("HMSTATS_HISTORY", "HMSTATS_HISTORY_PARTITION"), "CREATED"


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(table, sa.Column(_COLUMN, sa.BigInteger(), nullable=True))


def downgrade() -> None:
    for table in _TABLES:
        op.drop_column(table, _COLUMN)
