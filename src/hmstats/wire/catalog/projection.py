"""Tables with only the fields that a request names, such as `tableName` or `sd.location`."""

from collections.abc import Sequence
from typing import Any

from hmstats.errors import MetaError
from hmstats.wire.idl import hive_metastore

_ALWAYS = ("createTime", "lastAccessTime", "retention")
"""Numbers that Hive's clients read even if they did not request them."""


def project(table: Any, specification: Any) -> Any:
    """The Table struct with the fields of a GetProjectionsSpec; a field of many values brings the whole table.

    Raises MetaError for a field that tables do not have, and for a pattern of parameters without fields.
    """
    fields = (specification.fieldList or []) if specification else []
    if not fields:
        if specification and (specification.includeParamKeyPattern or specification.excludeParamKeyPattern):
            raise MetaError("a pattern of parameters needs a list of fields, found none")
        return table
    values = {field: _value(table, field.split("."), field) for field in fields}
    if any(isinstance(value, list | dict) for value in values.values()):
        return table
    result = hive_metastore.Table(**{name: getattr(table, name) for name in _ALWAYS})
    for field, value in values.items():
        _set_field(result, table, field.split("."), value)
    return result


def _value(struct: Any, path: Sequence[str], field: str) -> Any:
    name, *rest = path
    if struct is not None and not hasattr(struct, name):
        raise MetaError(f"a table has no field {field}")
    value = getattr(struct, name, None)
    return _value(value, rest, field) if rest and not isinstance(value, list) else value


def _set_field(target: Any, source: Any, path: Sequence[str], value: Any) -> None:
    name, *rest = path
    if not rest:
        setattr(target, name, value)
        return
    inner = getattr(source, name)
    if inner is None:
        return
    if getattr(target, name) is None:
        setattr(target, name, type(inner)())
    _set_field(getattr(target, name), inner, rest, value)
