"""Column statistics as structs, and short ways to ask for them."""

from typing import Any

from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

STRUCTS: dict[str, tuple[str, Any]] = {
    "b": ("booleanStats", api.BooleanColumnStatsData(numTrues=3, numFalses=4, numNulls=2)),
    "l": ("longStats", api.LongColumnStatsData(lowValue=-(2**63), highValue=2**63 - 1, numNulls=0, numDVs=5)),
    "d": ("doubleStats", api.DoubleColumnStatsData(lowValue=-1.5, highValue=1e300, numNulls=1, numDVs=7)),
    "s": ("stringStats", api.StringColumnStatsData(maxColLen=9, avgColLen=3.25, numNulls=1, numDVs=6)),
    "bin": ("binaryStats", api.BinaryColumnStatsData(maxColLen=10, avgColLen=2.5, numNulls=3)),
    "dec": (
        "decimalStats",
        api.DecimalColumnStatsData(
            lowValue=api.Decimal(scale=2, unscaled=b"\xff\x38"),
            highValue=api.Decimal(scale=1, unscaled=b"\x03"),
            numNulls=0,
            numDVs=4,
        ),
    ),
    "dt": (
        "dateStats",
        api.DateColumnStatsData(
            lowValue=api.Date(daysSinceEpoch=-141428), highValue=api.Date(daysSinceEpoch=20000), numNulls=0, numDVs=3
        ),
    ),
    "ts": ("longStats", api.LongColumnStatsData(lowValue=-5, highValue=1_700_000_000, numNulls=0, numDVs=3)),
}
"""For each column of the standard table: the member of the union, and a struct of it."""

TYPES = {
    "b": "boolean",
    "l": "bigint",
    "d": "double",
    "s": "string",
    "bin": "binary",
    "dec": "decimal(10,2)",
    "dt": "date",
    "ts": "timestamp",
}


def statistics_of(column: str, **changed: Any) -> Any:
    """The standard statistics of a column, with some fields changed; None leaves a field out."""
    member, struct = STRUCTS[column]
    values = {spec[1]: getattr(struct, spec[1]) for spec in struct.thrift_spec.values()} | changed
    return column_object(column, TYPES[column], member, type(struct)(**values))


def column_object(column: str | None, column_type: str | None, member: str, struct: Any) -> Any:
    """A ColumnStatisticsObj of any content."""
    data = api.ColumnStatisticsData(**{member: struct})
    return api.ColumnStatisticsObj(colName=column, colType=column_type, statsData=data)


def statistics(metastore: Metastore, *objects: Any, partition: str | None = None, table: str = "t") -> Any:
    """A ColumnStatistics struct of a table or a partition."""
    description = api.ColumnStatisticsDesc(
        isTblLevel=partition is None, dbName=metastore.database, tableName=table, partName=partition
    )
    return api.ColumnStatistics(statsDesc=description, statsObj=list(objects))


def of_table(metastore: Metastore, *columns: str, table: str = "t", engine: str | None = None) -> dict[str, Any]:
    """The statistics that a table has of these columns, by column."""
    request = api.TableStatsRequest(dbName=metastore.database, tblName=table, colNames=list(columns), engine=engine)
    found = metastore.client().get_table_statistics_req(request).tableStats
    return {each.colName: each.statsData for each in found}


def of_partitions(
    metastore: Metastore, names: list[str], *columns: str, engine: str | None = None
) -> dict[str, dict[str, Any]]:
    """The statistics that partitions have of these columns, by partition and column."""
    request = api.PartitionsStatsRequest(
        dbName=metastore.database, tblName="t", colNames=list(columns), partNames=names, engine=engine
    )
    found = metastore.client().get_partitions_statistics_req(request).partStats
    return {name: {each.colName: each.statsData for each in objects} for name, objects in found.items()}
