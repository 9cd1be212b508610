"""Types, data connectors and properties as Hive 4.0.0 has them; room in the pages of statistics on PostgreSQL.

Facts: hive-schema-4.0.0.postgres.sql of Apache Hive; constraints and indexes have its names.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLES = ("TYPES", "TYPE_FIELDS", "DATACONNECTORS", "DATACONNECTOR_PARAMS", "METASTORE_DB_PROPERTIES")
"""In the order in which they are made: what is referred to comes first."""

_UPDATED_OFTEN = ("TAB_COL_STATS", "PART_COL_STATS", "HMSTATS_TABLE_VERSION", "HMSTATS_PROVENANCE", "HMSTATS_TOP_K")


def upgrade() -> None:
    _types()
    _connectors()
    _properties()
    _fill("SET (fillfactor = 50)")


def downgrade() -> None:
    _fill("RESET (fillfactor)")
    for table in reversed(_TABLES):
        op.drop_table(table)


def _text(name: str, length: int, *, required: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=not required)


def _types() -> None:
    op.create_table(
        "TYPES",
        sa.Column("TYPES_ID", sa.BigInteger(), autoincrement=False, nullable=False),
        _text("TYPE_NAME", 128),
        _text("TYPE1", 767),
        _text("TYPE2", 767),
        sa.PrimaryKeyConstraint("TYPES_ID", name="TYPES_pkey"),
        sa.UniqueConstraint("TYPE_NAME", name="UNIQUE_TYPE"),
    )
    op.create_table(
        "TYPE_FIELDS",
        sa.Column("TYPE_NAME", sa.BigInteger(), autoincrement=False, nullable=False),
        _text("COMMENT", 256),
        _text("FIELD_NAME", 128, required=True),
        _text("FIELD_TYPE", 767, required=True),
        sa.Column("INTEGER_IDX", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("TYPE_NAME", "FIELD_NAME", name="TYPE_FIELDS_pkey"),
        sa.ForeignKeyConstraint(["TYPE_NAME"], ["TYPES.TYPES_ID"], name="TYPE_FIELDS_TYPE_NAME_fkey", deferrable=True),
    )
    op.create_index("TYPE_FIELDS_N49", "TYPE_FIELDS", ["TYPE_NAME"])


def _connectors() -> None:
    op.create_table(
        "DATACONNECTORS",
        _text("NAME", 128, required=True),
        _text("TYPE", 32, required=True),
        _text("URL", 4000, required=True),
        _text("COMMENT", 256),
        _text("OWNER_NAME", 256),
        _text("OWNER_TYPE", 10),
        sa.Column("CREATE_TIME", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("NAME", name="DATACONNECTORS_pkey"),
    )
    op.create_table(
        "DATACONNECTOR_PARAMS",
        _text("NAME", 128, required=True),
        _text("PARAM_KEY", 180, required=True),
        _text("PARAM_VALUE", 4000),
        sa.PrimaryKeyConstraint("NAME", "PARAM_KEY", name="DATACONNECTOR_PARAMS_pkey"),
        sa.ForeignKeyConstraint(["NAME"], ["DATACONNECTORS.NAME"], name="DATACONNECTOR_NAME_FK1", ondelete="CASCADE"),
    )


def _properties() -> None:
    op.create_table(
        "METASTORE_DB_PROPERTIES",
        _text("PROPERTY_KEY", 255, required=True),
        _text("PROPERTY_VALUE", 1000, required=True),
        _text("DESCRIPTION", 1000),
        sa.Column("PROPERTYCONTENT", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("PROPERTY_KEY", name="PROPERTY_KEY_PK"),
    )


def _fill(setting: str) -> None:
    """Only pages written from now on are filled less; this rewrites no table, and waits for no reader."""
    if op.get_context().dialect.name == "postgresql":
        for table in _UPDATED_OFTEN:
            op.execute(f'ALTER TABLE "{table}" {setting}')
