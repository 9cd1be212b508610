"""Errors <-> the exceptions of the API: one table, read in both directions.

An exception can only be sent by a method that declares it. Where a method declares none that fits, MetaException says
it. Methods that declare UnknownTableException look for one table; Hive answers it even when the database is missing.
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
"""How a MetaException ends that says what may pass: the database is away, or the server is busy."""

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
"""For each error the exceptions that say it, the most fitting first."""


def to_thrift(error: Exception, throws: Mapping[type[Exception], str]) -> Any | None:
    """The exception that a method which declares `throws` can answer; None when it can answer none.

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
    """What a client raises for an exception that a metastore answered."""
    unknown = isinstance(exception, TApplicationException) and exception.type == TApplicationException.UNKNOWN_METHOD
    kind = UnknownCall if unknown else CallRefused
    return kind(method, type(exception).__name__, str(getattr(exception, "message", None) or exception))
