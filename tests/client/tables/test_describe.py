"""DESCRIBE: each form as Hive shows it, to the last blank."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.tables.describe import describe
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    Kind,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.wire.idl import hive_metastore as api

GOLDEN = Path(__file__).parents[2] / "testdata" / "describe"
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_TIMES = re.compile(r"((?:CreateTime|LastAccessTime):\s+)[A-Z][^\t\n]*")
_SECONDS = re.compile(r"(createTime:|lastAccessTime:|DdlTime[=\t])\d+ *")
_PLACES = re.compile(r"((?:Location:\s+|location:))(file:[^,\t ]*)")
SRCPART = {"key": "string", "value": "string"}
_COUNTS = {"numFiles": "4", "numRows": "500", "rawDataSize": "5312", "totalSize": "4096"}

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def service(our_metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as found:
        yield found


@pytest.fixture
def srcpart(our_metastore: Metastore, service: client.Metastore) -> TableName:
    """Hive's own test table: 4 partitions of 500 rows and 4 files, with statistics of `key`."""
    storage = _text_storage()
    table = api.Table(
        tableName="srcpart",
        dbName=our_metastore.database,
        owner="tester",
        sd=storage,
        partitionKeys=[_field("ds", "string"), _field("hr", "string")],
        parameters={"bucketing_version": "2"},
        tableType="MANAGED_TABLE",
    )
    our_metastore.client().create_table(table)
    places = [(day, hour) for day in ("2008-04-08", "2008-04-09") for hour in ("11", "12")]
    accurate = {**_COUNTS, "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"key":"true"}}'}
    partitions = [
        api.Partition(
            values=list(place),
            dbName=our_metastore.database,
            tableName="srcpart",
            sd=_text_storage(),
            parameters=dict(accurate),
        )
        for place in places
    ]
    our_metastore.client().add_partitions(partitions)
    name = TableName("hive", our_metastore.database, "srcpart")
    keys = _collected("key", "string", Kind.STRING, [f"{number % 316}" for number in range(500)])
    sets = (StatisticsSet((keys,), f"ds={day}/hr={hour}") for day, hour in places)
    service.put_partition_statistics(name, sets)
    return name


def _field(name: str, kind: str, comment: str = "") -> Any:
    return api.FieldSchema(name=name, type=kind, comment=comment)


def _text_storage() -> Any:
    return api.StorageDescriptor(
        cols=[_field("key", "string", "default"), _field("value", "string", "default")],
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=api.SerDeInfo(name="", serializationLib=_LAZY, parameters={"serialization.format": "1"}),
        bucketCols=[],
        sortCols=[],
        parameters={},
    )


def _collected(column: str, kind_text: str, kind: Kind, values: Any) -> ColumnStatistics:
    accumulator = ColumnAccumulator.empty(kind)
    accumulator.update(pa.array(values))
    return ColumnStatistics(column, kind_text, accumulator.statistics())


def masked(text: str, database: str) -> str:
    """The text without what differs from run to run."""
    without = _PLACES.sub(r"\1<place>", _SECONDS.sub(r"\1<seconds>", _TIMES.sub(r"\1<time>", text)))
    return re.sub(rf"{database} *", "<database>", without)


@pytest.mark.parametrize(
    ("form", "statement"),
    [
        ("plain", "DESCRIBE {}"),
        ("formatted", "describe formatted {}"),
        ("extended", "DESC EXTENDED {}"),
        ("formatted_partition", "DESCRIBE FORMATTED {} PARTITION (ds='2008-04-08', hr=12)"),
        ("extended_partition", "DESCRIBE EXTENDED {} PARTITION (HR='12', ds='2008-04-08')"),
        ("formatted_column", "DESCRIBE FORMATTED {} `key`"),
        ("formatted_column_of_partition", "DESCRIBE FORMATTED {} PARTITION (ds='2008-04-08', hr='12') key"),
        ("extended_column", "DESCRIBE EXTENDED {} key;"),
        ("formatted_key", "DESCRIBE FORMATTED {} ds"),
        ("column_without_statistics", "DESCRIBE FORMATTED {} VALUE"),
    ],
)
def test_every_form_is_as_hive_shows_it(
    service: client.Metastore, srcpart: TableName, form: str, statement: str
) -> None:
    text = describe(service, statement.format(f"{srcpart.database}.srcpart"))
    assert masked(text, srcpart.database) == (GOLDEN / f"{form}.txt").read_text()


def test_a_table_has_the_sums_of_its_partitions(service: client.Metastore, srcpart: TableName) -> None:
    text = describe(service, f"DESCRIBE EXTENDED {srcpart.database}.srcpart")
    assert "parameters:{numPartitions=4, numFiles=16, numRows=2000, totalSize=16384, " in text
    one = describe(service, f"DESCRIBE EXTENDED {srcpart.database}.srcpart PARTITION (ds='2008-04-08', hr='11')")
    assert "parameters:{numFiles=4, numRows=500, totalSize=4096, " in one


def test_one_partition_whose_counts_are_not_accurate_takes_the_mark_away(
    service: client.Metastore, srcpart: TableName
) -> None:
    assert "\tCOLUMN_STATS_ACCURATE\t" in describe(service, f"DESCRIBE FORMATTED {srcpart.database}.srcpart")
    changed = {"ds=2008-04-08/hr=11": {"COLUMN_STATS_ACCURATE": None}}
    service.put_partition_parameters(srcpart, ["ds", "hr"], changed)
    assert "COLUMN_STATS_ACCURATE" not in describe(service, f"DESCRIBE FORMATTED {srcpart.database}.srcpart")


_EVERY_KIND: Mapping[str, tuple[str, Data]] = {
    "b": ("boolean", BooleanStatistics(trues=3, falses=4, nulls=1)),
    "l": ("bigint", LongStatistics(low=-5, high=2**40, nulls=0, ndv=7)),
    "d": ("double", DoubleStatistics(low=13.099044799804688, high=1e10, nulls=0, ndv=55)),
    "s": ("string", StringStatistics(max_length=13, average_length=12.763636363636364, nulls=0, ndv=55)),
    "bin": ("binary", BinaryStatistics(max_length=3, average_length=1.5, nulls=2)),
    "dec": ("decimal(10,2)", DecimalStatistics(low=None, high=None, nulls=8, ndv=0)),
    "dt": ("date", DateStatistics(low=0, high=19_000, nulls=0, ndv=3)),
    "ts": ("timestamp", TimestampStatistics(low=0, high=1_700_000_000, nulls=0, ndv=3)),
}
_SHOWN = {
    "b": {"num_nulls": "1", "num_trues": "3", "num_falses": "4"},
    "l": {"min": "-5", "max": "1099511627776", "num_nulls": "0", "distinct_count": "7"},
    "d": {"min": "13.099044799804688", "max": "1.0E10", "num_nulls": "0", "distinct_count": "55"},
    "s": {"num_nulls": "0", "distinct_count": "55", "avg_col_len": "12.763636363636364", "max_col_len": "13"},
    "bin": {"num_nulls": "2", "avg_col_len": "1.5", "max_col_len": "3"},
    "dec": {"num_nulls": "8", "distinct_count": "0"},
    "dt": {"min": "1970-01-01", "max": "2022-01-08", "num_nulls": "0", "distinct_count": "3"},
    "ts": {"min": "1970-01-01 00:00:00", "max": "2023-11-14 22:13:20", "num_nulls": "0", "distinct_count": "3"},
}


@pytest.mark.parametrize("column", _EVERY_KIND)
def test_the_column_form_of_every_kind(our_metastore: Metastore, service: client.Metastore, column: str) -> None:
    our_metastore.table("t")
    name = TableName("hive", our_metastore.database, "t")
    columns = (ColumnStatistics(each, kind, data) for each, (kind, data) in _EVERY_KIND.items())
    service.put_table_statistics(name, StatisticsSet(tuple(columns)))
    lines = describe(service, f"DESCRIBE FORMATTED {name.database}.t {column}").splitlines()
    shown = dict(line.split("\t") for line in lines[:12])
    assert all(len(text) >= 20 for pair in shown.items() for text in pair)
    assert {each.strip(): text.strip() for each, text in shown.items() if text.strip()} == {
        "col_name": column,
        "data_type": _EVERY_KIND[column][0],
        **_SHOWN[column],
    }


def test_a_histogram_has_a_row_of_quartiles(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table("t", {"l": "bigint"})
    name = TableName("hive", our_metastore.database, "t")
    service.put_table_statistics(name, StatisticsSet((_collected("l", "bigint", Kind.LONG, np.arange(1, 101)),)))
    lines = describe(service, f"DESCRIBE FORMATTED {name.database}.t l").splitlines()
    assert f"{'histogram':<20}\tQ1: 26, Q2: 51, Q3: 76" in lines
    assert f"{'bit_vector':<20}\tHL{'':<18}" in lines


def test_lines_of_a_comment_stand_below_each_other(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table("t", {"l": "bigint"}, parameters={"comment": 'one "a"\ntwo'})
    text = describe(service, f"DESCRIBE FORMATTED {our_metastore.database}.t")
    first = text.index(f'\t{"comment":<20}\tone \\"a\\"')
    assert text[first:].splitlines()[1] == f"\t{'':<20}\t{'two':<20}"


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DESCRIBE", "cannot be read at its end"),
        ("DESCRIBE FORMATTED nowhere", "table default.nowhere is not in the metastore at thrift://"),
        ("DESCRIBE FORMATTED {}.srcpart nope", "column nope must be one of table .*: key, value, ds, hr"),
        ("DESCRIBE {}.srcpart PARTITION (ds='1')", r"must have a value for each partition key .* \(ds, hr\), found ds"),
        ("DESCRIBE {}.srcpart PARTITION (ds='1', hr=1)", "has no partition ds=1/hr=1"),
        ("DESCRIBE {}.srcpart PARTITION (ds)", r"cannot be read at '\)'"),
        ("DESCRIBE {}.srcpart key value", "cannot be read at 'value'"),
        ("SELECT 1", "cannot be read at 'SELECT'; the form is DESCRIBE"),
        ("DESCRIBE {}.srcpart $", r"cannot be read at '\$'"),
    ],
)
def test_what_cannot_be_described_is_said(
    service: client.Metastore, srcpart: TableName, statement: str, problem: str
) -> None:
    with pytest.raises(StatementError, match=problem):
        describe(service, statement.format(srcpart.database))


def test_a_view_has_its_query_and_no_place(our_metastore: Metastore, service: client.Metastore) -> None:
    view = api.Table(
        tableName="v",
        dbName=our_metastore.database,
        owner="tester",
        sd=_text_storage(),
        partitionKeys=[],
        parameters={},
        tableType="VIRTUAL_VIEW",
        viewOriginalText="select key from srcpart",
        viewExpandedText="SELECT `key` FROM `srcpart`",
    )
    our_metastore.client().create_table(view)
    text = describe(service, f"DESCRIBE FORMATTED {our_metastore.database}.v")
    assert "Location:" not in text
    assert text.endswith(
        "\t \t \n# View Information\t \t \n"
        f"Original Query:     \tselect key from srcpart\t \n{'Expanded Query:':<20}\tSELECT `key` FROM `srcpart`\t \n"
    )


def test_a_partition_is_described_by_any_text_of_its_value(our_metastore: Metastore) -> None:
    keys = [api.FieldSchema(name="hr", type="int", comment="")]
    table = api.Table(
        tableName="typed",
        dbName=our_metastore.database,
        owner="tester",
        sd=our_metastore.storage({"l": "bigint"}),
        partitionKeys=keys,
        parameters={},
        tableType="MANAGED_TABLE",
    )
    our_metastore.client().create_table(table)
    our_metastore.add_partitions(("011",), ("2",), table="typed", columns={"l": "bigint"})
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        for text in ("011", "11", "0011"):
            found = describe(service, f"DESCRIBE FORMATTED {our_metastore.database}.typed PARTITION (hr='{text}')")
            assert "[011]" in found
        with pytest.raises(StatementError, match="has no partition hr=3"):
            describe(service, f"DESCRIBE {our_metastore.database}.typed PARTITION (hr=3)")
