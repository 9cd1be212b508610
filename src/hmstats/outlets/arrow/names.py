"""Names of statistics in Arrow's form: `NAMESPACE:name:exact` or `NAMESPACE:name:approximate`.

Those of Arrow are all that its statistics schema defines. Ours that are numbers about the data have a variant too;
ours that say what something is, or how it was made, have none.
"""

import pyarrow as pa

AVERAGE_BYTE_WIDTH = "ARROW:average_byte_width"
DISTINCT_COUNT = "ARROW:distinct_count"
MAX_BYTE_WIDTH = "ARROW:max_byte_width"
MAX_VALUE = "ARROW:max_value"
MIN_VALUE = "ARROW:min_value"
NULL_COUNT = "ARROW:null_count"
ROW_COUNT = "ARROW:row_count"

TRUE_COUNT = "HMSTATS:true_count"
FALSE_COUNT = "HMSTATS:false_count"
BIT_VECTOR = "HMSTATS:bit_vector"
KLL_SKETCH = "HMSTATS:kll_sketch"
FREQUENT_ITEMS = "HMSTATS:frequent_items_sketch"
SKETCHES = (BIT_VECTOR, KLL_SKETCH, FREQUENT_ITEMS)

CATALOG = "HMSTATS:catalog"
DATABASE = "HMSTATS:database"
TABLE = "HMSTATS:table"
PARTITION = "HMSTATS:partition"
ENGINE = "HMSTATS:engine"
ANALYZED = "HMSTATS:last_analyzed"
COLUMN_NAME = "HMSTATS:column_name"
COLUMN_TYPE = "HMSTATS:column_type"

SECONDS = pa.timestamp("s", "UTC")

PROVENANCE: dict[str, tuple[str, pa.DataType]] = {
    "exact": ("HMSTATS:all_exact", pa.bool_()),
    "ndv_standard_error": ("HMSTATS:distinct_count_standard_error", pa.float64()),
    "rows_seen": ("HMSTATS:rows_seen", pa.int64()),
    "sample_fraction": ("HMSTATS:sample_fraction", pa.float64()),
    "writer": ("HMSTATS:writer", pa.string()),
    "tool": ("HMSTATS:tool", pa.string()),
    "written_at_seconds": ("HMSTATS:written_at", SECONDS),
}
"""Field of the model's Provenance to name and type."""

_EXACT, _APPROXIMATE = ":exact", ":approximate"


def variant(name: str, *, exact: bool) -> str:
    """The name of the exact or the approximate form."""
    return name + (_EXACT if exact else _APPROXIMATE)


def split(name: str) -> tuple[str, bool | None]:
    """The name without its variant, and whether that was exact; None when it has none."""
    for ending in (_EXACT, _APPROXIMATE):
        if name.endswith(ending):
            return name.removesuffix(ending), ending == _EXACT
    return name, None
