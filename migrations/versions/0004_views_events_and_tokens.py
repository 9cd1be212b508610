"""What materialized views were made of, events of partitions, and delegation tokens with their keys, as in Hive 4.0.0.

Facts: hive-schema-4.0.0.postgres.sql of Apache Hive; constraints and indexes have its names.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = ("MV_CREATION_METADATA", "MV_TABLES_USED", "PARTITION_EVENTS", "MASTER_KEYS", "DELEGATION_TOKENS")
"""In the order in which they are made: what is referred to comes first."""


def upgrade() -> None:
    _materialized_views()
    _partition_events()
    _tokens()


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _big(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)


def _text(name: str, length: int | None = None, *, required: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length) if length else sa.Text(), nullable=not required)


def _materialized_views() -> None:
    op.create_table(
        "MV_CREATION_METADATA",
        _big("MV_CREATION_METADATA_ID"),
        _text("CAT_NAME", 256, required=True),
        _text("DB_NAME", 128, required=True),
        _text("TBL_NAME", 256, required=True),
        _text("TXN_LIST"),
        _big("MATERIALIZATION_TIME"),
        sa.PrimaryKeyConstraint("MV_CREATION_METADATA_ID", name="MV_CREATION_METADATA_PK"),
    )
    op.create_index("MV_UNIQUE_TABLE", "MV_CREATION_METADATA", ["TBL_NAME", "DB_NAME"], unique=True)
    op.create_table(
        "MV_TABLES_USED",
        _big("MV_CREATION_METADATA_ID"),
        _big("TBL_ID"),
        _count("INSERTED_COUNT"),
        _count("UPDATED_COUNT"),
        _count("DELETED_COUNT"),
        sa.PrimaryKeyConstraint("TBL_ID", "MV_CREATION_METADATA_ID", name="MV_TABLES_USED_PK"),
        sa.ForeignKeyConstraint(
            ["MV_CREATION_METADATA_ID"],
            ["MV_CREATION_METADATA.MV_CREATION_METADATA_ID"],
            name="MV_TABLES_USED_FK1",
            deferrable=True,
        ),
        sa.ForeignKeyConstraint(["TBL_ID"], ["TBLS.TBL_ID"], name="MV_TABLES_USED_FK2", deferrable=True),
    )


def _partition_events() -> None:
    op.create_table(
        "PARTITION_EVENTS",
        _big("PART_NAME_ID"),
        _text("CAT_NAME", 256),
        _text("DB_NAME", 128),
        _big("EVENT_TIME"),
        sa.Column("EVENT_TYPE", sa.Integer(), nullable=False),
        _text("PARTITION_NAME", 767),
        _text("TBL_NAME", 256),
        sa.PrimaryKeyConstraint("PART_NAME_ID", name="PARTITION_EVENTS_pkey"),
    )
    op.create_index("PARTITIONEVENTINDEX", "PARTITION_EVENTS", ["PARTITION_NAME"])


def _tokens() -> None:
    op.create_table(
        "MASTER_KEYS",
        sa.Column("KEY_ID", sa.Integer(), autoincrement=True, nullable=False),
        _text("MASTER_KEY", 767),
        sa.PrimaryKeyConstraint("KEY_ID", name="MASTER_KEYS_pkey"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "DELEGATION_TOKENS",
        _text("TOKEN_IDENT", 767, required=True),
        _text("TOKEN", 767),
        sa.PrimaryKeyConstraint("TOKEN_IDENT", name="DELEGATION_TOKENS_pkey"),
    )
