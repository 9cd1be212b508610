"""Errors <-> the exceptions of the API: one table, read in both directions.

A method can only send an exception that it declares. If it declares no fitting one, it sends a MetaException. Methods
that declare UnknownTableException look up one table; Hive sends it even if the database is missing.
"""

from collections.abc import Mapping
from typing import Any

from thriftpy2.thrift import TApplicationException

from hmstats.errors import (
    AlreadyExists,
    CallRefused,
    InvalidConstraint,
    InvalidInput,
    InvalidObject,
    InvalidOperation,
    InvalidPartition,
    MetaError,
    MetastoreError,
    MissingStatistics,
    NoSuchLock,
    NoSuchObject,
    NoSuchTransaction,
    SettingHidden,
    StoreUnavailable,
    TransactionAborted,
    TransactionOpen,
    UnknownCall,
    UnknownTable,
)
from hmstats.wire.idl import extension, hive_metastore

TRY_AGAIN = "; try again later"
"""The end of a MetaException about a temporary failure: the database is unavailable, or the server is busy."""

_EXCEPTIONS: dict[type[MetastoreError], tuple[Any, ...]] = {
    UnknownTable: (hive_metastore.UnknownTableException, hive_metastore.NoSuchObjectException),
    NoSuchObject: (
        hive_metastore.NoSuchObjectException,
        hive_metastore.UnknownTableException,
        hive_metastore.UnknownDBException,
    ),
    MissingStatistics: (extension.MissingStatisticsException,),
    AlreadyExists: (hive_metastore.AlreadyExistsException,),
    InvalidObject: (hive_metastore.InvalidObjectException,),
    InvalidPartition: (hive_metastore.InvalidPartitionException,),
    InvalidInput: (hive_metastore.InvalidInputException,),
    InvalidOperation: (hive_metastore.InvalidOperationException,),
    NoSuchLock: (hive_metastore.NoSuchLockException,),
    NoSuchTransaction: (hive_metastore.NoSuchTxnException,),
    TransactionAborted: (hive_metastore.TxnAbortedException,),
    TransactionOpen: (hive_metastore.TxnOpenException,),
    SettingHidden: (hive_metastore.ConfigValSecurityException,),
    MetaError: (hive_metastore.MetaException,),
}
"""The exceptions that stand for each error, the most fitting first."""


def to_thrift(error: Exception, throws: Mapping[type[Exception], str]) -> Any | None:
    """The exception to send for an error, if the method declares `throws`; None if it declares no fitting one.

    The calls on constraints declare no InvalidObjectException. Hive answers an internal error there, and its clients
    look for that, not for a MetaException.
    """
    fitting = next((each for kind, each in _EXCEPTIONS.items() if isinstance(error, kind)), ())
    otherwise = () if isinstance(error, InvalidConstraint) else (hive_metastore.MetaException,)
    message = f"{error}{TRY_AGAIN}" if isinstance(error, StoreUnavailable) else str(error)
    for exception in (*fitting, *otherwise):
        if exception in throws:
            return exception(message=message)
    return None


def from_thrift(method: str, exception: Exception) -> CallRefused:
    """The client's error for an exception that a metastore sent."""
    unknown = isinstance(exception, TApplicationException) and exception.type == TApplicationException.UNKNOWN_METHOD
    kind = UnknownCall if unknown else CallRefused
    return kind(method, type(exception).__name__, str(getattr(exception, "message", None) or exception))
