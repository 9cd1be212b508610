"""The number of plain writes of statistics among the versions of a table."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_TABLE, _COLUMN = "HMSTATS_TABLE_VERSION", "PLAIN_WRITES"


def upgrade() -> None:
    op.add_column(_TABLE, sa.Column(_COLUMN, sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column(_TABLE, _COLUMN)
