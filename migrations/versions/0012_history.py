"""The history of statistics: the state before each write."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_WRITE = "HMSTATS_HISTORY"
_COLUMN, _PARAMETER, _PARTITION, _SKETCH = (
    f"{_WRITE}_{name}" for name in ("COLUMN", "PARAMETER", "PARTITION", "SKETCH")
)


def _big(name: str, *, nullable: bool = True) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=nullable)


def _text(name: str, length: int | None = None, *, nullable: bool = True) -> sa.Column[str]:
    return sa.Column(name, sa.String(length=length) if length else sa.Text(), nullable=nullable)


def _key(*more: str) -> list[sa.Column[int]]:
    """The key columns of a step of a write, and of a partition."""
    return [_big(name, nullable=False) for name in ("TBL_ID", "VERSION", "STEP", *more)]


def upgrade() -> None:
    op.create_table(
        _WRITE,
        *_key(),
        _big("AT", nullable=False),
        _text("CAT_NAME", 256, nullable=False),
        _text("DB_NAME", 128, nullable=False),
        _text("TBL_NAME", 256, nullable=False),
        _text("WRITER", 256),
        _text("CALL_NAME", 128),
        _text("KIND", 16, nullable=False),
        _text("ENGINE", 128),
        _text("COLUMN_NAMES"),
        _text("PART_IDS"),
        sa.Column("THINNED", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "VERSION", "STEP", name=f"{_WRITE}_pkey"),
        comment="What each write changed, when (epoch ms) and by whom; the rows below hold what was there before it",
    )
    op.create_index(f"{_WRITE}_NAME", _WRITE, ["TBL_NAME", "DB_NAME"])
    op.create_table(
        _COLUMN,
        *_key("PART_ID"),
        _text("ENGINE", 128, nullable=False),
        _text("COLUMN_NAME", 767, nullable=False),
        _text("COLUMN_TYPE", 128),
        _big("LONG_LOW_VALUE"),
        _big("LONG_HIGH_VALUE"),
        sa.Column("DOUBLE_LOW_VALUE", sa.Double(), nullable=True),
        sa.Column("DOUBLE_HIGH_VALUE", sa.Double(), nullable=True),
        _text("BIG_DECIMAL_LOW_VALUE", 4000),
        _text("BIG_DECIMAL_HIGH_VALUE", 4000),
        _big("NUM_NULLS"),
        _big("NUM_DISTINCTS"),
        sa.Column("AVG_COL_LEN", sa.Double(), nullable=True),
        _big("MAX_COL_LEN"),
        _big("NUM_TRUES"),
        _big("NUM_FALSES"),
        _big("LAST_ANALYZED", nullable=False),
        sa.Column("BIT_VECTOR_HASH", sa.LargeBinary(), nullable=True),
        sa.Column("HISTOGRAM_HASH", sa.LargeBinary(), nullable=True),
        sa.Column("TOP_K_HASH", sa.LargeBinary(), nullable=True),
        _text("PROVENANCE"),
        sa.PrimaryKeyConstraint(
            "TBL_ID", "VERSION", "STEP", "PART_ID", "ENGINE", "COLUMN_NAME", name=f"{_COLUMN}_pkey"
        ),
        comment="Column statistics before a write",
    )
    op.create_table(
        _PARAMETER,
        *_key("PART_ID"),
        _text("PARAM_KEY", 256, nullable=False),
        _text("PARAM_VALUE"),
        sa.PrimaryKeyConstraint("TBL_ID", "VERSION", "STEP", "PART_ID", "PARAM_KEY", name=f"{_PARAMETER}_pkey"),
        comment="Parameters of statistics before a write",
    )
    op.create_table(
        _PARTITION,
        *_key("PART_ID"),
        _text("PART_NAME", 767, nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "VERSION", "STEP", "PART_ID", name=f"{_PARTITION}_pkey"),
        comment="Names of partitions before they were dropped, renamed or moved to another table",
    )
    op.create_table(
        _SKETCH,
        _big("TBL_ID", nullable=False),
        sa.Column("HASH", sa.LargeBinary(), nullable=False),
        sa.Column("BYTES", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("TBL_ID", "HASH", name=f"{_SKETCH}_pkey"),
        comment="The sketches of earlier statistics, each once a table by its SHA-256",
    )


def downgrade() -> None:
    for table in (_SKETCH, _PARTITION, _PARAMETER, _COLUMN, _WRITE):
        op.drop_table(table)
