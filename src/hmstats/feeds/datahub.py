"""A table as the aspect datasetProfile of DataHub, in a proposal to its REST service.

Source of the format: DatasetProfile and MetadataChangeProposal of DataHub's metadata models (the Avro schemas in the
package acryl-datahub). Bounds and quantiles are texts there, so values of every type fit. uniqueCount is the number of
distinct values.
"""

import json
from typing import Any

from hmstats.feeds.profiles import column_number, database_of, fraction_of, text, timestamp_ms, without_none
from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.tables import TableFacts

PATH = "/aspects?action=ingestProposal"
HEADERS = {"X-RestLi-Protocol-Version": "2.0.0"}
_MEDIAN = 0.5


def proposal(table: TableFacts, platform: str, environment: str, now_ms: int) -> dict[str, Any]:
    """The proposal of a table's profile. `platform` is DataHub's name of it, as hive; `environment` as PROD."""
    urn = f"urn:li:dataset:(urn:li:dataPlatform:{platform},{database_of(table)}.{table.name},{environment})"
    return {
        "proposal": {
            "entityType": "dataset",
            "entityUrn": urn,
            "changeType": "UPSERT",
            "aspectName": "datasetProfile",
            "aspect": {
                "contentType": "application/json",
                "value": json.dumps(profile(table, now_ms), ensure_ascii=False),
            },
        }
    }


def profile(table: TableFacts, now_ms: int) -> dict[str, Any]:
    """The aspect of the whole table."""
    return without_none(
        timestampMillis=timestamp_ms(table, now_ms),
        partitionSpec={"type": "FULL_TABLE", "partition": "FULL_TABLE_SNAPSHOT"},
        rowCount=None if table.rows is None else table.rows.value,
        columnCount=table.column_count,
        sizeInBytes=None if table.size_bytes is None else table.size_bytes.value,
        fieldProfiles=[_field(table, each) for each in table.columns if each.is_known],
    )


def _field(table: TableFacts, column: ColumnFacts) -> dict[str, object]:
    rows = None if table.rows is None else table.rows.value
    median = next((each.value for each in column.quantiles if each.fraction == _MEDIAN), None)
    return without_none(
        fieldPath=column.name,
        uniqueCount=None if column.distinct is None else column.distinct.value,
        uniqueProportion=fraction_of(column.distinct, rows),
        nullCount=None if column.nulls is None else column.nulls.value,
        nullProportion=fraction_of(column.nulls, rows),
        min=None if column.least is None else text(column.least.value),
        max=None if column.greatest is None else text(column.greatest.value),
        median=None if median is None else text(median),
        quantiles=[{"quantile": str(each.fraction), "value": text(each.value)} for each in column.quantiles] or None,
        distinctValueFrequencies=_frequencies(column),
        histogram=_histogram(column),
    )


def _frequencies(column: ColumnFacts) -> list[dict[str, object]] | None:
    """The values that are sure to be the most frequent, with the least number of times that they occur."""
    found = column.frequent.sure if column.frequent else ()
    return [{"value": text(each.value), "frequency": each.low} for each in found] or None


def _histogram(column: ColumnFacts) -> dict[str, object] | None:
    found = column.histogram
    if found is None or any(column_number(column, each) is None for each in found.edges):
        return None
    return {"boundaries": [text(each) for each in found.edges], "heights": [float(each) for each in found.counts]}
