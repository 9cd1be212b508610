"""The calls beyond Hive's on the same port: beside Hive's own clients, and with requests that make no sense."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.behaviour.structs import of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TSocket
from thriftpy2.transport.buffered import TCyBufferedTransport

from hmstats.sketch.frequent.top_k import TopK
from hmstats.wire.idl import EXTENDED_SERVICE, extension
from hmstats.wire.idl import hive_metastore as api

Ask = Callable[..., Any]
_QUESTIONS = {
    "get_distinct_count": extension.DistinctCountRequest,
    "get_quantiles": extension.QuantilesRequest,
    "get_top_k": extension.TopKRequest,
}
_REFUSALS = (api.MetaException, api.InvalidInputException, api.NoSuchObjectException)


@pytest.fixture
def client(our_metastore: Metastore) -> Any:
    """A client of the extended service, which says who it is."""
    transport = TCyBufferedTransport(TSocket("127.0.0.1", our_metastore.port, socket_timeout=60_000))
    transport.open()
    made = TClient(EXTENDED_SERVICE, TCyBinaryProtocol(transport))
    our_metastore.clients.callback(made.close)
    made.set_ugi("ada", [])
    return made


def named(metastore: Metastore, **more: Any) -> dict[str, Any]:
    return {"dbName": metastore.database, "tblName": "t", **more}


def sketch(*values: str) -> bytes:
    made = TopK()
    made.add(list(values), [1] * len(values), len(values), 0)
    return made.to_bytes()


def request(metastore: Metastore, *details: Any, **more: Any) -> Any:
    """Statistics of column l with details."""
    structs = [statistics(metastore, statistics_of("l"))]
    return extension.SetStatisticsRequest(colStats=structs, details=list(details), **more)


def test_a_client_of_hives_writes_and_one_of_ours_reads(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    plain = our_metastore.client()
    plain.set_ugi("bea", ["staff"])
    plain.update_table_column_statistics(statistics(our_metastore, statistics_of("l"), statistics_of("b")))
    found = client.get_provenance(extension.StatisticsRequest(**named(our_metastore)))
    assert [(each.colName, each.engine, each.provenance.writer) for each in found.details] == [
        ("b", "hive", "bea"),
        ("l", "hive", "bea"),
    ]
    assert client.get_top_k(extension.TopKRequest(colName="B", **named(our_metastore))).values == [
        extension.FrequentValue(value="false", low=4, high=4),
        extension.FrequentValue(value="true", low=3, high=3),
    ]
    count = client.get_distinct_count(extension.DistinctCountRequest(colName="l", **named(our_metastore)))
    assert (count.count, count.standardError, count.exact) == (5, None, None)


def test_a_caller_who_gives_no_name_is_known_by_its_address(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    our_metastore.client().update_table_column_statistics(statistics(our_metastore, statistics_of("l")))
    found = client.get_provenance(extension.StatisticsRequest(**named(our_metastore)))
    assert found.details[0].provenance.writer == "127.0.0.1"


def test_one_of_ours_writes_and_a_client_of_hives_reads(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    said = extension.Provenance(exact=True, tool="tool 1", writer="someone else", writtenAt=1)
    details = extension.ColumnDetails(colName="l", topK=sketch("7", "8"), provenance=said)
    assert client.set_statistics(request(our_metastore, details)) is True
    assert of_table(our_metastore, "l")["l"].longStats.numDVs == 5
    found = client.get_statistics(extension.StatisticsRequest(**named(our_metastore)))
    (kept,) = found.details
    assert (kept.topK, kept.provenance.tool, kept.provenance.exact) == (details.topK, "tool 1", True)
    assert kept.provenance.writer == "ada"
    assert kept.provenance.writtenAt > 1_600_000_000
    (struct,) = found.colStats
    assert (struct.statsDesc.isTblLevel, struct.statsDesc.tableName) == (True, "t")


def test_statistics_and_details_are_written_together_or_not_at_all(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    wrong = [
        extension.ColumnDetails(colName="l", topK=b"corrupt"),
        extension.ColumnDetails(colName="l", topK=sketch("no number")),
        extension.ColumnDetails(colName="l", provenance=extension.Provenance(sampleFraction=2)),
        extension.ColumnDetails(colName="d", topK=sketch("1")),
        extension.ColumnDetails(topK=sketch("1")),
    ]
    for details in wrong:
        with pytest.raises(api.InvalidInputException):
            client.set_statistics(request(our_metastore, details))
    assert of_table(our_metastore, "l") == {}
    assert client.get_provenance(extension.StatisticsRequest(**named(our_metastore))).details == []


def test_merged_statistics_have_merged_details(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    details = extension.ColumnDetails(colName="l", topK=sketch("7"), provenance=extension.Provenance(rowsSeen=5))
    for _ in range(3):
        client.set_statistics(request(our_metastore, details, needMerge=True))
    (found,) = client.get_statistics(extension.StatisticsRequest(**named(our_metastore))).details
    assert TopK.from_bytes(found.topK).top() == [("7", 3, 3)]
    assert found.provenance.rowsSeen == 15


def test_a_question_that_nothing_stored_answers(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    for method, struct in _QUESTIONS.items():
        more = {"fractions": [0.5]} if method == "get_quantiles" else {}
        with pytest.raises(extension.MissingStatisticsException) as error:
            getattr(client, method)(struct(colName="l", **more, **named(our_metastore)))
        statement = f"ANALYZE TABLE {our_metastore.database}.t COMPUTE STATISTICS FOR COLUMNS l"
        assert error.value.message.endswith(f": {statement}")


@pytest.mark.parametrize("method", _QUESTIONS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"dbName": None},
        {"tblName": None},
        {"colName": None},
        {"colName": ""},
        {"tblName": "absent"},
        {"partNames": ["p=1"]},
        {"partNames": [""]},
        {"colName": "bin", "k": -1, "fractions": [-1.0]},
        {"colName": "d", "k": 0, "fractions": [float("inf")]},
        {"colName": "dec", "k": None, "fractions": None},
        {"catName": "nowhere"},
    ],
)
def test_requests_that_make_no_sense_are_refused_and_the_connection_lives(
    our_metastore: Metastore, client: Any, method: str, wrong: dict[str, Any]
) -> None:
    our_metastore.table()
    struct = _QUESTIONS[method]
    fields = {spec[1] for spec in struct.thrift_spec.values()}
    given = {**named(our_metastore), "colName": "l", "fractions": [0.5], **wrong}
    with pytest.raises((*_REFUSALS, extension.MissingStatisticsException)):
        getattr(client, method)(struct(**{key: value for key, value in given.items() if key in fields}))
    assert client.getName() == "hmstats"


def test_a_question_asked_again_is_answered_anew_after_each_write(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table(columns={"l": "bigint"}, keys=("k",))
    our_metastore.add_partitions(("1",), columns={"l": "bigint"})
    question = extension.TopKRequest(colName="l", **named(our_metastore))
    for values, partition in ((("7",), "k=1"), (("7", "8"), "k=1"), (("9",), "k=2")):
        if partition == "k=2":
            our_metastore.add_partitions(("2",), columns={"l": "bigint"})
        details = extension.ColumnDetails(colName="l", partName=partition, topK=sketch(*values))
        structs = [statistics(our_metastore, statistics_of("l"), partition=partition)]
        client.set_statistics(extension.SetStatisticsRequest(colStats=structs, details=[details]))
        first, second = (client.get_top_k(question) for _ in range(2))
        assert first == second
        assert {each.value for each in first.values} >= set(values)
    assert first.numValues == 3
    our_metastore.client().drop_partition(our_metastore.database, "t", ["1"], True)
    assert [each.value for each in client.get_top_k(question).values] == ["9"]


def test_nothing_written_is_nothing_changed(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    for empty in (extension.SetStatisticsRequest(), extension.SetStatisticsRequest(colStats=[], details=[])):
        assert client.set_statistics(empty) is True
    assert client.get_statistics(extension.StatisticsRequest(**named(our_metastore))).colStats == []


def test_details_go_with_a_dropped_column_and_table(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    client.set_statistics(request(our_metastore, extension.ColumnDetails(colName="l", topK=sketch("7"))))
    table = our_metastore.read_table()
    table.sd.cols = [each for each in table.sd.cols if each.name != "l"]
    context = api.EnvironmentContext(properties={})
    our_metastore.client().alter_table_with_environment_context(our_metastore.database, "t", table, context)
    wanted = extension.StatisticsRequest(**named(our_metastore))
    assert client.get_provenance(wanted).details == []
    our_metastore.client().drop_table(our_metastore.database, "t", True)
    our_metastore.table()
    assert client.get_provenance(wanted).details == []


def test_a_renamed_table_keeps_its_details(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table()
    client.set_statistics(request(our_metastore, extension.ColumnDetails(colName="l", topK=sketch("7"))))
    table = our_metastore.read_table()
    table.tableName = "u"
    our_metastore.client().alter_table(our_metastore.database, "t", table)
    found = client.get_top_k(extension.TopKRequest(dbName=our_metastore.database, tblName="u", colName="l"))
    assert [each.value for each in found.values] == ["7"]


def changes(metastore: Metastore, *given: Any) -> Any:
    return extension.ParameterChanges(changes=list(given), **named(metastore))


def test_parameters_are_changed_with_the_statistics(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table(parameters={"theirs": "1", "old": "x"})
    before = client.get_current_notificationEventId().eventId
    change = extension.ParameterChange(put={"numRows": "70", "own": "ü"}, remove=["old", "never"])
    assert client.set_statistics(request(our_metastore, parameters=changes(our_metastore, change)))
    found = our_metastore.read_table().parameters
    assert {key: found.get(key) for key in ("theirs", "old", "numRows", "own")} == {
        "theirs": "1",
        "old": None,
        "numRows": "70",
        "own": "ü",
    }
    assert "COLUMN_STATS_ACCURATE" in found
    asked = api.NotificationEventRequest(lastEvent=before, maxEvents=10)
    events = [each.eventType for each in client.get_next_notification(asked).events]
    assert events == ["ALTER_TABLE", "UPDATE_TBL_COL_STAT_EVENT"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([{}, {}], "must be one for each place"),
        ([], "must be one for each place"),
        ([{"partName": "k=1"}], "itself or about partitions of it, found both"),
    ],
)
def test_changes_that_make_no_sense_change_nothing(
    our_metastore: Metastore, client: Any, given: list[dict[str, Any]], sentence: str
) -> None:
    our_metastore.table()
    structs = [extension.ParameterChange(put={"own": "1"}, **each) for each in given]
    with pytest.raises(api.InvalidInputException, match=sentence):
        client.set_statistics(request(our_metastore, parameters=changes(our_metastore, *structs)))
    assert "own" not in our_metastore.read_table().parameters


def test_changes_of_a_partition_that_is_not_there_change_nothing(our_metastore: Metastore, client: Any) -> None:
    our_metastore.table(keys=("k",))
    our_metastore.add_partitions(("1",))
    structs = [extension.ParameterChange(partName=name, put={"own": "1"}) for name in ("k=1", "k=2")]
    with pytest.raises(api.NoSuchObjectException, match="has no partition k=2"):
        client.set_statistics(extension.SetStatisticsRequest(colStats=[], parameters=changes(our_metastore, *structs)))
    (partition,) = client.get_partitions_by_names(our_metastore.database, "t", ["k=1"])
    assert "own" not in partition.parameters
    nowhere = extension.ParameterChanges(dbName=our_metastore.database, tblName="none", changes=structs[:1])
    with pytest.raises(api.InvalidObjectException):
        client.set_statistics(extension.SetStatisticsRequest(colStats=[], parameters=nowhere))
