"""The history of statistics: the state before each write of a table's statistics or of their parameters; and
pending statistics.

Rows about one step of a write have the table's id, the version that the write made (HMSTATS_TABLE_VERSION), and the
step's number within its transaction. PART_ID is 0 for what belongs to the table itself. A step with SINCE has copied no
rows: what was there before it is told by the STORED of the steps since this version (replay.py). CREATED is the epoch
second in which a table or partition was made, or NULL if the step does not say so.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, Column, Double, Index, LargeBinary, Table, false

from hmstats.store.schema.columns import METADATA, big, key, text


def _step() -> Sequence[Column[Any]]:
    """The key of a step of a write."""
    return (key("TBL_ID"), key("VERSION"), key("STEP"))


HMSTATS_HISTORY = Table(
    "HMSTATS_HISTORY",
    METADATA,
    *_step(),
    big("AT", required=True),
    text("CAT_NAME", 256, required=True),
    text("DB_NAME", 128, required=True),
    text("TBL_NAME", 256, required=True),
    text("WRITER", 256),
    text("CALL_NAME", 128),
    text("KIND", 16, required=True),
    text("ENGINE", 128),
    text("COLUMN_NAMES"),
    text("PART_IDS"),
    Column("THINNED", Boolean, nullable=False, server_default=false()),
    big("SINCE"),
    text("STORED"),
    text("STORED_SKETCHES"),
    big("CREATED"),
    Index("HMSTATS_HISTORY_NAME", "TBL_NAME", "DB_NAME"),
    comment="What each write changed, when (epoch ms) and by whom; the rows below hold what was there before it",
)
HMSTATS_HISTORY_COLUMN = Table(
    "HMSTATS_HISTORY_COLUMN",
    METADATA,
    *_step(),
    key("PART_ID"),
    key("ENGINE", 128),
    key("COLUMN_NAME", 767),
    text("COLUMN_TYPE", 128),
    big("LONG_LOW_VALUE"),
    big("LONG_HIGH_VALUE"),
    Column("DOUBLE_LOW_VALUE", Double),
    Column("DOUBLE_HIGH_VALUE", Double),
    text("BIG_DECIMAL_LOW_VALUE", 4000),
    text("BIG_DECIMAL_HIGH_VALUE", 4000),
    big("NUM_NULLS"),
    big("NUM_DISTINCTS"),
    Column("AVG_COL_LEN", Double),
    big("MAX_COL_LEN"),
    big("NUM_TRUES"),
    big("NUM_FALSES"),
    big("LAST_ANALYZED", required=True),
    Column("BIT_VECTOR_HASH", LargeBinary),
    Column("HISTOGRAM_HASH", LargeBinary),
    Column("TOP_K_HASH", LargeBinary),
    text("PROVENANCE"),
    comment="Column statistics before a write",
)
HMSTATS_HISTORY_PARAMETER = Table(
    "HMSTATS_HISTORY_PARAMETER",
    METADATA,
    *_step(),
    key("PART_ID"),
    key("PARAM_KEY", 256),
    text("PARAM_VALUE"),
    comment="Parameters of statistics before a write",
)
HMSTATS_HISTORY_PARTITION = Table(
    "HMSTATS_HISTORY_PARTITION",
    METADATA,
    *_step(),
    key("PART_ID"),
    text("PART_NAME", 767, required=True),
    big("CREATED"),
    comment="Names of partitions before they were dropped, renamed or moved to another table",
)
HMSTATS_HISTORY_SKETCH = Table(
    "HMSTATS_HISTORY_SKETCH",
    METADATA,
    key("TBL_ID"),
    Column("HASH", LargeBinary, primary_key=True),
    Column("BYTES", LargeBinary, nullable=False),
    comment="The sketches of earlier statistics, each once a table by its SHA-256",
)
HMSTATS_PENDING = Table(
    "HMSTATS_PENDING",
    METADATA,
    key("TBL_ID"),
    key("PART_ID"),
    text("HELD_BY", 32, required=True),
    text("REASON", required=True),
    text("WRITER", 256),
    big("HELD_AT", required=True),
    text("PARAMETERS", required=True),
    Index("HMSTATS_PENDING_PART_ID", "PART_ID"),
    comment="Statistics that wait: of a table PART_ID is 0; PARAMETERS is a JSON object",
)
HMSTATS_PENDING_COLUMN = Table(
    "HMSTATS_PENDING_COLUMN",
    METADATA,
    key("TBL_ID"),
    key("PART_ID"),
    key("ENGINE", 128),
    key("COLUMN_NAME", 767),
    text("COLUMN_TYPE", 128),
    big("LONG_LOW_VALUE"),
    big("LONG_HIGH_VALUE"),
    Column("DOUBLE_LOW_VALUE", Double),
    Column("DOUBLE_HIGH_VALUE", Double),
    text("BIG_DECIMAL_LOW_VALUE", 4000),
    text("BIG_DECIMAL_HIGH_VALUE", 4000),
    big("NUM_NULLS"),
    big("NUM_DISTINCTS"),
    Column("AVG_COL_LEN", Double),
    big("MAX_COL_LEN"),
    big("NUM_TRUES"),
    big("NUM_FALSES"),
    Column("BIT_VECTOR", LargeBinary),
    Column("HISTOGRAM", LargeBinary),
    Column("TOP_K", LargeBinary),
    text("PROVENANCE"),
    Index("HMSTATS_PENDING_COLUMN_PART_ID", "PART_ID"),
    comment="Column statistics that wait",
)
