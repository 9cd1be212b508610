"""The columns of a table that Spark stores in a form that Hive cannot read.

For such a table, one of CSV or JSON files or with a type that Hive lacks, the metastore's columns are a stub,
`col array<string>`. Spark writes the schema into the table's parameters: the JSON of a StructType, as a whole or in
parts, with the partition keys among its fields (org.apache.spark.sql.hive.HiveExternalCatalog,
org.apache.spark.sql.types.DataType.fromJson). Everyone else reads those columns here.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hmstats.model.catalog.objects import Column, Parameters, Table
from hmstats.model.parameters.row_counts import row_count

PROVIDER = "spark.sql.sources.provider"
"""The parameter by which Spark knows tables of its own; of Hive's tables it is `hive` or unset, of views unset."""
_PARTITION_PROVIDER = "spark.sql.partitionProvider"
SCHEMA = "spark.sql.sources.schema"
LOG_SCHEMA = "spark.sql.sources.hmstats.schema"
"""The parameter in which an analysis keeps the schema of a table that has its true one in a log of its own, as Delta
Lake's; there Spark's is empty or of the time when the table was registered. Partition columns are ordinary ones in it.
"""
STUB_NAME, STUB_TYPE = "col", "array<string>"
_PARTITION_KEYS = f"{SCHEMA}.numPartCols"
_MOST_PARTS = 10_000
_SIZED = "__CHAR_VARCHAR_TYPE_STRING"
"""Spark's name for the declared type of a char or a varchar, in the metadata of a field of strings."""
_EXISTS_DEFAULT = "EXISTS_DEFAULT"
_PLAIN = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "null": "void"}
"""Spark's names of types that are not Hive's."""


def finds_partitions_in_folder(table: Table) -> bool:
    """Whether Spark takes a table's partitions from its folder, and asks the metastore for none.

    It does so for a table of its own unless the parameter says `catalog`, which Spark sets when it creates or repairs
    a table, but not with `spark.sql.hive.manageFilesourcePartitions=false`, and which other engines may not know
    (org.apache.spark.sql.hive.HiveExternalCatalog).
    """
    provider = table.parameters.get(PROVIDER, "hive").lower()
    stored = table.parameters.get(_PARTITION_PROVIDER, "").lower() == "catalog"
    return bool(table.partition_keys) and provider != "hive" and not stored


def data_columns(table: Table) -> tuple[Column, ...]:
    """The data columns of a table, without the partition keys, as the engine that created it reads them."""
    return spark_columns(table.columns, table.parameters)


def spark_columns(stored: Sequence[Column], parameters: Parameters) -> tuple[Column, ...]:
    """The columns of Spark's schema, with names in lower case, if the stored columns are the stub; else the stored
    ones.

    A schema that is absent, or cannot be read, leaves the stored columns as they are.
    """
    if not is_stub(stored) or parameters.get(PROVIDER, "").lower() == "hive":
        return tuple(stored)
    keys = _partition_keys(parameters)
    try:
        found = [_column(field) for field in schema_fields(parameters)]
    except (TypeError, AttributeError, RecursionError):  # a type that is none of Spark's
        return tuple(stored)
    return tuple(each for each in found if each.name not in keys) or tuple(stored)


def with_defaults(parameters: Parameters) -> bool:
    """Whether a column has a default that Spark reads where a file, older than the column, holds no value of it."""
    return any(_EXISTS_DEFAULT in _metadata(field) for field in schema_fields(parameters))


def is_stub(columns: Sequence[Column]) -> bool:
    """Whether these are the columns that Spark writes where Hive could not read the true ones."""
    return len(columns) == 1 and (columns[0].name, columns[0].type) == (STUB_NAME, STUB_TYPE)


def schema_fields(parameters: Parameters) -> list[Mapping[str, Any]]:
    """The fields of Spark's schema, partition keys too, as its JSON has them; none where it cannot be read."""
    text = parameters.get(LOG_SCHEMA) or joined_parameter(parameters, SCHEMA)
    try:
        fields = json.loads(text)["fields"] if text else []
        return [{**each, "name": str(each["name"]), "type": each["type"]} for each in fields]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


def joined_parameter(parameters: Mapping[str, str], key: str) -> str | None:
    """A parameter that Spark may have cut into parts; None when it is absent, or not all of it is there."""
    if key in parameters:
        return parameters[key]
    count = row_count(parameters.get(f"{key}.numParts"))
    if count is None or count > _MOST_PARTS:
        return None
    parts = [parameters.get(f"{key}.part.{place}") for place in range(count)]
    return None if None in parts else "".join(part or "" for part in parts)


def hive_type(spark_type: Any) -> str:
    """The type text of a type in Spark's JSON; a type that Hive lacks has Spark's own name, such as `variant`."""
    if isinstance(spark_type, str):
        return _PLAIN.get(spark_type, spark_type)
    kind = spark_type.get("type") if isinstance(spark_type, Mapping) else None
    if kind == "array":
        return f"array<{hive_type(spark_type.get('elementType'))}>"
    if kind == "map":
        return f"map<{hive_type(spark_type.get('keyType'))},{hive_type(spark_type.get('valueType'))}>"
    if kind == "struct":
        return f"struct<{','.join(map(_field_text, spark_type.get('fields', ())))}>"
    if kind == "udt":
        return hive_type(spark_type.get("sqlType"))
    return "void"


def _field_text(field: Mapping[str, Any]) -> str:
    return f"{field.get('name')}:{_declared_type(field)}"


def _column(field: Mapping[str, Any]) -> Column:
    return Column(field["name"].lower(), _declared_type(field), _metadata(field).get("comment"))


def _declared_type(field: Mapping[str, Any]) -> str:
    return str(_metadata(field).get(_SIZED) or hive_type(field.get("type")))


def _metadata(field: Mapping[str, Any]) -> Mapping[str, Any]:
    found = field.get("metadata")
    return found if isinstance(found, Mapping) else {}


def _partition_keys(parameters: Parameters) -> set[str]:
    if LOG_SCHEMA in parameters:
        return set()
    count = min(row_count(parameters.get(_PARTITION_KEYS)) or 0, _MOST_PARTS)
    return {parameters.get(f"{SCHEMA}.partCol.{place}", "").lower() for place in range(count)}
