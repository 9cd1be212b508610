"""Calls beyond Hive's: what stored sketches answer without a look at the data. Only hmstats knows them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hmstats.client.batches import PARTITIONS_A_CALL, batches
from hmstats.client.connection import Connection
from hmstats.errors import UnknownCall
from hmstats.model.answers import ColumnProvenance, DistinctCount, Quantiles
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import StatisticsSet
from hmstats.model.frequent_values import FrequentValues
from hmstats.wire import extension as codec
from hmstats.wire.idl import extension

if TYPE_CHECKING:
    import pyarrow as pa


class Questions:
    """Questions about columns. `partitions` are names; None means the whole table.

    Every method raises ServiceUnavailable when the metastore is away, CallRefused when it says no (of the kind
    MissingStatisticsException when nothing stored answers), and UnknownCall when it is not hmstats.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def distinct_count(self, name: TableName, column: str, partitions: Sequence[str] | None = None) -> DistinctCount:
        """How many distinct values a column has over the partitions together."""
        request = extension.DistinctCountRequest(**_asked(name, column, partitions))
        return codec.distinct_count_from_thrift(self._ask("get_distinct_count", request))

    def quantiles(
        self, name: TableName, column: str, fractions: Sequence[float], partitions: Sequence[str] | None = None
    ) -> Quantiles:
        """The values below which these fractions of a column's values lie."""
        request = extension.QuantilesRequest(fractions=list(fractions), **_asked(name, column, partitions))
        return codec.quantiles_from_thrift(self._ask("get_quantiles", request))

    def top_k(
        self, name: TableName, column: str, k: int = 10, partitions: Sequence[str] | None = None
    ) -> FrequentValues:
        """A column's `k` most frequent values over the partitions together."""
        request = extension.TopKRequest(k=k, **_asked(name, column, partitions))
        return codec.frequent_values_from_thrift(self._ask("get_top_k", request))

    def provenance(
        self, name: TableName, columns: Sequence[str] | None = None, partitions: Sequence[str] | None = None
    ) -> list[ColumnProvenance]:
        """Where the statistics of these columns (None: all) come from: the table's own, or these partitions'.

        An empty list of partitions means all of them.
        """
        found = self._ask("get_provenance", extension.StatisticsRequest(**_of_columns(name, columns, partitions)))
        return [codec.column_provenance_from_thrift(each) for each in found.details]

    def statistics(
        self, name: TableName, columns: Sequence[str] | None = None, partitions: Sequence[str] | None = None
    ) -> Iterator[StatisticsSet]:
        """Statistics with their sketches and provenance: the table's own, or these partitions', asked for in batches.

        An empty list of partitions means all of them, in one call.
        """
        for batch in [partitions] if not partitions else batches(partitions, PARTITIONS_A_CALL):
            found = self._ask("get_statistics", extension.StatisticsRequest(**_of_columns(name, columns, batch)))
            for _, each in codec.sets_with_details_from_thrift(found.colStats, found.details, None):
                yield each

    def arrow_statistics(
        self,
        name: TableName,
        columns: Sequence[str] | None = None,
        partitions: Sequence[str] | None = None,
        *,
        sketches: bool = False,
    ) -> "Iterator[pa.RecordBatch]":
        """Arrays of Arrow's statistics schema: the table's own, or these partitions', asked for in batches.

        outlets.arrow.table_statistics() reads one. `columns` None: all. An empty list of partitions means all of them,
        in one call. `sketches`: bit vectors, histograms and frequent values too.
        """
        from hmstats.outlets import arrow_ipc  # noqa: PLC0415 - Arrow is loaded by those who ask for it

        for batch in [partitions] if not partitions else batches(partitions, PARTITIONS_A_CALL):
            request = extension.ArrowStatisticsRequest(sketches=sketches, **_of_columns(name, columns, batch))
            yield from arrow_ipc.read(self._ask("get_arrow_statistics", request).stream)

    def _ask(self, method: str, request: Any) -> Any:
        try:
            return self._connection.call(method, request)
        except UnknownCall as error:
            sentence = f"the metastore at {self._connection.address} is not hmstats, which alone has this call"
            raise UnknownCall(method, error.kind, sentence) from error


def _asked(name: TableName, column: str, partitions: Sequence[str] | None) -> dict[str, Any]:
    return {
        "dbName": name.database,
        "tblName": name.table,
        "colName": column,
        "partNames": None if partitions is None else list(partitions),
        "catName": name.catalog,
    }


def _of_columns(name: TableName, columns: Sequence[str] | None, partitions: Sequence[str] | None) -> dict[str, Any]:
    return {
        "dbName": name.database,
        "tblName": name.table,
        "colNames": None if columns is None else list(columns),
        "partNames": None if partitions is None else list(partitions),
        "catName": name.catalog,
    }
