"""Statistics as Arrow arrays over the wire, as a program with nothing but Thrift and Arrow asks for them."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.behaviour.structs import TYPES, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TSocket
from thriftpy2.transport.buffered import TCyBufferedTransport

from hmstats import client as our_client
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet, StringStatistics
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.arrow import data_statistics, table_statistics
from hmstats.outlets.arrow.read import statistics as read
from hmstats.wire.idl import EXTENDED_SERVICE, extension
from hmstats.wire.idl import hive_metastore as api

NESTED = {"m": "map<string,array<int>>", "l": "bigint", "s": "string"}
DATA = pa.table({"l": [5, 1, 5, 1, None], "s": ["x", "yy", None, "x", "x"]})


@pytest.fixture
def client(our_metastore: Metastore) -> Any:
    transport = TCyBufferedTransport(TSocket("127.0.0.1", our_metastore.port, socket_timeout=60_000))
    transport.open()
    made = TClient(EXTENDED_SERVICE, TCyBinaryProtocol(transport))
    our_metastore.clients.callback(made.close)
    return made


def asked(metastore: Metastore, **more: Any) -> Any:
    return extension.ArrowStatisticsRequest(**{"dbName": metastore.database, "tblName": "t", **more})


def batches(client: Any, metastore: Metastore, **more: Any) -> list[pa.RecordBatch]:
    found = list(pa.ipc.open_stream(client.get_arrow_statistics(asked(metastore, **more)).stream))
    for batch in found:
        batch.validate(full=True)
    return found


def said(batch: pa.RecordBatch) -> dict[tuple[int | None, str], Any]:
    return {(each.column, each.name): each.value for each in read(batch)}


def collected(partition: str | None = None) -> StatisticsSet:
    """Statistics of DATA as the collector makes them."""
    return StatisticsSet(data_statistics(DATA).statistics.columns, partition)


def name_of(metastore: Metastore) -> TableName:
    return TableName("hive", metastore.database, "t")


def test_what_a_client_of_hives_wrote_is_approximate(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    our_metastore.client().update_table_column_statistics(
        statistics(our_metastore, *(statistics_of(column) for column in TYPES))
    )
    (batch,) = batches(client, our_metastore)
    assert [(field.name, field.nullable) for field in batch.schema] == [("column", True), ("statistics", False)]
    found = said(batch)
    place = {name: number for number, name in enumerate(each.name for each in our_metastore.read_table().sd.cols)}
    assert found[None, "HMSTATS:table"] == "t"
    assert found[place["l"], "HMSTATS:column_name"] == "l"
    assert found[place["l"], "ARROW:min_value:approximate"] == -(2**63)
    assert found[place["l"], "ARROW:distinct_count:approximate"] == 5.0
    assert found[place["b"], "HMSTATS:true_count:approximate"] == 3.0
    assert found[place["s"], "ARROW:average_byte_width:approximate"] == 3.25
    assert found[place["dec"], "ARROW:min_value:approximate"] == Decimal("-2.00")
    assert found[place["dt"], "ARROW:max_value:approximate"] == 20_000
    assert found[place["ts"], "ARROW:min_value:approximate"] == -5_000_000
    assert not any(name.endswith(":exact") for _, name in found)


def test_what_our_collector_wrote_is_exact_but_for_distinct_counts(
    our_metastore: Metastore, client: Any, service: our_client.Metastore
) -> None:
    our_metastore.table("t", NESTED)
    service.put_table_statistics(name_of(our_metastore), collected())
    (batch,) = batches(client, our_metastore)
    found = said(batch)
    numbers = {(column, name): value for (column, name), value in found.items() if name.startswith("ARROW:")}
    assert numbers == {
        (5, "ARROW:min_value:exact"): 1,
        (5, "ARROW:max_value:exact"): 5,
        (5, "ARROW:null_count:exact"): 1,
        (5, "ARROW:distinct_count:approximate"): 2.0,
        (6, "ARROW:max_byte_width:exact"): 2,
        (6, "ARROW:average_byte_width:exact"): 1.25,
        (6, "ARROW:null_count:exact"): 1,
        (6, "ARROW:distinct_count:approximate"): 2.0,
    }
    assert found[5, "HMSTATS:sample_fraction"] == 1.0
    assert found[5, "HMSTATS:written_at"] > 1_600_000_000
    assert not any("sketch" in name or "bit_vector" in name for _, name in found)


def test_sketches_come_when_they_are_asked_for(our_metastore: Metastore, service: our_client.Metastore) -> None:
    our_metastore.table("t", NESTED)
    name = name_of(our_metastore)
    service.put_table_statistics(name, collected())
    (batch,) = service.arrow_statistics(name, sketches=True)
    found = table_statistics(batch)
    (stored,) = service.statistics(name)
    assert found.name == name
    for arrow, plain in zip(found.statistics.columns, stored.columns, strict=True):
        assert arrow == plain
    assert found.columns == tuple(Column(column, type_) for column, type_ in NESTED.items())
    assert found.statistics.last_analyzed_seconds
    (bare,) = service.arrow_statistics(name)
    column = table_statistics(bare).statistics.columns[0]
    assert isinstance(column.data, LongStatistics)
    assert (column.data.bit_vector, column.data.histogram, column.top_k) == (None, None, None)


def test_rows_are_exact_where_the_metastore_says_so(our_metastore: Metastore, client: Any) -> None:
    accurate = '{"BASIC_STATS":"true"}'
    for parameters, expected in [
        ({"numRows": "7", "COLUMN_STATS_ACCURATE": accurate}, {(None, "ARROW:row_count:exact"): 7}),
        ({"numRows": "7"}, {(None, "ARROW:row_count:approximate"): 7.0}),
        ({"numRows": "-1"}, {}),
        ({"numRows": "9" * 19, "COLUMN_STATS_ACCURATE": accurate}, {}),
        ({"numRows": "9" * 4_000}, {}),
        ({}, {}),
    ]:
        our_metastore.table("t", NESTED, parameters=parameters)
        (batch,) = batches(client, our_metastore)
        found = said(batch)
        assert {key: value for key, value in found.items() if "row_count" in key[1]} == expected
        assert {column for column, _ in found} == {None, 0, 5, 6}
        our_metastore.client().drop_table(our_metastore.database, "t", True)


def test_rows_are_exact_where_every_one_of_them_was_looked_at(
    our_metastore: Metastore, client: Any, service: our_client.Metastore
) -> None:
    our_metastore.table("t", NESTED, parameters={"numRows": str(DATA.num_rows)})
    service.put_table_statistics(name_of(our_metastore), collected())
    assert said(*batches(client, our_metastore))[None, "ARROW:row_count:exact"] == DATA.num_rows
    service.put_table_parameters(name_of(our_metastore), {"numRows": "6"})
    assert said(*batches(client, our_metastore))[None, "ARROW:row_count:approximate"] == 6.0


@pytest.fixture
def parted(our_metastore: Metastore, service: our_client.Metastore) -> TableName:
    """A table of three partitions, the first two with statistics, the last two with rows."""
    our_metastore.table("t", NESTED, keys=("k",))
    our_metastore.add_partitions(("a",), ("b",), ("c",), columns=NESTED)
    name = name_of(our_metastore)
    service.put_partition_statistics(name, [collected("k=a"), collected("k=b")])
    service.put_partition_parameters(name, ["k"], {"k=b": {"numRows": "2"}, "k=c": {"numRows": "3"}})
    return name


def test_every_partition_has_a_batch_in_one_stream(our_metastore: Metastore, client: Any, parted: TableName) -> None:
    found = [table_statistics(batch) for batch in batches(client, our_metastore, partNames=[])]
    assert [each.statistics.partition for each in found] == ["k=a", "k=b", "k=c"]
    assert [len(each.statistics.columns) for each in found] == [2, 2, 0]
    assert [each.rows for each in found] == [None, 2, 3]


def test_named_partitions_come_by_name_and_those_that_are_gone_do_not(
    our_metastore: Metastore, client: Any, parted: TableName
) -> None:
    found = batches(client, our_metastore, partNames=["K=b", "k=z", "k=a", "k=b"], colNames=["S"])
    assert [said(batch)[None, "HMSTATS:partition"] for batch in found] == ["k=a", "k=b"]
    for batch in found:
        (column,) = table_statistics(batch).statistics.columns
        assert (column.column, type(column.data)) == ("s", StringStatistics)
    assert batches(client, our_metastore, partNames=["k=z"]) == []


def test_a_partitioned_table_answers_from_its_partitions(
    our_metastore: Metastore, client: Any, parted: TableName, service: our_client.Metastore
) -> None:
    (batch,) = batches(client, our_metastore)
    found = said(batch)
    assert (found[5, "ARROW:min_value:approximate"], found[5, "ARROW:max_value:approximate"]) == (1, 5)
    assert (None, "ARROW:row_count:approximate") not in found
    service.put_partition_parameters(parted, ["k"], {"k=a": {"numRows": "4"}})
    (batch,) = batches(client, our_metastore)
    assert said(batch)[None, "ARROW:row_count:approximate"] == 9.0


def test_our_client_asks_in_batches(our_metastore: Metastore, service: our_client.Metastore, parted: TableName) -> None:
    names = ["k=a", "k=b", *(f"k={number}" for number in range(2_000))]
    found = [table_statistics(batch) for batch in service.arrow_statistics(parted, ["l"], names)]
    assert [each.statistics.partition for each in found] == ["k=a", "k=b"]
    assert len(list(service.arrow_statistics(parted, partitions=[]))) == 3


def test_a_stream_asked_for_again_is_made_anew_after_a_write(
    our_metastore: Metastore, client: Any, service: our_client.Metastore
) -> None:
    our_metastore.table("t", {"l": "bigint"})
    for low in (1, 2):
        column = ColumnStatistics("l", "bigint", LongStatistics(low=low), None, Provenance(exact=True))
        service.put_table_statistics(name_of(our_metastore), StatisticsSet((column,)))
        for _ in range(2):
            (batch,) = batches(client, our_metastore)
            assert said(batch)[0, "ARROW:min_value:exact"] == low


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ({"dbName": None}, api.MetaException),
        ({"tblName": None}, api.MetaException),
        ({"tblName": "absent"}, api.NoSuchObjectException),
        ({"catName": "nowhere"}, api.NoSuchObjectException),
        ({"partNames": [""]}, api.MetaException),
        ({"partNames": ["z=1"]}, api.InvalidObjectException),
    ],
)
def test_requests_that_make_no_sense_are_refused_and_the_connection_lives(
    our_metastore: Metastore, client: Any, wrong: dict[str, Any], refusal: type[Exception]
) -> None:
    our_metastore.table("t", NESTED, keys=("k",))
    with pytest.raises(refusal):
        client.get_arrow_statistics(asked(our_metastore, **wrong))
    assert client.getName() == "hmstats"


def test_our_client_says_what_was_refused(our_metastore: Metastore, service: our_client.Metastore) -> None:
    with pytest.raises(CallRefused, match="get_arrow_statistics: NoSuchObjectException"):
        list(service.arrow_statistics(name_of(our_metastore)))


def test_a_type_that_cannot_be_read_is_named(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table("t", {"l": "bigint", "g": "array<int"})
    with pytest.raises(api.InvalidInputException, match="array<int"):
        client.get_arrow_statistics(asked(our_metastore))
