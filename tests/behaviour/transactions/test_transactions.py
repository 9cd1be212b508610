"""Transactions and write ids: counted, ended once, and what a reader may see of them."""

from typing import Any

import pytest
from tests.behaviour.transactions.locking import ABORTED, OPEN, abort, commit, open_transactions
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

NOBODY = 999_999
READ_ONLY = 2


@pytest.fixture
def metastore(metastore_with_transactions: Metastore) -> Metastore:
    return metastore_with_transactions


def write_ids(metastore: Metastore, *transactions: int, table: str = "t", **values: Any) -> dict[int, int]:
    """Take write ids of a table."""
    if metastore.generation < 3:
        pytest.skip("write ids came with Hive 3")
    asked = api.AllocateTableWriteIdsRequest(
        dbName=metastore.database, tableName=table, txnIds=list(transactions), **values
    )
    return {each.txnId: each.writeId for each in metastore.client().allocate_table_write_ids(asked).txnToWriteIds}


def valid(metastore: Metastore, snapshot: str, *tables: str) -> list[Any]:
    """What a reader sees of tables in a list of transactions."""
    names = [f"{metastore.database}.{table}" for table in tables]
    asked = api.GetValidWriteIdsRequest(fullTableNames=names, validTxnList=snapshot)
    found: list[Any] = metastore.client().get_valid_write_ids(asked).tblValidWriteIds
    assert [each.fullTableName for each in found] == names
    return found


def unseen(found: Any) -> tuple[int, list[int], int | None, bytes]:
    """The fields of a TableValidWriteIds."""
    return found.writeIdHighWaterMark, found.invalidWriteIds, found.minOpenWriteId, found.abortedBits


def test_ids_are_counted(metastore: Metastore) -> None:
    first = open_transactions(metastore, 3)
    second = open_transactions(metastore)
    assert first == list(range(first[0], first[0] + 3))
    assert second[0] > first[-1]


def test_a_call_opens_a_thousand_at_most(our_metastore: Metastore) -> None:
    """As Hive 2.3 and 4.0; 3.1 opens all."""
    ids = open_transactions(our_metastore, 1_001)
    assert len(ids) == 1_000
    our_metastore.client().abort_txns(api.AbortTxnsRequest(txn_ids=ids))


def test_a_transaction_must_be_wanted(metastore: Metastore) -> None:
    with pytest.raises(TApplicationException, match="Internal error processing open_txns"):
        metastore.client().open_txns(api.OpenTxnRequest(num_txns=-1, user="ada", hostname="here"))


def test_transactions_are_listed_until_they_are_committed(metastore: Metastore) -> None:
    (committed, aborted, still_open) = open_transactions(metastore, 3)
    commit(metastore, committed)
    abort(metastore, aborted)
    info = metastore.client().get_open_txns_info()
    states = {each.id: each.state for each in info.open_txns}
    assert info.txn_high_water_mark >= still_open
    assert committed not in states
    assert (states[aborted], states[still_open]) == (ABORTED, OPEN)
    found = next(each for each in info.open_txns if each.id == still_open)
    assert (found.user, found.hostname) == ("ada", "here")
    if metastore.generation > 2.3:
        assert found.lastHeartbeatTime >= found.startedTime > 1_600_000_000_000


def test_a_bit_says_which_of_the_listed_are_aborted(metastore: Metastore) -> None:
    (committed, aborted, still_open) = open_transactions(metastore, 3)
    if metastore.generation < 3:
        pytest.skip("Hive 2.3 lists them as a set, without bits")
    commit(metastore, committed)
    abort(metastore, aborted)
    found = metastore.client().get_open_txns()
    bits = int.from_bytes(found.abortedBits, "little")
    flags = {each: bool(bits >> index & 1) for index, each in enumerate(found.open_txns)}
    assert (flags.get(committed), flags[aborted], flags[still_open]) == (None, True, False)
    assert found.open_txns == sorted(found.open_txns)
    assert found.min_open_txn <= still_open <= found.txn_high_water_mark


def test_some_types_are_left_out(our_metastore: Metastore) -> None:
    (reader,) = open_transactions(our_metastore, txn_type=READ_ONLY)
    (writer,) = open_transactions(our_metastore)
    found = our_metastore.client().get_open_txns_req(api.GetOpenTxnsRequest(excludeTxnTypes=[READ_ONLY]))
    assert writer in found.open_txns
    assert reader not in found.open_txns
    assert found.min_open_txn <= reader


def test_a_transaction_ends_once(metastore: Metastore) -> None:
    """A client that repeats its call after it lost the answer gets the same answer."""
    if metastore.flavour in ("hive-2.3", "hive-3.1"):
        pytest.skip("before Hive 4 a committed transaction that wrote nothing is forgotten at once")
    (committed, aborted) = open_transactions(metastore, 2)
    for _ in range(2):
        commit(metastore, committed)
        abort(metastore, aborted)
    with pytest.raises(api.TxnAbortedException, match="already aborted"):
        commit(metastore, aborted)
    with pytest.raises(api.NoSuchTxnException, match="is already committed"):
        abort(metastore, committed)


def test_a_transaction_that_never_was(metastore: Metastore) -> None:
    for end in (commit, abort):
        with pytest.raises(api.NoSuchTxnException, match=str(NOBODY)):
            end(metastore, NOBODY)
    if metastore.ours:
        with pytest.raises(api.NoSuchTxnException):
            metastore.client().add_dynamic_partitions(
                api.AddDynamicPartitions(txnid=NOBODY, dbname="d", tablename="t", partitionnames=["p=1"], writeid=1)
            )


def test_many_are_aborted_whatever_became_of_some(metastore: Metastore) -> None:
    (committed, aborted, still_open) = ids = open_transactions(metastore, 3)
    commit(metastore, committed)
    abort(metastore, aborted)
    metastore.client().abort_txns(api.AbortTxnsRequest(txn_ids=[*ids, NOBODY]))
    states = {each.id: each.state for each in metastore.client().get_open_txns_info().open_txns}
    assert (states.get(committed), states[aborted], states[still_open]) == (None, ABORTED, ABORTED)


def test_heartbeats_say_what_became_of_a_transaction(metastore: Metastore) -> None:
    (committed, aborted, still_open) = open_transactions(metastore, 3)
    commit(metastore, committed)
    abort(metastore, aborted)
    client = metastore.client()
    client.heartbeat(api.HeartbeatRequest(txnid=still_open))
    with pytest.raises(api.TxnAbortedException):
        client.heartbeat(api.HeartbeatRequest(txnid=aborted))
    with pytest.raises(api.NoSuchTxnException):
        client.heartbeat(api.HeartbeatRequest(txnid=committed))
    answer = client.heartbeat_txn_range(api.HeartbeatTxnRangeRequest(min=committed, max=still_open))
    assert set(answer.aborted) == {aborted}
    assert set(answer.nosuch) == {committed}


def test_write_ids_are_counted_for_each_table(metastore: Metastore) -> None:
    one, other = open_transactions(metastore, 2)
    assert write_ids(metastore, one) == {one: 1}
    assert write_ids(metastore, one) == {one: 1}
    assert write_ids(metastore, other, table="u") == {other: 1}
    (third,) = open_transactions(metastore)
    assert write_ids(metastore, third, other, table="T") == {other: 2, third: 3}


def test_a_write_id_may_be_taken_anew(our_metastore: Metastore) -> None:
    """As in Hive 4, whose queries do it when they waited for a lock."""
    (one,) = open_transactions(our_metastore)
    assert write_ids(our_metastore, one) == {one: 1}
    assert write_ids(our_metastore, one, reallocate=True) == {one: 2}
    assert write_ids(our_metastore, one) == {one: 2}


def test_only_an_open_transaction_takes_write_ids(our_metastore: Metastore) -> None:
    """Hive says nothing but that there was an internal error."""
    aborted, committed = open_transactions(our_metastore, 2)
    (reader,) = open_transactions(our_metastore, txn_type=READ_ONLY)
    abort(our_metastore, aborted)
    commit(our_metastore, committed)
    for transaction, expected in (
        (aborted, api.TxnAbortedException),
        (committed, api.NoSuchTxnException),
        (NOBODY, api.NoSuchTxnException),
        (reader, api.MetaException),
    ):
        with pytest.raises(expected):
            write_ids(our_metastore, transaction)
    with pytest.raises(api.MetaException, match="found none"):
        write_ids(our_metastore)


def test_a_reader_sees_the_writes_of_its_snapshot(metastore: Metastore) -> None:
    ids = seen, still_open, aborted, later = open_transactions(metastore, 4)
    given = write_ids(metastore, *ids)
    assert list(given.values()) == [1, 2, 3, 4]
    snapshot = f"{aborted}:{still_open}:{still_open}:{aborted}"
    (found,) = valid(metastore, snapshot, "t")
    assert unseen(found) == (3, [2, 3], 2, b"\x02")
    commit(metastore, seen)
    commit(metastore, later)
    assert unseen(valid(metastore, snapshot, "t")[0]) == unseen(found)
    assert unseen(valid(metastore, f"{later}:{later}:", "t")[0]) == (4, [], None, b"")


def test_a_snapshot_has_runs_of_ids(metastore: Metastore) -> None:
    """As Hive 4 writes them, after a few transactions in a row were aborted."""
    if metastore.generation < 4:
        pytest.skip("Hive before 4 writes and reads no runs")
    ids = open_transactions(metastore, 4)
    write_ids(metastore, *ids)
    for each in ids[1:]:
        abort(metastore, each)
    commit(metastore, ids[0])
    (found,) = valid(metastore, f"{ids[3]}:{2**63 - 1}::{ids[1]}-{ids[3]}", "t")
    assert unseen(found) == (4, [2, 3, 4], None, b"\x07")


def test_a_reader_of_several_tables(metastore: Metastore) -> None:
    (one,) = open_transactions(metastore)
    write_ids(metastore, one)
    commit(metastore, one)
    found, untouched = valid(metastore, f"{one}:{one}:", "t", "untouched")
    assert unseen(found) == (1, [], None, b"")
    assert unseen(untouched) == (0, [], None, b"")


def test_a_reader_without_a_snapshot_sees_what_is_true_now(our_metastore: Metastore) -> None:
    """As in Hive 4."""
    client = our_metastore.client()
    committed, still_open, aborted = open_transactions(our_metastore, 3)
    write_ids(our_metastore, committed, still_open, aborted)
    commit(our_metastore, committed)
    abort(our_metastore, aborted)
    name = f"{our_metastore.database}.T"
    (found,) = client.get_valid_write_ids(api.GetValidWriteIdsRequest(fullTableNames=[name])).tblValidWriteIds
    assert unseen(found) == (3, [2, 3], 2, b"\x02")
    as_first = api.GetValidWriteIdsRequest(fullTableNames=[name], writeId=1)
    assert unseen(client.get_valid_write_ids(as_first).tblValidWriteIds[0]) == (1, [], None, b"")
    with pytest.raises(api.MetaException, match="invalid write id 9"):
        client.get_valid_write_ids(api.GetValidWriteIdsRequest(fullTableNames=[name], writeId=9))


@pytest.mark.parametrize(
    "snapshot", ["rubbish", "x:1:", "1:1:x", "1:1:1:1:1", "9:1:3-1:", "9:1::1-9223372036854775807"]
)
def test_a_snapshot_must_be_one(our_metastore: Metastore, snapshot: str) -> None:
    with pytest.raises(api.MetaException, match="a list of transactions must be"):
        valid(our_metastore, snapshot, "t")


@pytest.mark.parametrize("name", ["t", "", "a.b.c", ".t", "d."])
def test_a_table_must_be_named_with_its_database(our_metastore: Metastore, name: str) -> None:
    with pytest.raises(api.MetaException, match=r"must be database\.table"):
        our_metastore.client().get_valid_write_ids(api.GetValidWriteIdsRequest(fullTableNames=[name]))


def test_the_highest_write_id_and_where_counting_starts(our_metastore: Metastore) -> None:
    """As in Hive 4."""
    client, database = our_metastore.client(), our_metastore.database
    highest = api.MaxAllocatedTableWriteIdRequest(dbName=database, tableName="t")
    assert client.get_max_allocated_table_write_id(highest).maxWriteId == 0
    client.seed_write_id(api.SeedTableWriteIdsRequest(dbName=database, tableName="t", seedWriteId=50))
    assert client.get_max_allocated_table_write_id(highest).maxWriteId == 50
    (one,) = open_transactions(our_metastore)
    assert write_ids(our_metastore, one) == {one: 51}
    with pytest.raises(api.MetaException, match="has given write ids already"):
        client.seed_write_id(api.SeedTableWriteIdsRequest(dbName=database, tableName="t", seedWriteId=60))


def test_transactions_are_counted_on_from_an_id(our_metastore: Metastore) -> None:
    (one,) = open_transactions(our_metastore)
    our_metastore.client().seed_txn_id(api.SeedTxnIdRequest(seedTxnId=one + 100))
    assert open_transactions(our_metastore, 2) == [one + 100, one + 101]
    with pytest.raises(api.MetaException, match=f"must be above {one + 101}"):
        our_metastore.client().seed_txn_id(api.SeedTxnIdRequest(seedTxnId=one + 101))


def test_write_ids_go_with_their_table(our_metastore: Metastore) -> None:
    insert_only = {"transactional": "true", "transactional_properties": "insert_only"}
    our_metastore.table(parameters=insert_only)
    (one,) = open_transactions(our_metastore)
    assert write_ids(our_metastore, one) == {one: 1}
    client, database = our_metastore.client(), our_metastore.database
    able = api.ClientCapabilities(values=[2])
    table = our_metastore.read_table(capabilities=able)
    table.tableName = "u"
    client.alter_table(database, "t", table)
    highest = api.MaxAllocatedTableWriteIdRequest(dbName=database, tableName="u")
    assert client.get_max_allocated_table_write_id(highest).maxWriteId == 1
    client.drop_table(database, "u", True)
    assert client.get_max_allocated_table_write_id(highest).maxWriteId == 0


def test_a_table_whose_rows_change_in_place_is_refused(our_metastore: Metastore) -> None:
    """Hive wants it in ORC, with buckets up to 2.3, and compacts it. Here nobody does."""
    acid = {"transactional": "true"}
    with pytest.raises(api.MetaException, match="cannot be transactional: ACID tables need compaction"):
        our_metastore.table(parameters=acid)
    our_metastore.table(parameters={"transactional": "false"})
    table = our_metastore.read_table()
    table.parameters |= acid
    with pytest.raises(api.MetaException, match="cannot be transactional"):
        our_metastore.client().alter_table(our_metastore.database, "t", table)
    assert our_metastore.parameters()["transactional"] == "false"


def test_transactional_says_true_or_false(metastore: Metastore) -> None:
    with pytest.raises(api.MetaException, match="'transactional' property of TBLPROPERTIES may only have value 'true'"):
        metastore.table(parameters={"TRANSACTIONAL": "maybe"})


def test_an_insert_only_table_is_for_clients_that_can_read_it(metastore: Metastore) -> None:
    if metastore.flavour == "hive-2.3":
        pytest.skip("insert-only tables came with Hive 3")
    if metastore.flavour == "hive-4.0":
        pytest.skip("Hive 4 wants capabilities of the creator too")
    metastore.table(parameters={"transactional": "true", "transactional_properties": "insert_only"})
    with pytest.raises(api.MetaException, match="Your client does not appear to support insert-only tables"):
        metastore.read_table()
    with pytest.raises(api.MetaException, match="Your client does not appear to support insert-only tables"):
        metastore.client().get_table(metastore.database, "t")
    able = api.ClientCapabilities(values=[2])
    assert metastore.read_table(capabilities=able).parameters["transactional_properties"] == "insert_only"


def test_a_transactional_table_is_made_by_any_client(metastore: Metastore) -> None:
    """Hive 4 takes it only from one that says what it can do, in the request's processorCapabilities."""
    if metastore.flavour == "hive-2.3":
        pytest.skip("insert-only tables came with Hive 3")
    parameters = {"transactional": "true", "transactional_properties": "insert_only"}
    if metastore.flavour == "hive-4.0":
        with pytest.raises(api.MetaException, match="Processor has no capabilities, cannot create an ACID table"):
            metastore.table(parameters=parameters)
    else:
        metastore.table(parameters=parameters)
    assert (metastore.client().get_all_tables(metastore.database) == ["t"]) == (metastore.flavour != "hive-4.0")


def test_compaction_is_refused(our_metastore: Metastore) -> None:
    """Hive queues it."""
    client = our_metastore.client()
    asked = api.CompactionRequest(dbname=our_metastore.database, tablename="t", type=1)
    with pytest.raises(TApplicationException, match="tables are not compacted by this metastore"):
        client.compact(asked)
    answer = client.compact2(asked)
    assert (answer.id, answer.accepted, answer.state) == (-1, False, "refused")
    assert "not compacted" in answer.errormessage
    assert client.show_compact(api.ShowCompactRequest()).compacts == []
    nothing_done = api.GetLatestCommittedCompactionInfoRequest(dbname=our_metastore.database, tablename="t")
    assert client.get_latest_committed_compaction_info(nothing_done).compactions == []
    assert client.find_next_compact("worker").ci is None
    assert client.find_next_compact2(api.FindNextCompactRequest(workerId="worker")).ci is None


def test_replication_is_refused(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    with pytest.raises(TApplicationException, match="replication is not supported"):
        client.open_txns(api.OpenTxnRequest(num_txns=1, user="ada", hostname="here", replPolicy="p"))
    (one,) = open_transactions(our_metastore)
    with pytest.raises(TApplicationException, match="replication is not supported"):
        client.commit_txn(api.CommitTxnRequest(txnid=one, replPolicy="p"))
    commit(our_metastore, one)


def test_readers_are_listed_where_their_type_is_not_left_out(metastore: Metastore) -> None:
    """A reader writes nothing that others must not see."""
    if metastore.generation < 4:
        pytest.skip("before Hive 4 transactions had no types")
    (writer,), (reader,) = open_transactions(metastore), open_transactions(metastore, txn_type=READ_ONLY)
    client = metastore.client()
    assert {writer, reader} & {*client.get_open_txns().open_txns} == {writer}
    for left_out, listed in (([], {writer, reader}), ([READ_ONLY], {writer}), ([0], {reader})):
        answer = client.get_open_txns_req(api.GetOpenTxnsRequest(excludeTxnTypes=left_out))
        assert {writer, reader} & {*answer.open_txns} == listed
    assert client.get_open_txns().txn_high_water_mark >= reader


def test_nothing_is_in_conflict(metastore: Metastore) -> None:
    if metastore.generation < 4:
        pytest.skip("get_latest_txnid_in_conflict came with Hive 4")
    assert metastore.client().get_latest_txnid_in_conflict(NOBODY) == 0
    metastore.client().add_write_ids_to_min_history(NOBODY, {})
