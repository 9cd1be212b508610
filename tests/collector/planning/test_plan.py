"""What an analysis will read: the metastore is asked for the wanted partitions only, and refuses what is not there."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.dry_run import dry_run
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan, make_plan
from hmstats.collector.request.partition_spec import PartitionSpec
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"a": "int", "b": "array<int>"}
VALUES = [("2008-04-08", "11"), ("2008-04-08", "12"), ("2008-04-09", "11"), ("2008-04-09", "12")]


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        yield service


def plan(service: client.Metastore, metastore: Metastore, **wanted: Any) -> Plan:
    return make_plan(service, Statement(TableName("hive", metastore.database, "t"), **wanted))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (None, VALUES),
        ({"ds": None, "hr": None}, VALUES),
        ({"ds": "2008-04-09", "hr": 11}, VALUES[2:3]),
        ({"ds": "2008-04-09", "hr": None}, VALUES[2:]),
        ({"ds": "2008-04-09"}, VALUES[2:]),
        ({"hr": "12"}, VALUES[1::2]),
    ],
)
def test_a_spec_names_its_partitions(
    metastore: Metastore, service: client.Metastore, spec: PartitionSpec | None, expected: list[tuple[str, str]]
) -> None:
    metastore.table("t", COLUMNS, keys=("ds", "hr"))
    metastore.add_partitions(*VALUES, columns=COLUMNS)
    made = plan(service, metastore, partitions=None if spec is None else (spec,))
    assert sorted(piece.values for piece in made.pieces) == expected
    assert made.whole is (expected == VALUES)
    assert (dict(made.types), list(made.skipped)) == ({"a": "int"}, ["b"])


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"partitions": ({"ds": "2008-04-09", "hr": 11}, {"ds": "2008-04-08", "hr": "12"})}, VALUES[1:3]),
        ({"partitions": ({"hr": "12"}, {"ds": "2008-04-09"})}, VALUES[1:]),
        ({"where": "ds = '2008-04-09'"}, VALUES[2:]),
    ],
)
def test_several_names_and_a_filter_choose_partitions(
    metastore: Metastore, service: client.Metastore, wanted: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    metastore.table("t", COLUMNS, keys=("ds", "hr"))
    metastore.add_partitions(*VALUES, columns=COLUMNS)
    made = plan(service, metastore, **wanted)
    assert sorted(piece.values for piece in made.pieces) == expected
    assert (made.whole, made.chosen, made.spec) == (False, True, {})


def test_a_filter_chooses_every_partition_with_the_values_that_it_finds(
    metastore: Metastore, service: client.Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    metastore.table("t", COLUMNS, keys=("m int",))
    metastore.add_partitions(("01",), ("1",), ("2",), columns=COLUMNS)
    monkeypatch.setattr(service, "partition_names_by_filter", lambda *_: ["m=1"])
    made = plan(service, metastore, where="m = 1")
    assert sorted(piece.name for piece in made.pieces) == ["m=01", "m=1"]


def test_values_are_found_by_their_keys_type(metastore: Metastore, service: client.Metastore) -> None:
    metastore.table("t", COLUMNS, keys=("n int", "d date"))
    metastore.add_partitions(("7", "2020-01-02"), ("17", "2020-01-02"), columns=COLUMNS)
    made = plan(service, metastore, partitions=({"n": "007", "d": "2020-1-2"},))
    assert [piece.name for piece in made.pieces] == ["n=7/d=2020-01-02"]
    assert dict(made.spec) == {"n": "7", "d": "2020-01-02"}


def test_a_transactional_table_is_shown_and_not_analysed(our_metastore: Metastore) -> None:
    parameters = {"transactional": "true", "transactional_properties": "insert_only"}
    our_metastore.table("t", COLUMNS, parameters=parameters)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        found = service.find_table(TableName("hive", our_metastore.database, "t"))
        assert found is not None
        assert found.parameters.items() >= parameters.items()
        with pytest.raises(StatementError, match="is transactional: its files hold rows of transactions"):
            plan(service, our_metastore)


def test_odd_values_are_found(metastore: Metastore, service: client.Metastore) -> None:
    odd = ["a/b=c%d", "50% of it", "it's", "__HIVE_DEFAULT_PARTITION__", "x_y"]
    metastore.table("t", COLUMNS, keys=("k", "l"))
    metastore.add_partitions(*((each, "1") for each in [*odd, "xzy"]), columns=COLUMNS)
    for value in odd:
        assert [piece.values for piece in plan(service, metastore, partitions=({"k": value},)).pieces] == [(value, "1")]


def test_partitions_that_are_not_asked_for_are_not_fetched(
    metastore: Metastore, service: client.Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    metastore.table("t", COLUMNS, keys=("ds", "hr"))
    metastore.add_partitions(*VALUES, columns=COLUMNS)
    calls: list[tuple[Any, ...]] = []
    real = service._connection.call

    def counted(*call: Any) -> Any:
        calls.append(call)
        return real(*call)

    monkeypatch.setattr(service._connection, "call", counted)
    plan(service, metastore, partitions=({"ds": "2008-04-09", "hr": "11"},))
    assert [call[0] for call in calls] == ["get_table_req", "get_partition_names_ps", "get_partitions_by_names"]
    assert calls[1][3] == ["2008-04-09", "11"]
    assert calls[2][3] == ["ds=2008-04-09/hr=11"]


def test_a_table_without_keys_is_one_piece(metastore: Metastore, service: client.Metastore) -> None:
    metastore.table("t", COLUMNS, parameters={"mine": "1"})
    made = plan(service, metastore, columns=())
    assert [(piece.name, piece.parameters["mine"]) for piece in made.pieces] == [(WHOLE_TABLE, "1")]
    assert made.pieces[0].location.endswith("/t")
    assert (made.whole, made.types, made.skipped) == (True, {}, {})


@pytest.mark.parametrize(
    ("parameters", "refused"),
    [
        ({}, False),
        ({"spark.sql.sources.provider": "hive"}, False),
        ({"spark.sql.sources.provider": "parquet"}, True),
        ({"spark.sql.sources.provider": "parquet", "spark.sql.partitionProvider": "filesystem"}, True),
        ({"spark.sql.sources.provider": "parquet", "spark.sql.partitionProvider": "catalog"}, False),
    ],
)
def test_partitions_that_spark_finds_in_the_folder_are_no_empty_table(
    our_metastore: Metastore, parameters: dict[str, str], refused: bool
) -> None:
    our_metastore.table("t", COLUMNS, keys=("ds", "hr"), parameters=parameters)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        if not refused:
            assert plan(service, our_metastore).pieces == ()
            return
        with pytest.raises(
            StatementError, match=r"\.t has no partition in the metastore, but Spark reads those of its"
        ):
            plan(service, our_metastore)
        with pytest.raises(StatementError, match=r"\.t has no partition with ds=1"):
            plan(service, our_metastore, partitions=({"ds": "1"},))
        our_metastore.add_partitions(*VALUES, columns=COLUMNS)
        assert len(plan(service, our_metastore).pieces) == len(VALUES)


@pytest.mark.parametrize(
    ("keys", "wanted", "sentence"),
    [
        (("ds",), {"partitions": ({"dt": "x"},)}, r"table .*\.t has no partition key dt, only ds"),
        ((), {"partitions": ({"ds": None},)}, r"table .*\.t has no partitions, so none with a key ds"),
        (("ds",), {"partitions": ({"ds": "1999"},)}, r"table .*\.t has no partition with ds=1999"),
        (("ds",), {"where": "ds = '1999'"}, r"table .*\.t has no partition that matches ds = '1999'"),
        ((), {"where": "ds = '1999'"}, r"table .*\.t has no partitions, so none matches ds = '1999'"),
        (("ds",), {"columns": ("ds",)}, "column ds of .* is a partition key"),
        (("ds",), {"columns": ("a", "c")}, r"table .*\.t has no column c, only a, b"),
        (("ds",), {"columns": ("b",)}, r"column b of .* is of type array<int>, without statistics"),
    ],
)
def test_what_is_not_there_is_refused(
    our_metastore: Metastore, keys: tuple[str, ...], wanted: dict[str, Any], sentence: str
) -> None:
    our_metastore.table("t", COLUMNS, keys=keys)
    with (
        client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service,
        pytest.raises(StatementError, match=sentence),
    ):
        plan(service, our_metastore, **wanted)


def test_a_table_that_is_not_there_is_refused(our_metastore: Metastore) -> None:
    with (
        client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service,
        pytest.raises(StatementError, match=r"table .*\.t is not in the metastore at thrift://127"),
    ):
        plan(service, our_metastore)


def test_a_partition_is_named_by_any_text_of_its_value(metastore: Metastore, service: client.Metastore) -> None:
    keys = [api.FieldSchema(name=name, type=type_, comment="") for name, type_ in (("m", "int"), ("r", "decimal(4,2)"))]
    table = api.Table(
        tableName="t",
        dbName=metastore.database,
        owner="tester",
        sd=metastore.storage(COLUMNS),
        partitionKeys=keys,
        parameters={},
        tableType="MANAGED_TABLE",
    )
    metastore.client().create_table(table)
    metastore.add_partitions(("01", "1.5"), ("1", "1.50"), ("2", "1.5"), columns=COLUMNS)
    made = plan(service, metastore, partitions=({"m": "001", "r": "1.500"},))
    assert sorted(piece.values for piece in made.pieces) == [("01", "1.5"), ("1", "1.50")]
    assert [key.type for key in made.key_columns] == ["int", "decimal(4,2)"]


@pytest.mark.parametrize(
    ("parameters", "input_format", "format_name"),
    [
        ({"table_type": "ICEBERG"}, None, "Iceberg"),
        ({"storage_handler": "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"}, None, "Iceberg"),
        ({"spark.sql.sources.provider": "delta"}, None, "Delta Lake"),
        ({"table_type": "delta"}, None, "Delta Lake"),
        ({"spark.sql.sources.provider": "HUDI"}, None, "Hudi"),
        ({}, "org.apache.hudi.hadoop.HoodieParquetInputFormat", "Hudi"),
        ({"table_type": "PAIMON"}, None, "Paimon"),
        ({"storage_handler": "org.apache.paimon.hive.PaimonStorageHandler"}, None, "Paimon"),
        ({}, "org.apache.paimon.hive.mapred.PaimonInputFormat", "Paimon"),
    ],
)
def test_tables_with_metadata_of_their_own_are_refused(
    our_metastore: Metastore, parameters: dict[str, str], input_format: str | None, format_name: str
) -> None:
    our_metastore.table("t", COLUMNS, parameters=parameters)
    if input_format:
        ask = our_metastore.client()
        struct = ask.get_table(our_metastore.database, "t")
        struct.sd.inputFormat = input_format
        ask.alter_table(our_metastore.database, "t", struct)
    name = TableName("hive", our_metastore.database, "t")
    sentence = f"table {our_metastore.database}.t is of the format {format_name}, which is not supported"
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        for request in (Statement(name), Statement(name, columns=(), noscan=True)):
            with pytest.raises(StatementError, match=sentence):
                make_plan(service, request)
            if format_name in ("Delta Lake", "Iceberg"):
                continue  # are analysed by their own metadata
            with pytest.raises(StatementError, match=sentence):
                dry_run(service, request)


@pytest.mark.parametrize("mark", ["flink.connector", "flink.connector.type"])
def test_tables_that_flink_alone_reads_are_refused(our_metastore: Metastore, mark: str) -> None:
    """As Flink's catalog stores them: tests/engines/flink/test_flink.py has it make some."""
    parameters = {mark: "kafka", "flink.schema.0.name": "a", "flink.schema.0.data-type": "INT"}
    our_metastore.table("t", {}, parameters=parameters)
    name = TableName("hive", our_metastore.database, "t")
    sentence = f"table {our_metastore.database}.t is read by Flink alone, through its connector kafka"
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        for request in (Statement(name), Statement(name, columns=(), noscan=True)):
            for plan_of in (make_plan, dry_run):
                with pytest.raises(StatementError, match=sentence):
                    plan_of(service, request)


def test_a_view_of_trino_is_refused(our_metastore: Metastore) -> None:
    our_metastore.table("v", parameters={"presto_view": "true", "comment": "Presto View"})
    name = TableName("hive", our_metastore.database, "v")
    sentence = f"table {our_metastore.database}.v is a view whose text Trino or Presto alone reads"
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        for plan_of in (make_plan, dry_run):
            with pytest.raises(StatementError, match=sentence):
                plan_of(service, Statement(name))


def of_spark(metastore: Metastore, *fields: dict[str, Any], provider: str = "csv", stub: bool = True) -> None:
    """A table of Spark's with these fields in its schema."""
    text = json.dumps({"type": "struct", "fields": [{"nullable": True, "metadata": {}, **each} for each in fields]})
    parameters = {"spark.sql.sources.provider": provider, "spark.sql.sources.schema": text}
    columns = {"col": "array<string>"} if stub else {each["name"]: each["type"] for each in fields}
    metastore.table("t", columns, parameters=parameters)


def test_a_table_of_sparks_has_the_columns_of_its_schema(metastore: Metastore, service: client.Metastore) -> None:
    """A Hive knows the stub alone, so that only rows and files are stored there."""
    of_spark(metastore, {"name": "A", "type": "long"}, {"name": "v", "type": "variant"})
    made = plan(service, metastore)
    if metastore.ours:
        assert (dict(made.types), dict(made.skipped)) == ({"a": "bigint"}, {"v": "type variant has no statistics"})
    else:
        assert dict(made.types) == {}
        assert set(made.skipped) == {"a", "v"}
        assert set(made.skipped.values()) == {
            "the metastore has none of the columns of Spark's schema, and so takes no statistics of them"
        }


def test_two_columns_of_one_name_are_left_out(our_metastore: Metastore) -> None:
    of_spark(our_metastore, *({"name": name, "type": "long"} for name in ("a", "A", "b")))
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        made = plan(service, our_metastore)
        assert dict(made.types) == {"b": "bigint"}
        assert dict(made.skipped) == {"a": "another column has the same name but for its case"}
        with pytest.raises(
            StatementError, match=r"column a of .* cannot be analysed: another column has the same name"
        ):
            plan(service, our_metastore, columns=("a",))


@pytest.mark.parametrize(("option", "in_files"), [("pathGlobFilter", False), ("modifiedbefore", False), ("x", True)])
def test_options_by_which_spark_reads_other_files_leave_the_reading_to_it(
    our_metastore: Metastore, option: str, in_files: bool
) -> None:
    of_spark(our_metastore, {"name": "a", "type": "double"}, provider="parquet")
    table = our_metastore.read_table("t")
    table.sd.serdeInfo.parameters[option] = "*.parquet"
    our_metastore.client().alter_table(our_metastore.database, "t", table)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        assert [piece.parquet for piece in plan(service, our_metastore).pieces] == [in_files]


@pytest.mark.parametrize(
    ("provider", "stub", "metadata", "in_files"),
    [
        ("parquet", True, {}, True),
        ("parquet", False, {}, True),
        ("parquet", False, {"EXISTS_DEFAULT": "5"}, False),
        ("orc", True, {}, False),
        ("hive", False, {}, True),
    ],
)
def test_which_tables_are_read_as_parquet_files(
    our_metastore: Metastore, provider: str, stub: bool, metadata: dict[str, str], in_files: bool
) -> None:
    field = {"name": "a", "type": "double", "metadata": metadata}
    of_spark(our_metastore, field, provider=provider, stub=stub)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        assert [piece.parquet for piece in plan(service, our_metastore).pieces] == [in_files]
