"""The partitions that the last changes of tables touched, of changes that touched the tables themselves too."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_TABLE = "HMSTATS_OWN_CHANGE"


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def upgrade() -> None:
    op.create_table(
        _TABLE,
        _big("TBL_ID"),
        _big("SLOT"),
        _big("VERSION"),
        sa.Column("PARTITIONS", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "SLOT", name=f"{_TABLE}_pkey"),
        comment="The partitions that each of the last changes of a table touched, where it touched the table itself"
        " too",
    )
    if op.get_context().dialect.name == "postgresql":
        op.execute(f'ALTER TABLE "{_TABLE}" SET (fillfactor = 50)')


def downgrade() -> None:
    op.drop_table(_TABLE)
