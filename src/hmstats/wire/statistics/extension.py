"""The structs of hmstats.thrift <-> model, both directions side by side."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.answers import ColumnProvenance, DistinctCount, MergedColumn, Quantiles
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, ColumnStatistics, Kind, StatisticsSet
from hmstats.model.statistics.frequent_values import FrequentValue, FrequentValues
from hmstats.model.statistics.provenance import Provenance
from hmstats.wire.idl import extension
from hmstats.wire.statistics.column_statistics import set_from_thrift, set_to_thrift

_MAX_I64 = 2**63 - 1
_PROVENANCE = {
    "exact": "exact",
    "ndv_standard_error": "ndvStandardError",
    "rows_seen": "rowsSeen",
    "sample_fraction": "sampleFraction",
    "writer": "writer",
    "tool": "tool",
    "written_at_seconds": "writtenAt",
}
"""Field of the model to field of the struct."""

NamedStatistics = tuple[TableName, StatisticsSet]


def distinct_count_to_thrift(answer: DistinctCount) -> Any:
    """The struct of a distinct count."""
    return extension.DistinctCountResult(
        count=answer.count, standardError=answer.standard_error, low=answer.low, high=answer.high, exact=answer.exact
    )


def distinct_count_from_thrift(struct: Any) -> DistinctCount:
    """The distinct count in a struct."""
    return DistinctCount(struct.count, struct.standardError, struct.low, struct.high, struct.exact)


def quantiles_to_thrift(answer: Quantiles) -> Any:
    """The struct of quantiles."""
    return extension.QuantilesResult(
        values=list(answer.values),
        lows=list(answer.low),
        highs=list(answer.high),
        rankError=answer.rank_error,
        numValues=answer.count,
        exact=answer.exact,
    )


def quantiles_from_thrift(struct: Any) -> Quantiles:
    """The quantiles in a struct."""
    parts = (tuple(struct.values), tuple(struct.lows), tuple(struct.highs))
    return Quantiles(*parts, struct.rankError, struct.numValues, struct.exact)


def frequent_values_to_thrift(kind: Kind, answer: FrequentValues) -> Any:
    """The struct of frequent values of a kind."""
    texts = frequent_values.items(kind, (each.value for each in answer.values))
    values = [
        extension.FrequentValue(value=text, low=each.low, high=each.high)
        for text, each in zip(texts, answer.values, strict=True)
    ]
    return extension.TopKResult(
        values=values, kind=kind.value, numValues=answer.count, unlisted=answer.unlisted, exact=answer.exact
    )


def frequent_values_from_thrift(struct: Any) -> FrequentValues:
    """The frequent values in a struct."""
    kind = Kind(struct.kind)
    values = (FrequentValue(frequent_values.value(kind, each.value), each.low, each.high) for each in struct.values)
    return FrequentValues(tuple(values), struct.numValues, struct.unlisted, struct.exact)


def merged_to_thrift(found: Sequence[MergedColumn], partitions: int) -> Any:
    """The struct of columns' statistics merged over all partitions."""
    structs = [
        extension.MergedColumn(
            colName=each.column,
            distinct=None if each.distinct is None else distinct_count_to_thrift(each.distinct),
            quantiles=None if each.quantiles is None else quantiles_to_thrift(each.quantiles),
            frequent=None if each.frequent is None else frequent_values_to_thrift(*each.frequent),
            writtenAt=each.written_at_seconds,
            stalePartitions=each.stale_partitions,
        )
        for each in found
    ]
    return extension.MergedStatisticsResult(columns=structs, numPartitions=partitions)


def merged_from_thrift(struct: Any) -> tuple[list[MergedColumn], int]:
    """The merged columns in a struct, and the number of partitions."""
    found = [
        MergedColumn(
            each.colName,
            None if each.quantiles is None else quantiles_from_thrift(each.quantiles),
            None if each.frequent is None else (Kind(each.frequent.kind), frequent_values_from_thrift(each.frequent)),
            None if each.distinct is None else distinct_count_from_thrift(each.distinct),
            each.writtenAt,
            each.stalePartitions or 0,
        )
        for each in struct.columns
    ]
    return found, struct.numPartitions


def provenance_to_thrift(provenance: Provenance) -> Any:
    """The struct of a provenance."""
    return extension.Provenance(**{name: getattr(provenance, field) for field, name in _PROVENANCE.items()})


def provenance_from_thrift(struct: Any) -> Provenance:
    """The provenance in a struct. Raises InvalidInput for numbers that make no sense."""
    read = Provenance(**{each.name: getattr(struct, _PROVENANCE[each.name]) for each in fields(Provenance)})
    _check("ndvStandardError", read.ndv_standard_error, math.inf)
    _check("sampleFraction", read.sample_fraction, 1)
    _check("rowsSeen", read.rows_seen, _MAX_I64)
    for name, text in (("writer", read.writer), ("tool", read.tool)):
        if text is not None and not isinstance(text, str):
            raise InvalidInput(f"{name} of a provenance must be a text, found bytes that are not UTF-8")
    return read


def column_provenance_to_thrift(found: ColumnProvenance) -> Any:
    """The ColumnDetails struct of where a column's statistics come from."""
    made = provenance_to_thrift(found.provenance)
    return extension.ColumnDetails(partName=found.partition, colName=found.column, engine=found.engine, provenance=made)


def column_provenance_from_thrift(struct: Any) -> ColumnProvenance:
    """The provenance of a column's statistics in a ColumnDetails struct that has one."""
    engine = struct.engine or DEFAULT_ENGINE
    return ColumnProvenance(struct.partName, struct.colName, engine, provenance_from_thrift(struct.provenance))


def details_to_thrift(statistics: StatisticsSet) -> list[Any]:
    """The ColumnDetails structs of a set: frequent values and provenance of its columns."""
    return [
        extension.ColumnDetails(
            partName=statistics.partition,
            colName=column.column,
            engine=statistics.engine,
            provenance=None if column.provenance is None else provenance_to_thrift(column.provenance),
            topK=column.top_k,
        )
        for column in statistics.columns
        if column.provenance is not None or column.top_k is not None
    ]


def sets_with_details_to_thrift(name: TableName, sets: Iterable[StatisticsSet], *, stamp: bool) -> tuple[Any, Any]:
    """The ColumnStatistics and the ColumnDetails structs of sets, with all sketches; `stamp`: when they were made."""
    found = list(sets)
    structs = [set_to_thrift(name, each, hive4=True, sketches=True, stamp=stamp) for each in found]
    return structs, [struct for each in found for struct in details_to_thrift(each)]


def sets_with_details_from_thrift(
    structs: Sequence[Any], details: Sequence[Any], engine: str | None
) -> list[NamedStatistics]:
    """Every set in the structs, with its details. `engine` is the default for structs without one.

    Raises InvalidInput for invalid values, and for details without their column's statistics.
    """
    found = [set_from_thrift(struct, engine) for struct in structs]
    by_column = {_key(each, engine): each for each in details}
    known = {(each.partition, column.column, each.engine) for _, each in found for column in each.columns}
    for key in by_column.keys() - known:
        raise InvalidInput(f"details of column {key[1]} must come with its statistics, found none")
    return [(name, _with_details(each, by_column)) for name, each in found]


def changes_to_thrift(name: TableName, changes: Mapping[str | None, ParameterChange]) -> Any:
    """The struct of changes of parameters, of partitions by name or of the table itself (None)."""
    structs = [
        extension.ParameterChange(partName=place, put=dict(change.put), remove=sorted(change.remove))
        for place, change in changes.items()
    ]
    return extension.ParameterChanges(dbName=name.database, tblName=name.table, catName=name.catalog, changes=structs)


def changes_from_thrift(struct: Any) -> tuple[TableName, dict[str | None, ParameterChange]]:
    """The table and the changes in a struct.

    Raises InvalidInput if there are none, or two for one partition or for the table.
    """
    if struct.dbName is None or struct.tblName is None:
        raise InvalidInput(
            f"changes of parameters must name their database and table, found {struct.dbName} and {struct.tblName}"
        )
    name = table_name(struct.dbName, struct.tblName, struct.catName)
    given = struct.changes or []
    found = {each.partName: ParameterChange(each.put or {}, frozenset(each.remove or ())) for each in given}
    if not found or len(found) < len(given):
        raise InvalidInput(f"changes of parameters of table {name} must be one for each place, found {len(given)}")
    return name, found


def _key(details: Any, engine: str | None) -> tuple[str | None, str, str]:
    if not isinstance(details.colName, str):
        raise InvalidInput("details must have a colName, found none")
    return details.partName, details.colName.lower(), details.engine or engine or DEFAULT_ENGINE


def _with_details(statistics: StatisticsSet, details: Mapping[tuple[str | None, str, str], Any]) -> StatisticsSet:
    if not details:
        return statistics
    columns = tuple(
        _completed(column, details.get((statistics.partition, column.column, statistics.engine)))
        for column in statistics.columns
    )
    return replace(statistics, columns=columns)


def _completed(column: ColumnStatistics, details: Any) -> ColumnStatistics:
    if details is None:
        return column
    made = None if details.provenance is None else provenance_from_thrift(details.provenance)
    return replace(column, top_k=details.topK, provenance=made)


def _check(field: str, number: float | None, most: float) -> None:
    if number is not None and not 0 <= number <= most:
        raise InvalidInput(f"{field} of a provenance must be from 0 to {most:g}, found {number}")
