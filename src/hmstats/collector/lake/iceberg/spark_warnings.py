"""Warns about registered distinct counts that make Spark's cost-based optimizer plan wrongly, or fail.

Spark takes a count without bounds for proof that a number or a time has no value, and looks in vain for a column that
was dropped. Seen in Spark 4.1 with Iceberg 1.12, and described in docs/collect/lakehouse.md.
"""

from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.reader import read_table_metadata
from hmstats.collector.lake.opened import Hadoop, no_settings
from hmstats.model.catalog.objects import Table
from hmstats.outlets.puffin.snapshot import ndvs

_SAFE = ("string", "binary", "uuid", "fixed")
"""The beginnings of the names of types that have no bounds in Spark."""
_SETTING = "Spark with spark.sql.cbo.enabled=true"


def spark_warnings(table: Table, hadoop: Hadoop = no_settings) -> list[str]:
    """A sentence for each problem with the entry of the current snapshot, or of its nearest ancestor that has one.

    Raises StatementError if the table's metadata cannot be read; SettingsError if PyIceberg is not installed.
    """
    shown = table.name.short
    metadata = read_table_metadata(table, hadoop)
    current = metadata_of.current_snapshot_id(metadata)
    entry = None if current is None else metadata_of.nearest_entry(metadata, current)
    if entry is None:
        return []
    counted = ndvs(entry).keys()
    fields = {int(each["id"]): each for each in metadata_of.schema(metadata).get("fields") or ()}
    found = []
    unsafe = [str(each["name"]) for number, each in fields.items() if number in counted and not _is_safe(each["type"])]
    if unsafe:
        found.append(
            f"table {shown}: {_SETTING} plans = as 0 rows on {', '.join(unsafe)}, whose distinct counts are in a "
            f"Puffin file; hmstats analyze {shown} --puffin-columns text takes its own out"
        )
    if counted - metadata_of.live_fields(metadata):
        found.append(
            f"table {shown}: {_SETTING} fails in planning joins, since a Puffin file counts a dropped column; "
            f"hmstats analyze {shown} takes it out"
        )
    return found


def _is_safe(type_: object) -> bool:
    """Whether a type has no bounds in Spark; nested types are never counted."""
    return not isinstance(type_, str) or type_.startswith(_SAFE)
