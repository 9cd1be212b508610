"""Calls beyond Hive's (thrift/hmstats.thrift): questions to sketches, and statistics with all that is kept of them."""

from dataclasses import replace
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, StatisticsSet
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.statistics.statistics import write_changed, write_sets
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.wire.idl import extension
from hmstats.wire.statistics import extension as codec


class ExtensionCalls:
    """Questions about columns, and statistics with their sketches and provenance."""

    def __init__(self, questions: StatisticsQuestions, writer: StatisticsWriter) -> None:
        self._questions = questions
        self._writer = writer

    def get_distinct_count(self, session: Session, request: Any) -> Any:
        """The number of distinct values of a column over a table or some partitions."""
        return codec.distinct_count_to_thrift(self._questions.distinct_count(*_question_of(request), _engine(request)))

    def get_quantiles(self, session: Session, request: Any) -> Any:
        """The values below which some fractions of a column's values lie."""
        fractions = request.fractions or []
        return codec.quantiles_to_thrift(self._questions.quantiles(*_question_of(request), fractions, _engine(request)))

    def get_top_k(self, session: Session, request: Any) -> Any:
        """A column's most frequent values over some partitions together."""
        if request.k is None:
            raise InvalidInput("a question for the most frequent values must have a k, found none")
        kind, found = self._questions.top_k(*_question_of(request), request.k, _engine(request))
        return codec.frequent_values_to_thrift(kind, found)

    def get_merged_statistics(self, session: Session, request: Any) -> Any:
        """Statistics of many columns, merged over all partitions of a table."""
        columns = [subject.column(each) for each in request.colNames or []]
        k = 10 if request.k is None else request.k
        found = self._questions.merged_columns(_table(request), columns, request.fractions or [], k, _engine(request))
        return codec.merged_to_thrift(*found)

    def get_provenance(self, session: Session, request: Any) -> Any:
        """Where the statistics of a table or of some partitions come from."""
        found = self._questions.provenance(_table(request), _columns(request), request.partNames)
        return extension.ProvenanceResult(details=[codec.column_provenance_to_thrift(each) for each in found])

    def get_statistics(self, session: Session, request: Any) -> Any:
        """Statistics of a table or of some partitions with their sketches and provenance."""
        name = _table(request)
        found = self._questions.statistics(name, _columns(request), request.partNames, _engine(request))
        structs, details = codec.sets_with_details_to_thrift(name, found, stamp=True)
        return extension.StatisticsResult(colStats=structs, details=details)

    def set_statistics(self, session: Session, request: Any) -> bool:
        """Write the statistics of a table or of many of its partitions with their sketches and provenance.

        Parameters in the request are changed in the same transaction. Locks do not count with
        `force`. The guard looks at what an `automatic` run sends. Without needMerge nothing of the stored statistics of
        a column stays, not even what the new ones do not say. Everything else works as in set_aggr_stats_for.
        """
        given = codec.sets_with_details_from_thrift(request.colStats or [], request.details or [], request.engine)
        sets = [(name, _with_author(each, subject.author(session))) for name, each in given]
        of_table = bool(sets) and request.colStats[0].statsDesc.isTblLevel
        options = WriteOptions(
            merge=bool(request.needMerge),
            author=subject.author(session),
            past_locks=bool(request.force),
            automatic=bool(request.automatic),
            replaces=not request.needMerge,
        )
        if request.parameters is None:
            write_sets(self._writer, sets, of_table, options)
            return True
        name, changes = codec.changes_from_thrift(request.parameters)
        write_changed(self._writer, name, changes, sets, options)
        return True


def _with_author(statistics: StatisticsSet, author: str) -> StatisticsSet:
    """The set with the caller as its author, not the author that it names."""
    columns = (
        replace(column, provenance=column.provenance and replace(column.provenance, writer=author))
        for column in statistics.columns
    )
    return replace(statistics, columns=tuple(columns))


def _question_of(request: Any) -> tuple[TableName, str, list[str] | None]:
    """Table, column and partitions of a question."""
    return _table(request), subject.column(request.colName), request.partNames


def _table(request: Any) -> TableName:
    return subject.table(request.dbName, request.tblName, request.catName)


def _columns(request: Any) -> list[str] | None:
    return None if request.colNames is None else [subject.column(each) for each in request.colNames]


def _engine(request: Any) -> str:
    return request.engine or DEFAULT_ENGINE
