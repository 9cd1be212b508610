"""A table at Python's prompt and in a notebook."""

from unittest import mock

from hmstats.client.asked.asked_metastore import AskedMetastore
from hmstats.client.asked.asked_table import AskedTable
from hmstats.model.catalog.objects import Column, Storage, Table, TableName


def asked(metastore: mock.Mock, **parameters: str) -> AskedTable:
    table = Table(
        name=TableName("hive", "sales", "orders"),
        storage=Storage(columns=(Column("id", "bigint"), Column("pair", "struct<a:int,b:string>"))),
        partition_keys=(Column("day", "date"),),
        parameters=parameters,
    )
    return AskedTable(metastore, table)


def test_it_shows_what_is_known_of_it_without_a_call() -> None:
    metastore = mock.Mock(spec=AskedMetastore)
    table = asked(metastore, numRows="1000", totalSize="4096", numFiles="3", numPartitions="1")
    assert [line.rstrip() for line in repr(table).splitlines()] == [
        "sales.orders: 1,000 rows, 4,096 bytes, 3 files, 1 partition",
        "Column  Type",
        "id      bigint",
        "pair    struct<a:int,b:string>",
        "day     date                    partition key",
    ]
    html = table._repr_html_()
    assert "1,000 rows" in html
    assert "<td>struct&lt;a:int,b:string&gt;</td>" in html
    assert metastore.mock_calls == []


def test_counts_that_are_none_are_not_shown() -> None:
    table = asked(mock.Mock(spec=AskedMetastore), numRows="-1", totalSize="many")
    assert repr(table).splitlines()[0] == "sales.orders: no counts known"
