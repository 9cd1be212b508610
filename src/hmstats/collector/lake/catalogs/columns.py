"""Converts an Iceberg schema to columns with Hive types, as Iceberg's own HiveSchemaUtil registers them."""

from typing import Any

from hmstats.model.catalog.objects import Column

_TYPES = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "date": "date",
    "time": "string",
    "timestamp": "timestamp",
    "timestamptz": "timestamp with local time zone",
    "timestamp_ns": "timestamp",
    "timestamptz_ns": "timestamp with local time zone",
    "string": "string",
    "uuid": "string",
    "fixed": "binary",
    "binary": "binary",
}


def hive_columns(schema: Any) -> tuple[Column, ...]:
    """The columns of PyIceberg's schema; a type without a counterpart in Hive keeps its name, and has no statistics."""
    return tuple(Column(field.name, _hive_type(str(field.field_type))) for field in schema.fields)


def _hive_type(type_: str) -> str:
    if type_.startswith("decimal("):
        return type_.replace(" ", "")
    return _TYPES.get(type_.partition("[")[0], type_)
