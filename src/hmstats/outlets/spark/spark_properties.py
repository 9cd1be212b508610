"""The table parameters in which Spark keeps its statistics, `spark.sql.statistics.*`, and their values.

Spark finds columns by their `version` key, and fails to load a table that has some of these keys but no `totalSize`. A
histogram of more than 4000 characters is cut into parts; one that is whole is read at any length.
"""

from hmstats.errors import SketchError
from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.row_counts import row_count
from hmstats.model.spark.spark_schema import joined_parameter, schema_fields
from hmstats.model.spark.spark_statistics import EquiHeightHistogram, SparkColumn, SparkStatistics
from hmstats.outlets.spark import spark_histogram

PREFIX = "spark.sql.statistics."
TOTAL_SIZE, NUM_ROWS = PREFIX + "totalSize", PREFIX + "numRows"
_OF_COLUMNS = PREFIX + "colStats."
_VERSION, _HISTOGRAM = "version", "histogram"
_LOW, _HIGH = "min", "max"
_NUMBERS = {
    "distinct": "distinctCount",
    "nulls": "nullCount",
    "average_length": "avgLen",
    "max_length": "maxLen",
}
_FIELDS = frozenset({_VERSION, _HISTOGRAM, _LOW, _HIGH, *_NUMBERS.values()})


def spark_parameters(parameters: Parameters) -> dict[str, str]:
    """The parameters that hold Spark's statistics of the table and of its columns."""
    return {key: value for key, value in parameters.items() if key.startswith(PREFIX)}


def of_column(parameters: Parameters, column: str) -> dict[str, str]:
    """The parameters that hold Spark's statistics of one column."""
    start = f"{_OF_COLUMNS}{column}."
    return {key: value for key, value in parameters.items() if key.startswith(start) and _is_field(key[len(start) :])}


def read(parameters: Parameters) -> SparkStatistics:
    """Parse the parameters; an invalid number or histogram becomes unknown."""
    ends = f".{_VERSION}"
    names = [
        key[len(_OF_COLUMNS) : -len(ends)]
        for key in parameters
        if key.startswith(_OF_COLUMNS) and key.endswith(ends) and len(key) > len(_OF_COLUMNS) + len(ends)
    ]
    return SparkStatistics(
        size_bytes=row_count(parameters.get(TOTAL_SIZE)),
        rows=row_count(parameters.get(NUM_ROWS)),
        columns={name: _column(parameters, f"{_OF_COLUMNS}{name}.") for name in sorted(names)},
    )


def write(statistics: SparkStatistics) -> dict[str, str]:
    """The parameters for these statistics; none without a size, since Spark then reads none."""
    if statistics.size_bytes is None:
        return {}
    rows = {} if statistics.rows is None else {NUM_ROWS: str(statistics.rows)}
    found = {TOTAL_SIZE: str(statistics.size_bytes), **rows}
    for name, column in statistics.columns.items():
        found |= write_column(name, column)
    return found


def write_column(name: str, column: SparkColumn) -> dict[str, str]:
    """The parameters of one column."""
    values: dict[str, str | int | None] = {
        _VERSION: column.version,
        _LOW: column.low,
        _HIGH: column.high,
        _HISTOGRAM: None if column.histogram is None else spark_histogram.to_text(column.histogram),
        **{key: getattr(column, field) for field, key in _NUMBERS.items()},
    }
    return {f"{_OF_COLUMNS}{name}.{key}": str(value) for key, value in values.items() if value is not None}


def column_names(parameters: Parameters) -> dict[str, str]:
    """Lower-case name to name, of the columns of a table that Spark made: Spark looks statistics up by case."""
    return {field["name"].lower(): field["name"] for field in schema_fields(parameters)}


def _is_field(key: str) -> bool:
    return key in _FIELDS or key.startswith((f"{_HISTOGRAM}.part.", f"{_HISTOGRAM}.numParts"))


def _column(parameters: Parameters, start: str) -> SparkColumn:
    numbers = {field: row_count(parameters.get(start + key)) for field, key in _NUMBERS.items()}
    return SparkColumn(
        version=row_count(parameters.get(start + _VERSION)) or 1,
        low=parameters.get(start + _LOW),
        high=parameters.get(start + _HIGH),
        histogram=_histogram(joined_parameter(parameters, start + _HISTOGRAM)),
        **numbers,
    )


def _histogram(text: str | None) -> EquiHeightHistogram | None:
    try:
        return None if text is None else spark_histogram.from_text(text)
    except SketchError:
        return None
