"""What an analysis will read: the metastore is asked for the wanted partitions only, and refuses what is not there."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.partition_spec import PartitionSpec
from hmstats.collector.pieces import WHOLE_TABLE
from hmstats.collector.plan import Plan, make_plan
from hmstats.collector.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog import TableName
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
    made = plan(service, metastore, partitions=spec)
    assert sorted(piece.values for piece in made.pieces) == expected
    assert made.whole is (expected == VALUES)
    assert (dict(made.types), list(made.skipped)) == ({"a": "int"}, ["b"])


def test_values_are_found_by_their_keys_type(metastore: Metastore, service: client.Metastore) -> None:
    keys = [api.FieldSchema(name=name, type=type_, comment="") for name, type_ in (("n", "int"), ("d", "date"))]
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
    metastore.add_partitions(("7", "2020-01-02"), ("17", "2020-01-02"), columns=COLUMNS)
    made = plan(service, metastore, partitions={"n": "007", "d": "2020-1-2"})
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
        assert [piece.values for piece in plan(service, metastore, partitions={"k": value}).pieces] == [(value, "1")]


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
    plan(service, metastore, partitions={"ds": "2008-04-09", "hr": "11"})
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
    ("keys", "wanted", "sentence"),
    [
        (("ds",), {"partitions": {"dt": "x"}}, r"table .*\.t has no partition key dt, only ds"),
        ((), {"partitions": {"ds": None}}, r"table .*\.t has no partitions, so none with a key ds"),
        (("ds",), {"partitions": {"ds": "1999"}}, r"table .*\.t has no partition with ds=1999"),
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
