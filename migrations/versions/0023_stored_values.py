"""What a plain write of statistics stored, in the history, so that the next write need not copy it.

Such writes are counted anew: those of servers of the version before, which do not say what they store, are not among
them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_VERSION, _TOLD = "HMSTATS_TABLE_VERSION", "TOLD_WRITES"
_STEP = "HMSTATS_HISTORY"
_SKETCH = "HMSTATS_HISTORY_SKETCH"
_ALL = (_STEP, "HMSTATS_HISTORY_COLUMN", "HMSTATS_HISTORY_PARAMETER", "HMSTATS_HISTORY_PARTITION", _SKETCH)


def upgrade() -> None:
    op.add_column(_VERSION, sa.Column(_TOLD, sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column(_STEP, sa.Column("SINCE", sa.BigInteger(), nullable=True))
    op.add_column(_STEP, sa.Column("STORED", sa.Text(), nullable=True))
    op.add_column(_STEP, sa.Column("STORED_SKETCHES", sa.Text(), nullable=True))
    if op.get_context().dialect.name == "postgresql":
        # Rows of a few kB stay whole: to compress them, and to store parts elsewhere, costs writes more.
        for table in (_STEP, _SKETCH):
            op.execute(f'ALTER TABLE "{table}" SET (toast_tuple_target = 8160)')
        op.execute(f'ALTER TABLE "{_SKETCH}" ALTER COLUMN "BYTES" SET STORAGE EXTERNAL')


def downgrade() -> None:
    # Without these columns the history would say that there was nothing where nothing was copied. It begins anew.
    for table in _ALL:
        op.execute(f'DELETE FROM "{table}"')
    op.drop_column(_VERSION, _TOLD)
    for column in ("STORED_SKETCHES", "STORED", "SINCE"):
        op.drop_column(_STEP, column)
    if op.get_context().dialect.name == "postgresql":
        op.execute(f'ALTER TABLE "{_SKETCH}" ALTER COLUMN "BYTES" SET STORAGE EXTENDED')
        for table in (_STEP, _SKETCH):
            op.execute(f'ALTER TABLE "{table}" RESET (toast_tuple_target)')
