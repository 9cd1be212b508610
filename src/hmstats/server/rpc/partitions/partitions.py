"""Calls that find partitions."""

from typing import Any

from hmstats.errors import InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.names import written_spec
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE
from hmstats.server.messages.struct_codec import Encoded
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.access.privileges import Privileges
from hmstats.service.catalog.partitions.partitions import Partitions, TablePartitions
from hmstats.service.lookups import id_of
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.wire.catalog.objects import partition_to_thrift
from hmstats.wire.idl import hive_metastore
from hmstats.wire.partitions import partition_bytes
from hmstats.wire.partitions.partition_fields import as_requested
from hmstats.wire.privileges import set_to_thrift as privileges_to_thrift
from hmstats.wire.statistics.column_statistics import reads_timestamp_statistics, set_to_thrift


class PartitionCalls:
    """get and list of partitions."""

    def __init__(self, partitions: Partitions, statistics: StatisticsReader, privileges: Privileges) -> None:
        self._partitions = partitions
        self._privileges = privileges
        self._statistics = statistics

    def get_partition(self, session: Session, db_name: str, tbl_name: str, part_vals: list[str]) -> Any:
        """The partition with these values."""
        name = subject.table(db_name, tbl_name)
        return partition_to_thrift(name, self._partitions.get(name, part_vals or []))

    def get_partition_with_auth(
        self,
        session: Session,
        db_name: str,
        tbl_name: str,
        part_vals: list[str],
        user_name: str | None,
        group_names: list[str] | None,
    ) -> Any:
        """The partition with these values, with privileges of the user and groups if partitions have any."""
        found = self._partitions.with_values(subject.table(db_name, tbl_name), part_vals or [])
        return self._with_privileges(found, user_name, group_names or [])[0]

    def get_partition_by_name(self, session: Session, db_name: str, tbl_name: str, part_name: str) -> Any:
        """The partition of this name."""
        name = subject.table(db_name, tbl_name)
        return partition_to_thrift(name, self._partitions.by_name(name, part_name))

    def get_partition_req(self, session: Session, req: Any) -> Any:
        """The partition with these values."""
        name = subject.table(req.dbName, req.tblName, req.catName)
        found = self._partitions.get(name, req.partVals or [])
        return hive_metastore.GetPartitionResponse(partition=partition_to_thrift(name, found))

    def get_partitions_req(self, session: Session, req: Any) -> Any:
        """Every partition, or the first `maxParts`."""
        found = self._partitions.all(subject.table(req.dbName, req.tblName, req.catName), req.maxParts)
        return _wrap(_requested(found, req))

    def get_partitions_by_names_req(self, session: Session, req: Any) -> Any:
        """The named partitions that exist, with their column statistics if the request asks for them."""
        name = subject.table(req.db_name, req.tbl_name)
        try:
            found = _requested(self._partitions.by_names(name, _names(req.names)), req)
        except NoSuchObject as error:
            if not name.database:
                raise
            raise InvalidObject(str(error)) from error
        if not req.get_col_stats:
            return _wrap(found)
        structs = {each: partition_to_thrift(name, partition) for each, partition in found.partitions.items()}
        engine = req.engine or DEFAULT_ENGINE
        hive4 = reads_timestamp_statistics(engine)
        for each in self._statistics.partitions(name, list(structs), None, engine):
            structs[each.partition or ""].colStats = set_to_thrift(name, each, hive4=hive4)
        return hive_metastore.GetPartitionsByNamesResult(partitions=list(structs.values()))

    def get_partitions_by_filter_req(self, session: Session, req: Any) -> Any:
        """The partitions that match a filter."""
        name = subject.table(req.dbName, req.tblName, req.catName)
        return _listed(_requested(self._partitions.filtered(name, req.filter or "", req.maxParts), req))

    def get_partitions_ps_with_auth_req(self, session: Session, req: Any) -> Any:
        """The partitions of these names, or whose values begin with these, an empty value matching any."""
        name = subject.table(req.dbName, req.tblName, req.catName)
        if req.partNames is not None:
            found = self._partitions.by_names(name, req.partNames)
        elif req.partVals is None:
            found = self._partitions.all(name, req.maxParts)
        else:
            found = self._partitions.matching(name, req.partVals, req.maxParts)
        found = _requested(found, req)
        if req.userName is None or req.groupNames is None or not found.table.own_privileges:
            return _wrap(found)
        structs = self._with_privileges(found, req.userName, req.groupNames)
        return hive_metastore.GetPartitionsPsWithAuthResponse(partitions=structs)

    def fetch_partition_names_req(self, session: Session, partitionReq: Any) -> list[str]:
        """The partitions' names, sorted."""
        name = subject.table(partitionReq.dbName, partitionReq.tblName, partitionReq.catName)
        return self._partitions.names(name, partitionReq.maxParts)

    def get_partition_names_ps_req(self, session: Session, req: Any) -> Any:
        """The names of the partitions whose values begin with these, an empty value matching any."""
        name = subject.table(req.dbName, req.tblName, req.catName)
        names = self._partitions.names_matching(name, req.partValues or [], req.maxParts)
        return hive_metastore.GetPartitionNamesPsResponse(names=names)

    def get_partitions(self, session: Session, db_name: str, tbl_name: str, max_parts: int) -> Any:
        """Every partition, or the first `max_parts`."""
        return _listed(self._partitions.all(subject.table(db_name, tbl_name), max_parts))

    def get_partitions_with_auth(
        self,
        session: Session,
        db_name: str,
        tbl_name: str,
        max_parts: int,
        user_name: str | None,
        group_names: list[str] | None,
    ) -> Any:
        """Every partition, or the first `max_parts`; privileges as in `get_partition_with_auth`."""
        return self._structs_for(
            self._partitions.all(subject.table(db_name, tbl_name), max_parts), user_name, group_names
        )

    def get_partitions_ps(
        self, session: Session, db_name: str, tbl_name: str, part_vals: list[str], max_parts: int
    ) -> Any:
        """The partitions whose values begin with these, an empty value matching any."""
        return _listed(self._partitions.matching(subject.table(db_name, tbl_name), part_vals or [], max_parts))

    def get_partitions_ps_with_auth(
        self,
        session: Session,
        db_name: str,
        tbl_name: str,
        part_vals: list[str],
        max_parts: int,
        user_name: str | None,
        group_names: list[str] | None,
    ) -> Any:
        """The partitions whose values begin with these (empty matches any), with privileges.

        Privileges are those of `get_partition_with_auth`.
        """
        found = self._partitions.matching(subject.table(db_name, tbl_name), part_vals or [], max_parts)
        return self._structs_for(found, user_name, group_names)

    def _structs_for(self, found: TablePartitions, user: str | None, groups: list[str] | None) -> Any:
        if user is None or groups is None or not found.table.own_privileges:
            return _listed(found)
        return self._with_privileges(found, user, groups)

    def _with_privileges(self, found: TablePartitions, user: str | None, groups: list[str]) -> list[Any]:
        """The structs; with a user's and groups' privileges if the table's partitions have privileges of their own."""
        structs = {id_of(each): partition_to_thrift(found.table.name, each) for each in found.partitions.values()}
        if found.table.own_privileges:
            for each, grants in self._privileges.of_user_on_partitions(list(structs), user, groups).items():
                structs[each].privileges = privileges_to_thrift(grants)
        return list(structs.values())

    def get_partitions_by_names(self, session: Session, db_name: str, tbl_name: str, names: list[str] | None) -> Any:
        """The named partitions; a name without a partition is skipped."""
        return _listed(self._partitions.by_names(subject.table(db_name, tbl_name), _names(names)))

    def get_partitions_by_filter(
        self, session: Session, db_name: str, tbl_name: str, filter: str | None, max_parts: int
    ) -> Any:
        """The partitions that match a filter."""
        return _listed(self._partitions.filtered(subject.table(db_name, tbl_name), filter or "", max_parts))

    def get_num_partitions_by_filter(self, session: Session, db_name: str, tbl_name: str, filter: str | None) -> int:
        """How many partitions match a filter."""
        return self._partitions.count(subject.table(db_name, tbl_name), filter or "")

    def get_partition_names(self, session: Session, db_name: str, tbl_name: str, max_parts: int) -> list[str]:
        """The partitions' names, sorted."""
        return self._partitions.names(subject.table(db_name, tbl_name), max_parts)

    def get_partition_names_ps(
        self, session: Session, db_name: str, tbl_name: str, part_vals: list[str], max_parts: int
    ) -> list[str]:
        """The names of the partitions whose values begin with these, an empty value matching any."""
        return self._partitions.names_matching(subject.table(db_name, tbl_name), part_vals or [], max_parts)

    def partition_name_to_vals(self, session: Session, part_name: str) -> list[str]:
        """The values in a partition name."""
        return list(written_spec(part_name).values()) if part_name else []

    def partition_name_to_spec(self, session: Session, part_name: str) -> dict[str, str]:
        """Key to value of a partition name; keys keep their case."""
        return written_spec(part_name) if part_name else {}


def _names(names: list[str] | None) -> list[str]:
    if names is None:
        raise MetaError("the names of partitions must be a list, found none")
    return names


def _requested(found: TablePartitions, request: Any) -> TablePartitions:
    return found._replace(partitions=as_requested(found.partitions, request))


def _listed(found: TablePartitions) -> Encoded:
    return Encoded(partition_bytes.listed_result(found.table.name, found.partitions.columns))


def _wrap(found: TablePartitions) -> Encoded:
    """Encode a result whose only field is the list of partitions, such as PartitionsResponse."""
    return Encoded(partition_bytes.wrapped_result(found.table.name, found.partitions.columns))
