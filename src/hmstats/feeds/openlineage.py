"""A table as an event of OpenLineage: a DatasetEvent with the facet dataQualityMetrics.

Source of the format: https://openlineage.io/spec/2-0-2/OpenLineage.json and
https://openlineage.io/spec/facets/1-0-0/DataQualityMetricsDatasetFacet.json. Bounds and quantiles are numbers there, so
those of texts and dates are left out. How sure the numbers are stands in a facet of our own, hmstats_statistics.
"""

from datetime import UTC, datetime
from typing import Any

from hmstats.feeds.profiles import column_number, database_of, values_count, without_none
from hmstats.version import __version__
from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.tables import TableFacts

PRODUCER = f"https://hmstats.readthedocs.io/{__version__}"
EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
METRICS = "https://openlineage.io/spec/facets/1-0-0/DataQualityMetricsDatasetFacet.json"
SCHEMA = "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json"
OWN = "https://hmstats.readthedocs.io/facets/1-0-0/StatisticsDatasetFacet.json"


def dataset_event(table: TableFacts, namespace: str, now_ms: int) -> dict[str, Any]:
    """The event of a table at this time. `namespace` is the metastore's, as hive://HOST:PORT."""
    changed = None if table.written_at is None else _time(table.written_at)
    metrics = without_none(
        rowCount=None if table.rows is None else table.rows.value,
        bytes=None if table.size_bytes is None else table.size_bytes.value,
        fileCount=None if table.files is None else table.files.value,
        lastUpdated=changed,
        columnMetrics={each.name: _metrics(table, each) for each in table.columns if each.is_known},
    )
    facets = {
        "dataQualityMetrics": _facet(METRICS, metrics),
        "schema": _facet(SCHEMA, {"fields": [{"name": each.name, "type": each.type} for each in table.columns]}),
        "hmstats_statistics": _facet(
            OWN, {"columns": {each.name: _sure(each) for each in table.columns if _sure(each)}}
        ),
    }
    return {
        "eventTime": _time(datetime.fromtimestamp(now_ms / 1000, UTC)),
        "producer": PRODUCER,
        "schemaURL": EVENT,
        "dataset": {"namespace": namespace, "name": f"{database_of(table)}.{table.name}", "facets": facets},
    }


def _metrics(table: TableFacts, column: ColumnFacts) -> dict[str, object]:
    quantiles = {str(each.fraction): column_number(column, each.value) for each in column.quantiles}
    return without_none(
        nullCount=None if column.nulls is None else column.nulls.value,
        distinctCount=None if column.distinct is None else column.distinct.value,
        count=values_count(table, column),
        min=None if column.least is None else column_number(column, column.least.value),
        max=None if column.greatest is None else column_number(column, column.greatest.value),
        quantiles={name: value for name, value in quantiles.items() if value is not None} or None,
    )


def _sure(column: ColumnFacts) -> dict[str, object]:
    """The certainty of the distinct count, and the author and time of the statistics."""
    found = column.distinct
    return without_none(
        distinctLow=None if found is None else found.low,
        distinctHigh=None if found is None else found.high,
        certainty=None if found is None else found.certainty.value,
        sampleFraction=None if found is None else found.sample_fraction,
        tool=column.tool,
        writtenAt=None if column.written_at is None else _time(column.written_at),
    )


def _facet(schema: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": schema, **fields}


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
