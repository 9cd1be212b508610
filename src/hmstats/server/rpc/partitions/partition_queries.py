"""Calls that find partitions by expressions and specifications, or their values alone."""

from dataclasses import replace
from typing import Any

from hmstats.errors import MetaError, NoSuchObject, UnknownExpression
from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.catalog.objects import TableName
from hmstats.model.partitions.partitions_by_name import PartitionsByName
from hmstats.server.messages.struct_codec import Encoded
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.partitions.expressions import ConditionQuery, ConditionResult, Expressions
from hmstats.service.catalog.partitions.partitions import ALL, KeyValues, Partitions, TablePartitions
from hmstats.service.catalog.tables.tables import Tables
from hmstats.wire.conditions.partition_expressions import condition_from_bytes
from hmstats.wire.idl import hive_metastore
from hmstats.wire.partitions import partition_bytes
from hmstats.wire.partitions.partition_fields import as_requested, fields_from_thrift
from hmstats.wire.partitions.partition_specs import grouped_specs, list_spec

_GROUPING = "hive.hcatalog.partition.spec.grouping.enabled"
_BY_NAMES = hive_metastore.PartitionFilterMode.BY_NAMES
_BY_VALUES = hive_metastore.PartitionFilterMode.BY_VALUES
_BY_EXPRESSION = hive_metastore.PartitionFilterMode.BY_EXPR


class PartitionQueryCalls:
    """Partitions by expression, as specifications, and the values of their keys."""

    def __init__(self, partitions: Partitions, expressions: Expressions, tables: Tables) -> None:
        self._partitions = partitions
        self._tables = tables
        self._expressions = expressions

    def get_partitions_by_expr(self, session: Session, req: Any) -> Encoded:
        """The partitions that match a condition: Hive's serialised expression, or a filter as plain text."""
        found = self._find(req)
        columns = found.partitions.columns
        return Encoded(partition_bytes.found_result(found.table.name, columns, unknown=found.unknown))

    def get_partitions_spec_by_expr(self, session: Session, req: Any) -> Any:
        """The partitions that match a condition, as specifications."""
        found = self._find(req)
        specs = self._specs(found.table.name, found.partitions)
        return hive_metastore.PartitionsSpecByExprResult(partitionsSpec=specs, hasUnknownPartitions=found.unknown)

    def _find(self, req: Any) -> ConditionResult:
        found = self._expressions.find(subject.table(req.dbName, req.tblName, req.catName), _question(req))
        return replace(found, partitions=as_requested(found.partitions, req))

    def get_partition_names_req(self, session: Session, req: Any) -> list[str]:
        """The names of the partitions that match a condition, of all without one; sorted, or in the requested order."""
        try:
            return self._expressions.names(subject.table(req.dbName, req.tblName, req.catName), _question(req))
        except UnknownExpression as error:  # Hive has no second way to names
            raise MetaError(str(error)) from error

    def get_partitions_pspec(self, session: Session, db_name: str, tbl_name: str, max_parts: int) -> list[Any]:
        """Every partition, or the first `max_parts`, in one specification."""
        name = subject.table(db_name, tbl_name)
        return self._specs(name, self._partitions.all(name, max_parts).partitions)

    def get_part_specs_by_filter(
        self, session: Session, db_name: str, tbl_name: str, filter: str | None, max_parts: int
    ) -> list[Any]:
        """The partitions that match a filter, in one specification."""
        name = subject.table(db_name, tbl_name)
        return self._specs(name, self._partitions.filtered(name, filter or "", max_parts).partitions)

    def _specs(self, name: TableName, found: PartitionsByName) -> list[Any]:
        table = self._tables.get(name)
        if str(table.parameters.get(_GROUPING)).lower() == "true":
            return grouped_specs(table, found.values())
        return [list_spec(table, found.values())]

    def get_partitions_with_specs(self, session: Session, request: Any) -> Any:
        """The partitions with these names, values or filters (default: all) by storage; requested fields only."""
        name = subject.table(request.dbName, request.tblName, request.catName)
        fields = fields_from_thrift(request.projectionSpec)
        found = self._by_specification(name, request.filterSpec)
        specs = grouped_specs(self._tables.get(name), found.partitions.values(), fields)
        return hive_metastore.GetPartitionsResponse(partitionSpec=specs)

    def _by_specification(self, name: TableName, specification: Any) -> TablePartitions:
        mode = None if specification is None else specification.filterMode
        filters = (specification.filters or []) if specification else []
        if mode is None:
            return self._partitions.all(name)
        if mode == _BY_NAMES:
            return self._partitions.by_names(name, filters)
        if mode == _BY_VALUES:
            return self._partitions.matching(name, filters)
        if mode == _BY_EXPRESSION:
            return self._partitions.filtered(name, " and ".join(f"({each})" for each in filters))
        raise MetaError(f"Unsupported filter mode {mode}")

    def get_partition_values(self, session: Session, request: Any) -> Any:
        """The combinations of values of some partition keys in the partitions that match a filter; sorted."""
        name = subject.table(request.dbName, request.tblName, request.catName)
        wanted = KeyValues(
            [subject.column(key.name) for key in request.partitionKeys or []],
            request.filter or "",
            distinct=request.applyDistinct is not False,
            ascending=request.ascending is not False,
            limit=_limit(request.maxParts),
        )
        try:
            rows = self._partitions.key_values(name, wanted)
        except NoSuchObject as error:
            raise MetaError(str(error)) from error
        structs = [hive_metastore.PartitionValuesRow(row=list(row)) for row in rows]
        return hive_metastore.PartitionValuesResponse(partitionValues=structs)

    def partition_name_has_valid_characters(
        self, session: Session, part_vals: list[str] | None, throw_exception: bool
    ) -> bool:
        """Always true: characters that a path cannot hold are escaped, so every value can be in a name."""
        return True


def _question(req: Any) -> ConditionQuery:
    null_value = req.defaultPartitionName or NULL_PARTITION_VALUE
    return ConditionQuery(condition_from_bytes(req.expr), _limit(req.maxParts), null_value, req.order)


def _limit(given: int | None) -> int:
    return ALL if given is None else given
