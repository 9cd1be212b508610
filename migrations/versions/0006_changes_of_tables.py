"""Which partitions the last changes of each table touched, so that servers drop no more than that."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_TABLE_CHANGE"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        _big("TBL_ID"),
        _big("SLOT"),
        _big("VERSION"),
        sa.Column("PARTITIONS", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "SLOT", name=f"{_TABLE}_pkey"),
        comment="The partitions that each of the last changes of a table touched, where it touched nothing else",
    )
    if op.get_context().dialect.name == "postgresql":
        op.execute(f'ALTER TABLE "{_TABLE}" SET (fillfactor = 50)')


def downgrade() -> None:
    op.drop_table(_TABLE)


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)
