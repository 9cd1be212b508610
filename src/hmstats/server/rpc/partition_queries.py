"""Calls that find partitions by expressions and specifications, or their values alone."""

from typing import Any

from hmstats.errors import MetaError, NoSuchObject
from hmstats.model.catalog import TableName
from hmstats.server.rpc import subject
from hmstats.server.session import Session
from hmstats.service.catalog.expressions import Expressions
from hmstats.service.catalog.partitions import ALL, Found, KeyValues, Partitions
from hmstats.wire.catalog import partition_to_thrift
from hmstats.wire.idl import hive_metastore
from hmstats.wire.partition_fields import fields_from_thrift
from hmstats.wire.partition_specs import grouped_specs, list_spec

_GROUPING = "hive.hcatalog.partition.spec.grouping.enabled"
_BY_NAMES = hive_metastore.PartitionFilterMode.BY_NAMES
_BY_VALUES = hive_metastore.PartitionFilterMode.BY_VALUES
_BY_EXPRESSION = hive_metastore.PartitionFilterMode.BY_EXPR


class PartitionQueryCalls:
    """Partitions by expression, as specifications, and the values of their keys."""

    def __init__(self, partitions: Partitions, expressions: Expressions) -> None:
        self._partitions = partitions
        self._expressions = expressions

    def get_partitions_by_expr(self, session: Session, req: Any) -> Any:
        """The partitions that a filter wants which comes as plain text; serialised Java objects are refused."""
        found = self._find(req)
        structs = [partition_to_thrift(found.table.name, each) for each in found.partitions.values()]
        return hive_metastore.PartitionsByExprResult(partitions=structs, hasUnknownPartitions=False)

    def get_partitions_spec_by_expr(self, session: Session, req: Any) -> Any:
        """The same as specifications."""
        specs = _specs(self._find(req))
        return hive_metastore.PartitionsSpecByExprResult(partitionsSpec=specs, hasUnknownPartitions=False)

    def _find(self, req: Any) -> Found:
        name = subject.table(req.dbName, req.tblName, req.catName)
        return self._expressions.find(name, req.expr, _limit(req.maxParts))

    def get_partition_names_req(self, session: Session, req: Any) -> list[str]:
        """The names of the partitions that a filter wants which comes as plain text, of all without one; sorted."""
        name = subject.table(req.dbName, req.tblName, req.catName)
        return self._expressions.names(name, req.expr, _limit(req.maxParts))

    def get_partitions_pspec(self, session: Session, db_name: str, tbl_name: str, max_parts: int) -> list[Any]:
        """Every partition, or the first `max_parts`, in one specification."""
        return _specs(self._partitions.all(subject.table(db_name, tbl_name), max_parts))

    def get_part_specs_by_filter(
        self, session: Session, db_name: str, tbl_name: str, filter: str | None, max_parts: int
    ) -> list[Any]:
        """The partitions that a filter wants, in one specification."""
        return _specs(self._partitions.filtered(subject.table(db_name, tbl_name), filter or "", max_parts))

    def get_partitions_with_specs(self, session: Session, request: Any) -> Any:
        """The partitions of these names, values or filters, all without any, grouped by storage; the fields asked."""
        name = subject.table(request.dbName, request.tblName, request.catName)
        fields = fields_from_thrift(request.projectionSpec)
        found = self._by_specification(name, request.filterSpec)
        specs = grouped_specs(found.table, found.partitions.values(), fields)
        return hive_metastore.GetPartitionsResponse(partitionSpec=specs)

    def _by_specification(self, name: TableName, specification: Any) -> Found:
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
        """The values that some partition keys have together, of the partitions that a filter wants; sorted."""
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
        """Yes: what a path cannot hold is escaped, so every value can be in a name."""
        return True


def _specs(found: Found) -> list[Any]:
    if str(found.table.parameters.get(_GROUPING)).lower() == "true":
        return grouped_specs(found.table, found.partitions.values())
    return [list_spec(found.table, found.partitions.values())]


def _limit(given: int | None) -> int:
    return ALL if given is None else given
