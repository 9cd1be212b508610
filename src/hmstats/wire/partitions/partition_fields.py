"""Partitions with only the fields that a request names, such as `values` or `sd.location`, and some parameters only."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hmstats.errors import MetaError
from hmstats.model.catalog.wildcards import compile_sql_like
from hmstats.model.partitions.partitions_by_name import PartitionsByName
from hmstats.wire.idl import hive_metastore

Fields = Mapping[str, Any]
"""Names of fields to the names of their inner fields; an empty mapping means the whole field."""


@dataclass(frozen=True, slots=True)
class PartitionFields:
    """The requested fields of partitions, all if there are none, and patterns for the keys of parameters.

    The patterns are those of SQL's LIKE.
    """

    wanted: Fields = field(default_factory=dict)
    include: re.Pattern[str] | None = None
    exclude: re.Pattern[str] | None = None

    def includes(self, *path: str) -> bool:
        """Whether a field is requested, or a field inside of it, or one around it."""
        inside: Fields = self.wanted
        for name in path:
            if not inside:
                return True
            if name not in inside:
                return False
            inside = inside[name]
        return True

    def parameters(self, given: Mapping[str, str]) -> dict[str, str] | None:
        """The requested parameters; None if the field is not requested."""
        if not self.includes("parameters"):
            return None
        return {key: value for key, value in given.items() if self._is_requested(key)}

    def storage(self, struct: Any) -> Any:
        """A StorageDescriptor struct with the requested fields, which may be none."""
        if not self.wanted:
            return struct
        return _project(struct, self.wanted["sd"]) if "sd" in self.wanted else type(struct)()

    def partition(self, struct: Any) -> Any:
        """A Partition struct with the requested fields."""
        struct.parameters = self.parameters(struct.parameters)
        return _project(struct, self.wanted)

    def _is_requested(self, key: str) -> bool:
        if self.include and not self.include.fullmatch(key):
            return False
        return not (self.exclude and self.exclude.fullmatch(key))


EVERY_FIELD = PartitionFields()


def fields_from_thrift(specification: Any) -> PartitionFields:
    """The fields that a GetProjectionsSpec struct names. Raises MetaError for one that partitions do not have."""
    if specification is None:
        return EVERY_FIELD
    wanted: dict[str, Any] = {}
    # The longest path first: a whole field replaces its inner fields.
    for path in sorted(specification.fieldList or (), key=len, reverse=True):
        _check(hive_metastore.Partition, path.split("."), path)
        _add_path(wanted, path.split("."))
    return PartitionFields(
        wanted, _pattern(specification.includeParamKeyPattern), _pattern(specification.excludeParamKeyPattern)
    )


def as_requested(partitions: PartitionsByName, request: Any) -> PartitionsByName:
    """The partitions without their columns, and with the parameters of some keys, if the request says so."""
    columns = partitions.columns
    if request.skipColumnSchemaForPartition:
        bare = {id(each): replace(each, columns=()) for each in columns.formats if each is not None}
        columns = replace(columns, formats=[bare.get(id(each)) for each in columns.formats])
    if request.includeParamKeyPattern or request.excludeParamKeyPattern:
        patterns = _pattern(request.includeParamKeyPattern), _pattern(request.excludeParamKeyPattern)
        chosen = PartitionFields({}, *patterns)
        columns = replace(columns, parameters=[chosen.parameters(each) or {} for each in columns.parameters])
    return partitions if columns is partitions.columns else PartitionsByName(columns)


def _check(struct_class: Any, names: list[str], path: str) -> None:
    for name in names:
        inside = {spec[1]: spec[2] for spec in getattr(struct_class, "thrift_spec", {}).values()}
        if name not in inside:
            raise MetaError(f"Invalid field name {path}: a partition has no such field")
        struct_class = inside[name][1] if isinstance(inside[name], tuple) else inside[name]


def _add_path(wanted: dict[str, Any], names: list[str]) -> None:
    first, *rest = names
    if rest:
        _add_path(wanted.setdefault(first, {}), rest)
    else:
        wanted[first] = {}


def _pattern(text: str | None) -> re.Pattern[str] | None:
    if not text:
        return None
    return compile_sql_like(text)


def _project(value: Any, wanted: Fields) -> Any:
    """A struct, or each struct of a list, with the requested fields only."""
    if not wanted or value is None:
        return value
    if isinstance(value, list):
        return [_project(each, wanted) for each in value]
    return type(value)(**{name: _project(getattr(value, name), inside) for name, inside in wanted.items()})
