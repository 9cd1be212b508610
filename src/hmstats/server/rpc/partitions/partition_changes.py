"""Calls that change partitions."""

from collections.abc import Iterable, Iterator
from typing import Any

from hmstats.errors import InvalidObject, InvalidOperation, MetaError, MetastoreError, UnknownExpression
from hmstats.model.catalog.objects import Partition, TableName
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.contexts import PURGE, is_true, statistics_source
from hmstats.server.rpc.statistics.brought_statistics import BroughtStatistics
from hmstats.service.catalog.partitions.expressions import Expressions
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.wire.catalog.objects import partition_from_thrift, partition_to_thrift, partitions_from_thrift
from hmstats.wire.conditions.partition_expressions import condition_from_bytes
from hmstats.wire.idl import hive_metastore
from hmstats.wire.partitions.partition_specs import partitions_from_specs


class PartitionChangeCalls:
    """add, append, alter, rename, exchange and drop of partitions."""

    def __init__(
        self, changes: PartitionChanges, moves: PartitionMoves, expressions: Expressions, brought: BroughtStatistics
    ) -> None:
        self._changes = changes
        self._brought = brought
        self._moves = moves
        self._expressions = expressions

    def add_partition(self, session: Session, new_part: Any) -> Any:
        """Add one partition."""
        return self.add_partition_with_environment_context(session, new_part, None)

    def add_partition_with_environment_context(self, session: Session, new_part: Any, environment_context: Any) -> Any:
        """Add one partition; the context may say how its rows, files and bytes were counted."""
        name = subject.table(new_part.dbName, new_part.tableName, new_part.catName)
        if not new_part.values:
            raise MetaError("The partition values cannot be null or empty.")
        source = statistics_source(environment_context)
        also = self._brought.of_partitions(session, name, [new_part])
        added = self._changes.add(name, [partition_from_thrift(new_part)], source=source, also=also)
        return partition_to_thrift(name, added[0])

    def add_partitions(self, session: Session, new_parts: list[Any] | None) -> int:
        """Add partitions of one table, all or none; the number added."""
        if new_parts is None:
            raise MetaError("the partitions to add must be a list, found none")
        if not new_parts:
            return 0
        name = subject.table(new_parts[0].dbName, new_parts[0].tableName, new_parts[0].catName)
        also = self._brought.of_partitions(session, name, new_parts)
        return len(self._changes.add(name, self._of_table(name, new_parts, InvalidObject), also=also))

    def add_partitions_req(self, session: Session, request: Any) -> Any:
        """Add partitions of one table, all or none; existing ones are skipped if the request says so."""
        name = subject.table(request.dbName, request.tblName, request.catName)
        if not request.parts:
            return hive_metastore.AddPartitionsResult(partitions=[] if request.needResult else None)
        also = self._brought.of_partitions(session, name, request.parts)
        new = self._of_table(name, request.parts, InvalidObject)
        added = self._changes.add(
            name,
            new,
            if_not_exists=bool(request.ifNotExists),
            table_columns=bool(request.skipColumnSchemaForPartition),
            source=statistics_source(request.environmentContext),
            also=also,
        )
        result = _answer_structs(name, added, request) if request.needResult else None
        return hive_metastore.AddPartitionsResult(partitions=result)

    def add_partitions_pspec(self, session: Session, new_parts: list[Any] | None) -> int:
        """Add partitions of one table, given as lists or with a shared storage, all or none; the number added."""
        if new_parts is None:
            raise MetaError("the specifications of partitions must be a list, found none")
        if not new_parts:
            return 0
        name = subject.table(new_parts[0].dbName, new_parts[0].tableName, new_parts[0].catName)
        structs = partitions_from_specs(new_parts)
        also = self._brought.of_partitions(session, name, structs)
        return len(self._changes.add(name, self._of_table(name, structs, InvalidObject), also=also))

    def append_partition(self, session: Session, db_name: str, tbl_name: str, part_vals: list[str] | None) -> Any:
        """Add a partition with the table's storage."""
        name = subject.table(db_name, tbl_name)
        return partition_to_thrift(name, self._changes.append(name, part_vals or []))

    def append_partition_with_environment_context(
        self, session: Session, db_name: str, tbl_name: str, part_vals: list[str] | None, environment_context: Any
    ) -> Any:
        """Add a partition with the table's storage."""
        return self.append_partition(session, db_name, tbl_name, part_vals)

    def append_partition_by_name(self, session: Session, db_name: str, tbl_name: str, part_name: str | None) -> Any:
        """Add the partition of this name with the table's storage."""
        name = subject.table(db_name, tbl_name)
        return partition_to_thrift(name, self._changes.append_by_name(name, part_name or ""))

    def append_partition_by_name_with_environment_context(
        self, session: Session, db_name: str, tbl_name: str, part_name: str | None, environment_context: Any
    ) -> Any:
        """Add the partition of this name with the table's storage."""
        return self.append_partition_by_name(session, db_name, tbl_name, part_name)

    def append_partition_req(self, session: Session, appendPartitionsReq: Any) -> Any:
        """Add the partition of this name, or with these values, with the table's storage."""
        request = appendPartitionsReq
        name = subject.table(request.dbName, request.tableName, request.catalogName)
        if request.name is not None and not request.partVals:
            return partition_to_thrift(name, self._changes.append_by_name(name, request.name))
        return partition_to_thrift(name, self._changes.append(name, request.partVals or []))

    def alter_partition(self, session: Session, db_name: str, tbl_name: str, new_part: Any) -> None:
        """Replace one partition."""
        self._alter(session, subject.table(db_name, tbl_name), [new_part])

    def alter_partition_with_environment_context(
        self, session: Session, db_name: str, tbl_name: str, new_part: Any, environment_context: Any
    ) -> None:
        """Replace one partition; the context may say how its rows, files and bytes were counted."""
        self._alter(session, subject.table(db_name, tbl_name), [new_part], environment_context)

    def alter_partitions(self, session: Session, db_name: str, tbl_name: str, new_parts: list[Any] | None) -> None:
        """Replace partitions, all or none."""
        self._alter(session, subject.table(db_name, tbl_name), new_parts)

    def alter_partitions_with_environment_context(
        self, session: Session, db_name: str, tbl_name: str, new_parts: list[Any] | None, environment_context: Any
    ) -> None:
        """Replace partitions, all or none; the context may say how their rows, files and bytes were counted."""
        self._alter(session, subject.table(db_name, tbl_name), new_parts, environment_context)

    def alter_partitions_req(self, session: Session, req: Any) -> Any:
        """Replace partitions, all or none; the context may say how their rows, files and bytes were counted."""
        name = subject.table(req.dbName, req.tableName, req.catName)
        bare = bool(req.skipColumnSchemaForPartition)
        self._alter(session, name, req.partitions, req.environmentContext, table_columns=bare)
        return hive_metastore.AlterPartitionsResponse()

    def _alter(
        self,
        session: Session,
        name: TableName,
        structs: list[Any] | None,
        environment_context: Any = None,
        *,
        table_columns: bool = False,
    ) -> None:
        if structs is None:
            raise MetaError("the partitions to alter must be a list, found none")
        partitions = self._of_table(name, structs, InvalidOperation)
        source, statistics_only = statistics_source(environment_context), session.statistics_only
        self._changes.alter(name, partitions, source, table_columns=table_columns, statistics_only=statistics_only)

    def rename_partition(
        self, session: Session, db_name: str, tbl_name: str, part_vals: list[str] | None, new_part: Any
    ) -> None:
        """Replace the partition with these values by one with others; its statistics come along."""
        self._rename(subject.table(db_name, tbl_name), part_vals, new_part)

    def rename_partition_req(self, session: Session, req: Any) -> Any:
        """Replace the partition with these values by one with others; its statistics come along."""
        self._rename(subject.table(req.dbName, req.tableName, req.catName), req.partVals, req.newPart)
        return hive_metastore.RenamePartitionResponse()

    def _rename(self, name: TableName, values: list[str] | None, struct: Any) -> None:
        partitions = self._of_table(name, [struct], InvalidOperation)
        if values:
            self._moves.rename(name, values, partitions[0])
        else:
            self._changes.alter(name, partitions)

    def exchange_partition(
        self,
        session: Session,
        partitionSpecs: dict[str, str] | None,
        source_db: str,
        source_table_name: str,
        dest_db: str,
        dest_table_name: str,
    ) -> Any:
        """Hand partitions to another table; the answer has nothing in it, as in Hive."""
        self.exchange_partitions(session, partitionSpecs, source_db, source_table_name, dest_db, dest_table_name)
        return hive_metastore.Partition(writeId=None)

    def exchange_partitions(
        self,
        session: Session,
        partitionSpecs: dict[str, str] | None,
        source_db: str,
        source_table_name: str,
        dest_db: str,
        dest_table_name: str,
    ) -> list[Any]:
        """Hand the partitions whose first keys have these values to another table, with their statistics."""
        target = subject.table(dest_db, dest_table_name)
        source = subject.table(source_db, source_table_name)
        moved = self._moves.exchange(partitionSpecs or {}, source, target)
        return [partition_to_thrift(target, each) for each in moved]

    def drop_partition(
        self, session: Session, db_name: str, tbl_name: str, part_vals: list[str] | None, deleteData: bool
    ) -> bool:
        """Drop one partition."""
        self._drop(subject.table(db_name, tbl_name), None, part_vals, delete_data=bool(deleteData))
        return True

    def drop_partition_with_environment_context(
        self,
        session: Session,
        db_name: str,
        tbl_name: str,
        part_vals: list[str] | None,
        deleteData: bool,
        environment_context: Any,
    ) -> bool:
        """Drop one partition; with `ifPurge` its files skip the trash."""
        purge = is_true(environment_context, PURGE)
        self._drop(subject.table(db_name, tbl_name), None, part_vals, delete_data=bool(deleteData), purge=purge)
        return True

    def drop_partition_by_name(
        self, session: Session, db_name: str, tbl_name: str, part_name: str | None, deleteData: bool
    ) -> bool:
        """Drop the partition of this name."""
        self._drop(subject.table(db_name, tbl_name), part_name or "", None, delete_data=bool(deleteData))
        return True

    def drop_partition_by_name_with_environment_context(
        self,
        session: Session,
        db_name: str,
        tbl_name: str,
        part_name: str | None,
        deleteData: bool,
        environment_context: Any,
    ) -> bool:
        """Drop the partition of this name; with `ifPurge` its files skip the trash."""
        purge = is_true(environment_context, PURGE)
        self._drop(subject.table(db_name, tbl_name), part_name or "", None, delete_data=bool(deleteData), purge=purge)
        return True

    def drop_partition_req(self, session: Session, dropPartitionReq: Any) -> bool:
        """Drop the partition of this name, or with these values."""
        request = dropPartitionReq
        name = subject.table(request.dbName, request.tblName, request.catName)
        purge = is_true(request.environmentContext, PURGE)
        self._drop(name, request.partName, request.partVals, delete_data=bool(request.deleteData), purge=purge)
        return True

    def _drop(
        self,
        name: TableName,
        partition: str | None,
        values: list[str] | None,
        *,
        delete_data: bool,
        purge: bool = False,
    ) -> None:
        if partition is not None and not values:
            self._changes.drop_by_name(name, partition, delete_data=delete_data, purge=purge)
        elif values is None:
            raise MetaError("The partition values cannot be null.")
        else:
            self._changes.drop(name, values, delete_data=delete_data, purge=purge)

    def drop_partitions_req(self, session: Session, req: Any) -> Any:
        """Drop partitions by name, or those that match conditions; all or none. Without `ifExists` all must exist."""
        name = subject.table(req.dbName, req.tblName, req.catName)
        if_exists = bool(req.ifExists)
        names = self._partition_names(name, req.parts, if_exists=if_exists)
        whole = req.needResult is not False
        dropped = self._changes.drop_many(
            name,
            names,
            if_exists=if_exists,
            delete_data=bool(req.deleteData),
            whole=whole,
            purge=is_true(req.environmentContext, PURGE),
        )
        result = _answer_structs(name, dropped, req) if whole else None
        return hive_metastore.DropPartitionsResult(partitions=result)

    def _partition_names(self, name: TableName, specification: Any, *, if_exists: bool) -> list[str]:
        if specification is None or (specification.names is None and specification.exprs is None):
            raise MetaError("Partition spec is not set")
        if specification.names is not None:
            return list(specification.names)
        try:
            conditions = [condition_from_bytes(each.expr) for each in specification.exprs]
            return self._expressions.names_of_each(name, conditions, if_exists=if_exists)
        except UnknownExpression as error:
            raise MetaError(f"partitions of table {name} to drop must be named or found by values: {error}") from error

    def _of_table(self, name: TableName, structs: list[Any], missing: type[MetastoreError]) -> list[Partition]:
        """The partitions of one table's structs. Empties the list: 100,000 structs need more memory than partitions.

        Raises MetaError for one that is null or another table's, and `missing` instead if there is no such table.
        """
        for struct in structs:
            if struct is None:
                raise MetaError(f"a partition in a call about table {name} must not be null")
            if (struct.dbName or "").lower() != name.database or (struct.tableName or "").lower() != name.table:
                self._changes.require(name, missing)
                raise MetaError(
                    f"every partition of a call must be of table {name}, found {struct.dbName}.{struct.tableName}"
                )
        return partitions_from_thrift(_drain(structs))


def _answer_structs(name: TableName, partitions: Iterable[Partition], request: Any) -> list[Any]:
    """The structs of partitions, without their columns if the request says so."""
    structs = [partition_to_thrift(name, each) for each in partitions]
    if request.skipColumnSchemaForPartition:
        for each in structs:
            if each.sd is not None:
                each.sd.cols = []
    return structs


def _drain(structs: list[Any]) -> Iterator[Any]:
    """The structs, each of which can be freed when the next one is taken; the list is empty at the end."""
    structs.reverse()
    while structs:
        yield structs.pop()
