"""Data connectors to databases of other systems."""

from sqlalchemy import Column, ForeignKey, Integer, String, Table

from hmstats.store.schema.columns import METADATA, key, text

DATACONNECTORS = Table(
    "DATACONNECTORS",
    METADATA,
    key("NAME", 128),
    text("TYPE", 32, required=True),
    text("URL", 4000, required=True),
    text("COMMENT", 256),
    text("OWNER_NAME", 256),
    text("OWNER_TYPE", 10),
    Column("CREATE_TIME", Integer, nullable=False),
)
DATACONNECTOR_PARAMS = Table(
    "DATACONNECTOR_PARAMS",
    METADATA,
    Column(
        "NAME",
        String(128),
        ForeignKey("DATACONNECTORS.NAME", name="DATACONNECTOR_NAME_FK1", ondelete="CASCADE"),
        primary_key=True,
    ),
    key("PARAM_KEY", 180),
    text("PARAM_VALUE", 4000),
)
