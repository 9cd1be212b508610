"""Parameters of catalogs, as Hive has them since 4.2."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_TABLE = "CATALOG_PARAMS"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("CTLG_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("PARAM_KEY", sa.String(length=180), nullable=False),
        sa.Column("PARAM_VALUE", sa.String(length=4000), nullable=True),
        sa.ForeignKeyConstraint(["CTLG_ID"], ["CTLGS.CTLG_ID"], name=f"{_TABLE}_FK1", deferrable=True),
        sa.PrimaryKeyConstraint("CTLG_ID", "PARAM_KEY", name=f"{_TABLE}_pkey"),
    )


def downgrade() -> None:
    op.drop_table(_TABLE)
