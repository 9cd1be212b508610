"""What all partitions say together is asked in one call, whatever the number of columns; a Hive is asked once."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.connection.connection import Connection
from hmstats.client.tables.merged_statistics import MergedAnswers, merged_columns
from hmstats.client.tables.stored_statistics import stored_table
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import ColumnAccumulator

COLUMNS = {f"c{number}": "bigint" for number in range(20)} | {"b": "binary"}
FRACTIONS = (0.0, 1.0)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that are called."""
    found: list[str] = []
    real = Connection.call

    def counted(self: Connection, method: str, *arguments: Any) -> Any:
        found.append(method)
        return real(self, method, *arguments)

    monkeypatch.setattr(Connection, "call", counted)
    return found


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as found:
        yield found


def column(name: str, values: list[int]) -> ColumnStatistics:
    made = ColumnAccumulator.empty(Kind.LONG)
    made.update(pa.array(values))
    assert made.top_k is not None
    seen = Provenance(rows_seen=len(values), sample_fraction=1.0)
    return ColumnStatistics(name, "bigint", made.statistics(), made.top_k.to_bytes(), seen)


def test_one_call_for_all_columns(metastore: Metastore, service: client.Metastore, calls: list[str]) -> None:
    metastore.table("t", COLUMNS, keys=("k",))
    metastore.add_partitions(("1",), ("2",), columns=COLUMNS)
    name = TableName("hive", metastore.database, "t")
    numbers = [each for each in COLUMNS if each != "b"]
    sets = [
        StatisticsSet(tuple(column(each, [part, 7, 7]) for each in numbers), f"k={part}", last_analyzed_seconds=1)
        for part in (1, 2)
    ]
    service.put_partition_statistics(name, sets)
    mark = Accurate(basic=True, columns=frozenset(numbers) - {"c3"}).text()
    service.put_partition_parameters(name, ["k"], {"k=2": {"numRows": "3", PARAMETER: mark}})
    found = stored_table(service, service.existing_table(f"{metastore.database}.t"))
    calls.clear()
    answers = merged_columns(service, found, FRACTIONS, 1)
    assert calls == ["get_merged_statistics"]
    assert answers.keys() == {each.column for each in found.statistics.columns} >= set(numbers)
    if not metastore.ours:
        assert set(answers.values()) == {MergedAnswers(None, None, None)}
        return
    first = answers["c0"]
    assert first.quantiles is not None
    assert first.frequent is not None
    assert first.distinct is not None
    assert first.quantiles.values == (1.0, 7.0)
    assert [(each.value, each.low) for each in first.frequent.values] == [(7, 4)]
    assert first.distinct.count == 3
    assert first.written_at_seconds
    assert (first.stale, answers["c3"].stale) == (None, "in 1 of 2 partitions")
