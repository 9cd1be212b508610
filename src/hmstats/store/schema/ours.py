"""Our own tables, whose names begin with HMSTATS_."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Column, Double, Index, LargeBinary, Table, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB

from hmstats.store.schema.columns import METADATA, ROOM, big, key, text

HMSTATS_TABLE_VERSION = Table(
    "HMSTATS_TABLE_VERSION",
    METADATA,
    key("TBL_ID"),
    big("VERSION", required=True),
    Column("PLAIN_WRITES", BigInteger, nullable=False, server_default="0"),  # of servers of the version before alone
    Column("TOLD_WRITES", BigInteger, nullable=False, server_default="0"),
    comment="Counts every write that touches a table, its partitions or statistics",
    **ROOM,
)
HMSTATS_TABLE_CHANGE = Table(
    "HMSTATS_TABLE_CHANGE",
    METADATA,
    key("TBL_ID"),
    key("SLOT"),
    big("VERSION", required=True),
    text("PARTITIONS", required=True),
    comment="The partitions that each of the last changes of a table touched, where it touched nothing else",
    **ROOM,
)
HMSTATS_OWN_CHANGE = Table(
    "HMSTATS_OWN_CHANGE",
    METADATA,
    key("TBL_ID"),
    key("SLOT"),
    big("VERSION", required=True),
    text("PARTITIONS", required=True),
    comment="The partitions that each of the last changes of a table touched, where it touched the table itself too",
    **ROOM,
)


def _described() -> Sequence[Column[Any]]:
    """The key columns of details of one column's statistics; PART_ID is 0 for the table's own."""
    return (key("TBL_ID"), key("PART_ID"), key("COLUMN_NAME", 767), key("ENGINE", 128))


HMSTATS_PROVENANCE = Table(
    "HMSTATS_PROVENANCE",
    METADATA,
    *_described(),
    Column("EXACT", Boolean),
    Column("NDV_STANDARD_ERROR", Double),
    big("ROWS_SEEN"),
    Column("SAMPLE_FRACTION", Double),
    text("WRITER", 256),
    text("TOOL", 256),
    big("WRITTEN_AT", required=True),
    Index("HMSTATS_PROVENANCE_PART_ID", "PART_ID"),
    # The comment as revision 0007 wrote it into databases. No later revision has dropped the table so far.
    comment="Neither read nor written since revision 0007: the revision after it drops this table",
    **ROOM,
)
HMSTATS_COLUMN_PROVENANCE = Table(
    "HMSTATS_COLUMN_PROVENANCE",
    METADATA,
    key("TBL_ID"),
    key("PART_ID"),
    key("ENGINE", 128),
    Column("BY_COLUMN", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    Index("HMSTATS_COLUMN_PROVENANCE_PART_ID", "PART_ID"),
    comment="How the statistics of each column were made, by whom and when: a JSON object of the columns",
    **ROOM,
)
HMSTATS_TOP_K = Table(
    "HMSTATS_TOP_K",
    METADATA,
    *_described(),
    Column("ITEMS", LargeBinary, nullable=False),
    Index("HMSTATS_TOP_K_PART_ID", "PART_ID"),
    comment="The frequent values of each column, as sketches",
    **ROOM,
)
HMSTATS_PARTIAL_STATE = Table(
    "HMSTATS_PARTIAL_STATE",
    METADATA,
    key("RUN_ID", 128),
    key("TASK"),
    key("ATTEMPT"),
    key("NUMBER"),
    text("PIECE", required=True),
    Column("STATE", LargeBinary, nullable=False),
    big("WRITTEN_AT", required=True),
    comment="What tasks of running writes have found so far, by run",
)
HMSTATS_FILE_CHANGE = Table(
    "HMSTATS_FILE_CHANGE",
    METADATA,
    key("ID"),
    big("OWNER", required=True),
    text("KIND", 16, required=True),
    text("SUBJECT", required=True),
    text("PLACES", required=True),
    text("DETAILS", required=True),
    big("STARTED_AT", required=True),
    comment="Changes of directories that are under way: what a server that was killed leaves to the others",
)
HMSTATS_API_TOKEN = Table(
    "HMSTATS_API_TOKEN",
    METADATA,
    key("HASH", 64),
    text("NAME", 128, required=True),
    text("USER_NAME", 256, required=True),
    text("USER_GROUPS", required=True),
    big("CREATED_AT", required=True),
    big("EXPIRES_AT"),
    UniqueConstraint("NAME", name="HMSTATS_API_TOKEN_NAME_key"),
    comment="Tokens by which clients prove who they are; HASH is the SHA-256 of the text that a client sends",
)
HMSTATS_DELEGATION_TOKEN = Table(
    "HMSTATS_DELEGATION_TOKEN",
    METADATA,
    key("NUMBER"),
    text("SECRET", 64, required=True),
    text("OWNER_NAME", 256, required=True),
    text("RENEWER", 256, required=True),
    text("REAL_USER", 256, required=True),
    big("ISSUED_AT", required=True),
    big("ENDS_AT", required=True),
    big("EXPIRES_AT", required=True),
    Index("HMSTATS_DELEGATION_TOKEN_EXPIRES_AT", "EXPIRES_AT"),
    comment="Tokens that stand for a proof by Kerberos; REAL_USER is empty if the owner asked, times are epoch ms",
)


def _recorded() -> Sequence[Column[Any]]:
    """The key columns of an audit record: its time in epoch ms, its process, its number there."""
    return (key("AT"), key("WRITER"), key("NUMBER"))


HMSTATS_AUDIT = Table(
    "HMSTATS_AUDIT",
    METADATA,
    *_recorded(),
    big("WORKER"),
    big("CONNECTION_ID", required=True),
    text("ADDRESS", 128, required=True),
    text("PRINCIPAL", 256),
    text("MECHANISM", 64),
    text("USER_NAME", 256),
    text("CALL_NAME", 128),
    text("OBJECTS", required=True),
    Column("ALLOWED", Boolean, nullable=False),
    big("RULE_NUMBER"),
    text("OUTCOME", 128, required=True),
    text("VIA", 256),
    comment="Calls that were recorded: AT in epoch milliseconds, OBJECTS a JSON list",
)
HMSTATS_AUDIT_OBJECT = Table(
    "HMSTATS_AUDIT_OBJECT",
    METADATA,
    key("CAT_NAME", 256),
    key("DB_NAME", 256),
    key("TBL_NAME", 256),
    *_recorded(),
    Index("HMSTATS_AUDIT_OBJECT_AT", "AT"),
    comment="The objects that each audit record is about; a database has no TBL_NAME, a catalog no DB_NAME",
)
HMSTATS_STATISTICS_LOCK = Table(
    "HMSTATS_STATISTICS_LOCK",
    METADATA,
    key("TBL_ID"),
    key("DB_ID"),
    key("PART_ID"),
    key("COLUMN_NAME", 767),
    Column("REFUSE", Boolean, nullable=False),
    text("REASON"),
    text("LOCKED_BY", 256),
    big("LOCKED_AT", required=True),
    big("DROPPED", required=True),
    Index("HMSTATS_STATISTICS_LOCK_PART_ID", "PART_ID"),
    comment="Locked statistics: of a database TBL_ID is 0, of a table DB_ID; PART_ID 0 and no COLUMN_NAME: all",
)
HMSTATS_PREFERENCE = Table(
    "HMSTATS_PREFERENCE",
    METADATA,
    key("TBL_ID"),
    key("DB_ID"),
    key("PART_ID"),
    key("COLUMN_NAME", 767),
    key("NAME", 64),
    text("VALUE", required=True),
    text("SET_BY", 256),
    big("SET_AT", required=True),
    Index("HMSTATS_PREFERENCE_PART_ID", "PART_ID"),
    comment="How statistics are made: of everything DB_ID and TBL_ID are 0, of a database TBL_ID",
)


def _index_of_blocks(name: str, content: str) -> Table:
    """A table of columns that have blocks of such content, which have a table of their own."""
    return Table(
        name,
        METADATA,
        key("TBL_ID"),
        key("COLUMN_NAME", 767),
        text("ENGINE", 128, required=True),
        big("BUILD", required=True),
        big("VERSION", required=True),
        comment=f"Columns whose partitions' {content} are in blocks, of this engine, as of this version of the table",
    )


HMSTATS_NUMBER_INDEX = _index_of_blocks("HMSTATS_NUMBER_INDEX", "numbers")
HMSTATS_NUMBER_BLOCK = Table(
    "HMSTATS_NUMBER_BLOCK",
    METADATA,
    key("TBL_ID"),
    key("BUILD"),
    key("LOW_ID"),
    Column("MEMBERS", LargeBinary, nullable=False),
    Column("NUMBERS", LargeBinary, nullable=False),
    comment="The numbers of neighbouring partitions' statistics of a column, from which any of them are summed up",
)
HMSTATS_VECTOR_INDEX = _index_of_blocks("HMSTATS_VECTOR_INDEX", "bit vectors")
HMSTATS_VECTOR_BLOCK = Table(
    "HMSTATS_VECTOR_BLOCK",
    METADATA,
    key("TBL_ID"),
    key("BUILD"),
    key("LOW_ID"),
    Column("MEMBERS", LargeBinary, nullable=False),
    Column("MERGED", LargeBinary, nullable=False),
    Column("LISTED", LargeBinary, nullable=False),
    comment="Bit vectors of neighbouring partitions, merged, and listed so that any of them can be merged",
)
