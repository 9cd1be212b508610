"""Every error that hmstats raises.

HmstatsError
├── MetastoreError              an answer of the metastore; has a Thrift exception (wire/faults.py has the table)
│   ├── NoSuchObject            a catalog, database, table, partition or statistic does not exist
│   │   └── UnknownTable        a table that does not exist, where clients tell it from a missing partition
│   ├── AlreadyExists           the name is taken
│   ├── MissingStatistics       a question that the stored statistics do not answer
│   ├── InvalidObject           an object is malformed, or contradicts what it belongs to
│   │   └── InvalidConstraint   a constraint names what is not there, or a name that is taken
│   ├── InvalidPartition        values that cannot be a partition's of the table
│   ├── InvalidInput            a statistic or argument makes no sense
│   ├── InvalidOperation        the state of the object forbids it
│   ├── NoSuchLock              a lock that was never asked for, was released, or has expired
│   ├── NoSuchTransaction       a transaction that was never opened, or is committed
│   ├── TransactionAborted      a transaction that was aborted, or not prolonged in time
│   ├── TransactionOpen         what a transaction holds ends with it, not before
│   ├── SettingHidden           a setting that no caller may read
│   └── MetaError               everything else that the metastore must say
│       ├── LockedStatistics    statistics that a lock protects
│       ├── UsedInViews         a drop of tables that materialized views read
│       ├── AccessDenied        the rules do not let the user do this to the object
│       ├── StoreUnavailable    the database is away or does not answer in time
│       ├── UpstreamUnavailable the metastore behind a gateway cannot be reached, or does not answer in time
│       │   ├── UpstreamAway    no address of it takes calls
│       │   ├── UpstreamSilent  it took a call and does not answer, so that it may carry it out yet
│       │   └── UserRefused     it takes no calls for the user
│       ├── UnknownExpression   a condition over partitions that cannot be read; its client may look for itself
│       ├── DatabaseTaken       the database is in the hands of another server
│       └── FilesBusy           another change of the same directories is under way
├── ProtocolError               bytes that are no message of ours
│   ├── MessageTooLarge         a message above the limit
│   ├── MessageTooSlow          a message whose rest has not arrived in time
│   └── NotAuthenticated        a request of a client that has not proven its user
├── UpstreamClosed              the metastore behind a gateway closed the connection in place of an answer
├── ClientGone                  a client that left before its reply was whole
├── SketchError                 bytes that are no sketch of the named kind
├── SchemaError                 the database's schema is not the one that this version needs
├── SettingsError               a setting has no meaning
│   └── SparkDoesNotStart       Spark does not start here, whatever it is asked for
├── GatheringFailed             statistics that a running write was to gather are not whole
├── StatementError              an ANALYZE statement, table, partition or column that cannot be analysed
│   └── SparkNeeded             a table that Spark alone reads, and an analysis without Spark
├── UnreadableFile              a data file that cannot be read
├── AnalysisIncomplete          an analysis that could not be done in whole
├── SpoolError                  a file of a spool folder that is damaged, or of another version
└── ServiceError                a metastore that was asked, seen from the client
    ├── ServiceUnavailable      no connection, or it broke
    └── CallRefused             it answered with an exception
        └── UnknownCall         it does not know the call
"""

from collections.abc import Sequence
from typing import Any, Self

_MISSING, _REFUSED = "NoSuchObjectException", "MetaException"
"""The names of Thrift exceptions for what does not exist, and for most refusals."""


class HmstatsError(Exception):
    """The root: its text is one sentence for the person who reads it."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The error whose text this is, as a trace of another process shows it."""
        return cls(text)


class MetastoreError(HmstatsError):
    """An answer of the metastore that says no."""


class NoSuchObject(MetastoreError):
    """A catalog, database, table, partition or statistic that does not exist."""


class UnknownTable(NoSuchObject):
    """A table that does not exist, in calls whose clients tell it from a missing partition."""


class MissingStatistics(MetastoreError):
    """A question that the stored statistics do not answer; the text has the statement that would make them."""


class AlreadyExists(MetastoreError):
    """A name that is taken."""


class InvalidObject(MetastoreError):
    """An object that is malformed or contradicts what it belongs to."""


class InvalidConstraint(InvalidObject):
    """A constraint that names what is not there, or whose name is taken."""


class InvalidPartition(MetastoreError):
    """Values that cannot be those of a partition of the table."""


class InvalidInput(MetastoreError):
    """A statistic or an argument that makes no sense."""


class InvalidOperation(MetastoreError):
    """A change that the state of the object forbids."""


class NoSuchLock(MetastoreError):
    """A lock that was never asked for, was released, or has expired."""


class NoSuchTransaction(MetastoreError):
    """A transaction that was never opened, or is committed."""


class TransactionAborted(MetastoreError):
    """A transaction that was aborted, or not prolonged in time."""


class TransactionOpen(MetastoreError):
    """A lock that belongs to an open transaction, and is released with it alone."""


class SettingHidden(MetastoreError):
    """A setting that no caller may read."""


class MetaError(MetastoreError):
    """Everything else that the metastore must say."""


class LockedStatistics(MetaError):
    """A write of statistics that a lock protects, and refuses to change."""


class UsedInViews(MetaError):
    """A drop of tables that materialized views read; `views` are the catalogs, databases and names of these."""

    def __init__(self, views: Sequence[tuple[str, str, str]], *, more: bool = False) -> None:
        """`more`: there are others, which the caller may not list."""
        named = [f"{database}.{table}" for _, database, table in views]
        others = ["others that you may not list"] if more else []
        listed = ", ".join(named + others)
        super().__init__(f"Cannot drop table as it is used in the following materialized views [{listed}]")
        self.views = tuple(views)


class AccessDenied(MetaError):
    """An action that the access rules do not allow the user on an object that it may see."""


class StoreUnavailable(MetaError):
    """The database is away or does not answer in time."""


class UpstreamUnavailable(MetaError):
    """The metastore behind a gateway cannot be reached, or does not answer in time."""


class UpstreamAway(UpstreamUnavailable):
    """No address of the metastore behind a gateway takes calls."""


class UpstreamSilent(UpstreamUnavailable):
    """The metastore behind a gateway took a call and does not answer in time: it may still carry it out."""


class UserRefused(UpstreamUnavailable):
    """The metastore behind a gateway is there and takes no calls for this user, who gets no answer from memory."""


class UnknownExpression(MetaError):
    """A condition over partitions that cannot be read. Reads answer it as an unknown call: Hive then looks itself."""


class DatabaseTaken(MetaError):
    """A database that a server has alone, or that others write to while one is to have it alone."""


class FilesBusy(MetaError):
    """Directories that another change has in hand; `changes` are those that are in the way, of these `places`."""

    def __init__(self, text: str, changes: Sequence[Any] = (), places: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.changes = changes
        self.places = places


class ProtocolError(HmstatsError):
    """Bytes that are no message of the protocol."""


class MessageTooLarge(ProtocolError):
    """A message above the limit."""


class MessageTooSlow(ProtocolError):
    """A message whose rest has not arrived in time."""


class NotAuthenticated(ProtocolError):
    """A request of a client that has not proven its user; `schemes` are the challenges of HTTP that it may answer."""

    def __init__(self, text: str, schemes: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.schemes = tuple(schemes)


class UpstreamClosed(HmstatsError):
    """The metastore behind a gateway closed the connection in place of a whole answer: its client sees the same."""


class ClientGone(HmstatsError):
    """A client that left, or was given up, before its reply was whole."""


class SketchError(HmstatsError):
    """Bytes that are no sketch of the named kind."""


class SchemaError(HmstatsError):
    """A database whose schema is not the one that this version needs."""


class SettingsError(HmstatsError):
    """A setting that has no meaning."""


class SparkDoesNotStart(SettingsError):
    """Spark does not start on this machine, or with these settings, whatever it is asked for."""


class GatheringFailed(HmstatsError):
    """Statistics that a running write should gather are incomplete, or could not be stored."""


class StatementError(HmstatsError):
    """An ANALYZE statement, or the table, partition or column in it, that cannot be analysed."""


class SparkNeeded(StatementError):
    """A table that Spark alone reads, and an analysis without Spark."""


class UnreadableFile(HmstatsError):
    """A data file that cannot be read, or whose values do not fit their columns."""


class AnalysisIncomplete(HmstatsError):
    """An analysis that could not be done in whole.

    `report` tells what is stored and what is missing; None means that nothing is known to be stored.
    """

    def __init__(self, message: str, report: object = None) -> None:
        super().__init__(message)
        self.report = report


class SpoolError(HmstatsError):
    """A file of a spool folder that is damaged, or of another version, or a folder that is not there."""


class ServiceError(HmstatsError):
    """A metastore that was asked, seen from the client."""


class ServiceUnavailable(ServiceError):
    """No connection could be made, or it broke before the answer came."""


class CallRefused(ServiceError):
    """The metastore answered with an exception; `kind` is the exception's Thrift name."""

    def __init__(self, method: str, kind: str, message: str) -> None:
        super().__init__(f"{method}: {kind}: {message}")
        self.method = method
        self.kind = kind
        self.message = message

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The refusal with this text; one without a method and a kind is all message."""
        method, first, rest = text.partition(": ")
        kind, second, message = rest.partition(": ")
        return cls(method, kind, message) if first and second else cls("call", cls.__name__, text)

    @property
    def is_missing(self) -> bool:
        """Whether an object of the call does not exist, or is not shown to the user."""
        return self.kind == _MISSING

    @property
    def is_of_one_object(self) -> bool:
        """Whether calls about other objects may succeed: this one is missing, locked, or not the user's."""
        return self.kind in (_MISSING, _REFUSED)


class UnknownCall(CallRefused):
    """The metastore does not know the call."""

    @property
    def is_of_one_object(self) -> bool:
        """False: the metastore knows the call for no object."""
        return False
