"""Errors as exceptions of the API, and back."""

import pytest
from thriftpy2.thrift import TApplicationException

from hmstats.errors import (
    AlreadyExists,
    CallRefused,
    HmstatsError,
    InvalidConstraint,
    InvalidInput,
    InvalidObject,
    InvalidOperation,
    MetaError,
    MissingStatistics,
    NoSuchLock,
    NoSuchObject,
    NoSuchTransaction,
    SettingHidden,
    SketchError,
    StoreUnavailable,
    TransactionAborted,
    TransactionOpen,
    UnknownCall,
)
from hmstats.wire.faults import TRY_AGAIN, from_thrift, to_thrift
from hmstats.wire.idl import hive_metastore, methods


@pytest.mark.parametrize(
    ("method", "error", "expected"),
    [
        ("get_table", NoSuchObject("x"), "NoSuchObjectException"),
        ("get_table", MetaError("x"), "MetaException"),
        ("get_table", InvalidObject("x"), "MetaException"),
        ("create_table", AlreadyExists("x"), "AlreadyExistsException"),
        ("drop_database", InvalidOperation("x"), "InvalidOperationException"),
        ("update_table_column_statistics", InvalidInput("x"), "InvalidInputException"),
        ("update_partition_column_statistics", InvalidObject("x"), "InvalidObjectException"),
        ("get_fields", NoSuchObject("x"), "UnknownTableException"),
        ("get_schema_req", NoSuchObject("x"), "UnknownTableException"),
        ("get_table_objects_by_name", NoSuchObject("x"), "UnknownDBException"),
        ("isPartitionMarkedForEvent", NoSuchObject("x"), "NoSuchObjectException"),
        ("alter_table", NoSuchObject("x"), "MetaException"),
        ("create_table_req", InvalidConstraint("x"), "InvalidObjectException"),
        ("get_table", SketchError("x"), "MetaException"),
        ("check_lock", NoSuchLock("x"), "NoSuchLockException"),
        ("commit_txn", NoSuchTransaction("x"), "NoSuchTxnException"),
        ("lock", TransactionAborted("x"), "TxnAbortedException"),
        ("unlock", TransactionOpen("x"), "TxnOpenException"),
        ("allocate_table_write_ids", NoSuchLock("x"), "MetaException"),
        ("get_config_value", SettingHidden("x"), "ConfigValSecurityException"),
        ("get_top_k", MissingStatistics("x"), "MissingStatisticsException"),
        ("get_table", MissingStatistics("x"), "MetaException"),
    ],
)
def test_an_error_becomes_an_exception_that_the_method_declares(
    method: str, error: HmstatsError, expected: str
) -> None:
    exception = to_thrift(error, methods()[method].throws)
    assert type(exception).__name__ == expected
    assert exception.message == "x"  # type: ignore[union-attr]


def test_what_may_pass_says_so() -> None:
    exception = to_thrift(StoreUnavailable("database x does not answer"), methods()["get_table"].throws)
    assert isinstance(exception, hive_metastore.MetaException)
    assert exception.message == "database x does not answer; try again later"
    assert exception.message.endswith(TRY_AGAIN)


def test_a_method_that_declares_none_has_none() -> None:
    assert to_thrift(NoSuchObject("x"), methods()["getName"].throws) is None


def test_a_refused_constraint_is_no_meta_exception() -> None:
    """The calls that add one declare nothing that fits; Hive's client takes an internal error for an answer."""
    assert to_thrift(InvalidConstraint("x"), methods()["add_primary_key"].throws) is None
    assert to_thrift(InvalidConstraint("x"), methods()["drop_constraint"].throws) is None


def test_a_client_gets_method_kind_and_message() -> None:
    error = from_thrift("get_table", hive_metastore.NoSuchObjectException(message="db.t table not found"))
    assert isinstance(error, CallRefused)
    assert (error.method, error.kind) == ("get_table", "NoSuchObjectException")
    assert str(error) == "get_table: NoSuchObjectException: db.t table not found"


def test_a_client_tells_an_unknown_call_from_a_refused_one() -> None:
    unknown = TApplicationException(TApplicationException.UNKNOWN_METHOD, "Invalid method name: 'get_top_k'")
    broken = TApplicationException(TApplicationException.INTERNAL_ERROR, "Internal error processing get_top_k")
    assert type(from_thrift("get_top_k", unknown)) is UnknownCall
    assert type(from_thrift("get_top_k", broken)) is CallRefused
