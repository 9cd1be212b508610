"""Changes of directories that are under way, so that another server finishes or undoes those of one that was killed."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_FILE_CHANGE"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        _big("ID"),
        _big("OWNER"),
        sa.Column("KIND", sa.String(length=16), nullable=False),
        sa.Column("SUBJECT", sa.Text(), nullable=False),
        sa.Column("PLACES", sa.Text(), nullable=False),
        sa.Column("DETAILS", sa.Text(), nullable=False),
        _big("STARTED_AT"),
        sa.PrimaryKeyConstraint("ID", name=f"{_TABLE}_pkey"),
        comment="Changes of directories that are under way: what a server that was killed leaves to the others",
    )


def downgrade() -> None:
    op.drop_table(_TABLE)


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)
