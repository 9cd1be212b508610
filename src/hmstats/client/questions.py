"""Calls that only hmstats has: questions that stored sketches answer without reading data."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hmstats.client.connection.batches import PARTITIONS_A_CALL, batches
from hmstats.client.connection.connection import Connection
from hmstats.client.naming import AnyTable, as_table_name
from hmstats.errors import UnknownCall
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.answers import ColumnProvenance, DistinctCount, MergedColumn, Quantiles
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.frequent_values import FrequentValues
from hmstats.wire.idl import extension
from hmstats.wire.statistics import extension as codec

if TYPE_CHECKING:
    import pyarrow as pa


class QuestionCalls:
    """Questions about columns. `partitions` are names; None means the whole table.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception (MissingStatisticsException if nothing stored answers), and UnknownCall if it is not hmstats.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._extended = True

    @property
    def may_be_hmstats(self) -> bool:
        """False once the metastore has not known a call that only hmstats has."""
        return self._extended

    def distinct_count(self, table: AnyTable, column: str, partitions: Sequence[str] | None = None) -> DistinctCount:
        """How many distinct values a column has over the partitions together."""
        name = as_table_name(table)
        request = extension.DistinctCountRequest(**_column_fields(name, column, partitions))
        return codec.distinct_count_from_thrift(self._ask("get_distinct_count", request))

    def quantiles(
        self, table: AnyTable, column: str, fractions: Sequence[float], partitions: Sequence[str] | None = None
    ) -> Quantiles:
        """The values below which these fractions of a column's values lie."""
        name = as_table_name(table)
        request = extension.QuantilesRequest(fractions=list(fractions), **_column_fields(name, column, partitions))
        return codec.quantiles_from_thrift(self._ask("get_quantiles", request))

    def top_k(
        self, table: AnyTable, column: str, k: int = 10, partitions: Sequence[str] | None = None
    ) -> FrequentValues:
        """A column's `k` most frequent values over the partitions together."""
        name = as_table_name(table)
        request = extension.TopKRequest(k=k, **_column_fields(name, column, partitions))
        return codec.frequent_values_from_thrift(self._ask("get_top_k", request))

    def merged_statistics(
        self, table: AnyTable, columns: Sequence[str], fractions: Sequence[float], k: int
    ) -> tuple[list[MergedColumn], int]:
        """Statistics of columns merged over all partitions, in the columns' order, and the number of partitions."""
        name = as_table_name(table)
        request = extension.MergedStatisticsRequest(
            dbName=name.database,
            tblName=name.table,
            catName=name.catalog,
            colNames=list(columns),
            fractions=list(fractions),
            k=k,
        )
        return codec.merged_from_thrift(self._ask("get_merged_statistics", request))

    def provenance(
        self, table: AnyTable, columns: Sequence[str] | None = None, partitions: Sequence[str] | None = None
    ) -> list[ColumnProvenance]:
        """Where the statistics of these columns (None: all) come from: the table's own, or these partitions'.

        An empty list of partitions means all of them.
        """
        name = as_table_name(table)
        found = self._ask("get_provenance", extension.StatisticsRequest(**_columns_fields(name, columns, partitions)))
        return [codec.column_provenance_from_thrift(each) for each in found.details]

    def statistics(
        self, table: AnyTable, columns: Sequence[str] | None = None, partitions: Sequence[str] | None = None
    ) -> Iterator[StatisticsSet]:
        """Statistics with their sketches and provenance: the table's own, or these partitions', asked for in batches.

        An empty list of partitions means all of them, in one call.
        """
        name = as_table_name(table)
        for batch in [partitions] if not partitions else batches(partitions, PARTITIONS_A_CALL):
            found = self._ask("get_statistics", extension.StatisticsRequest(**_columns_fields(name, columns, batch)))
            for _, each in codec.sets_with_details_from_thrift(found.colStats, found.details, None):
                yield each

    def arrow_statistics(
        self,
        table: AnyTable,
        columns: Sequence[str] | None = None,
        partitions: Sequence[str] | None = None,
        *,
        sketches: bool = False,
    ) -> "Iterator[pa.RecordBatch]":
        """Arrays of Arrow's statistics schema: the table's own, or these partitions', asked for in batches.

        outlets.arrow.table_statistics() reads one. `columns` None: all. An empty list of partitions means all of them,
        in one call. `sketches`: bit vectors, histograms and frequent values too.
        """
        name = as_table_name(table)
        from hmstats.outlets.arrow import ipc  # noqa: PLC0415 - Arrow is loaded by those who ask for it

        for batch in [partitions] if not partitions else batches(partitions, PARTITIONS_A_CALL):
            request = extension.ArrowStatisticsRequest(sketches=sketches, **_columns_fields(name, columns, batch))
            yield from ipc.read(self._ask("get_arrow_statistics", request).stream)

    def _ask(self, method: str, request: Any) -> Any:
        try:
            return self._connection.call(method, request)
        except UnknownCall as error:
            reason = error.message.partition(f"'{method}': ")[2]
            if reason:  # of hmstats: a gateway does not keep everything, and says so
                raise UnknownCall(method, error.kind, reason) from error
            self._extended = False
            sentence = f"the metastore at {self._connection.address} is not hmstats, which alone has this call"
            raise UnknownCall(method, error.kind, sentence) from error


def _column_fields(name: TableName, column: str, partitions: Sequence[str] | None) -> dict[str, Any]:
    return {
        "dbName": name.database,
        "tblName": name.table,
        "colName": column,
        "partNames": None if partitions is None else list(partitions),
        "catName": name.catalog,
    }


def _columns_fields(name: TableName, columns: Sequence[str] | None, partitions: Sequence[str] | None) -> dict[str, Any]:
    return {
        "dbName": name.database,
        "tblName": name.table,
        "colNames": None if columns is None else list(columns),
        "partNames": None if partitions is None else list(partitions),
        "catName": name.catalog,
    }
