"""A session that changes everything there is, step by step; each step's events are compared with a real Hive's.

`python -m tests.behaviour.metastore.event_session PORT` plays it and prints each step's events as JSON.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TSocket
from thriftpy2.transport.buffered import TCyBufferedTransport

from hmstats.wire.idl import SERVICE
from hmstats.wire.idl import hive_metastore as api

DATABASE = "events"
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"


def play(client: Any) -> dict[str, list[dict[str, Any]]]:
    """The events of each step, as plain values without what differs from run to run."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, step in STEPS.items():
        before = client.get_current_notificationEventId().eventId
        step(client)
        request = api.NotificationEventRequest(lastEvent=before)
        found[name] = [_plain(each) for each in client.get_next_notification(request).events]
    return found


def _plain(event: Any) -> dict[str, Any]:
    return {
        "type": event.eventType,
        "catalog": event.catName,
        "database": event.dbName,
        "table": event.tableName,
        "format": event.messageFormat,
        "message": _normal(json.loads(event.message)),
    }


def _normal(value: Any) -> Any:
    """A message without what differs from run to run; the JSON texts inside it are read too.

    A field that holds its default is as one that is left out.
    """
    if isinstance(value, dict):
        return {key: _normal(each) for key, each in value.items() if key not in _DIFFERENT and each not in _DEFAULTS}
    if isinstance(value, list) and _is_map(value):
        return _normal(value[-1])
    if isinstance(value, list):
        return [_normal(each) for each in value]
    if isinstance(value, str) and value.startswith("{"):
        return _normal(json.loads(value))
    if isinstance(value, str):
        return re.sub(r"file:[^\"]*/warehouse", "WAREHOUSE", value)
    return "TIME" if isinstance(value, int) and value > _LONG_AGO else value


def _is_map(value: list[Any]) -> bool:
    """Whether it is a map of the protocol: two types, a number, and the pairs."""
    return len(value) == 4 and isinstance(value[3], dict) and value[:2] == ["str", "str"]


_TABLE_ID = "25"
_COUNTED = ("numFiles", "totalSize", "numFilesErasureCoded", "COLUMN_STATS_ACCURATE")
_DIFFERENT = {"timestamp", "transient_lastDdlTime", "writeId", _TABLE_ID, *_COUNTED}
"""Keys whose values are times, ids, or what Hive counts by listing a directory."""
_DEFAULTS = ({"tf": 0}, {"i64": 0}, {"i64": -1})
_LONG_AGO = 1_600_000_000


def _storage(*columns: str) -> Any:
    return api.StorageDescriptor(
        cols=[api.FieldSchema(name=each, type="bigint", comment="") for each in columns],
        inputFormat=f"{_PARQUET}.MapredParquetInputFormat",
        outputFormat=f"{_PARQUET}.MapredParquetOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=api.SerDeInfo(
            name="", serializationLib=f"{_PARQUET}.serde.ParquetHiveSerDe", parameters={"serialization.format": "1"}
        ),
        bucketCols=[],
        sortCols=[],
        parameters={},
        skewedInfo=api.SkewedInfo(skewedColNames=[], skewedColValues=[], skewedColValueLocationMaps={}),
        storedAsSubDirectories=False,
    )


def _table(name: str, keys: Sequence[str] = (), **values: Any) -> Any:
    given = {
        "sd": _storage("a", "b"),
        "partitionKeys": [api.FieldSchema(name=key, type="string", comment="") for key in keys],
        "parameters": {"k": 'é"\n'},
        "tableType": "MANAGED_TABLE",
        "retention": 0,
        "owner": "tester",
        "ownerType": api.PrincipalType.USER,
        "temporary": False,
    }
    return api.Table(tableName=name, dbName=DATABASE, **(given | values))


def _partition(*values: str, table: str = "p", **given: Any) -> Any:
    return api.Partition(
        values=list(values), dbName=DATABASE, tableName=table, sd=_storage("a", "b"), parameters={}, **given
    )


def _read(client: Any, table: str) -> Any:
    return client.get_table_req(api.GetTableRequest(dbName=DATABASE, tblName=table)).table


def _statistics(partition: str | None = None, ndv: int = 3) -> Any:
    table = "t" if partition is None else "p"
    description = api.ColumnStatisticsDesc(
        isTblLevel=partition is None, dbName=DATABASE, tableName=table, partName=partition
    )
    data = api.LongColumnStatsData(lowValue=-1, highValue=9, numNulls=0, numDVs=ndv)
    column = api.ColumnStatisticsObj(colName="a", colType="bigint", statsData=api.ColumnStatisticsData(longStats=data))
    return api.ColumnStatistics(statsDesc=description, statsObj=[column])


def _create_database(client: Any) -> None:
    client.create_database(
        api.Database(
            name=DATABASE,
            description="of events",
            parameters={"k": "v"},
            ownerName="o",
            ownerType=api.PrincipalType.USER,
        )
    )


def _alter_database(client: Any) -> None:
    changed = client.get_database(DATABASE)
    changed.parameters = {"k": "w"}
    client.alter_database(DATABASE, changed)


def _alter_table(client: Any) -> None:
    changed = _read(client, "t")
    changed.parameters["comment"] = "new"
    client.alter_table_with_environment_context(DATABASE, "t", changed, None)


def _add_column(client: Any) -> None:
    changed = _read(client, "p")
    changed.sd.cols.append(api.FieldSchema(name="c", type="string", comment=None))
    cascade = api.EnvironmentContext(properties={"CASCADE": "true"})
    client.alter_table_with_environment_context(DATABASE, "p", changed, cascade)


def _rename_table(client: Any) -> None:
    changed = _read(client, "t")
    changed.tableName = "renamed"
    client.alter_table_with_environment_context(DATABASE, "t", changed, None)
    changed = _read(client, "renamed")
    changed.tableName = "t"
    client.alter_table_with_environment_context(DATABASE, "renamed", changed, None)


def _get_partition(client: Any, *values: str) -> Any:
    request = api.GetPartitionRequest(dbName=DATABASE, tblName="p", partVals=list(values))
    return client.get_partition_req(request).partition


def _add_partitions(client: Any) -> None:
    client.add_partitions_req(
        api.AddPartitionsRequest(
            dbName=DATABASE,
            tblName="p",
            parts=[_partition("1", "x"), _partition("2", "y/z")],
            ifNotExists=True,
            needResult=False,
        )
    )


def _add_known_partition(client: Any) -> None:
    new = [_partition("1", "x"), _partition("3", "x")]
    client.add_partitions_req(
        api.AddPartitionsRequest(dbName=DATABASE, tblName="p", parts=new, ifNotExists=True, needResult=True)
    )
    client.add_partitions_req(
        api.AddPartitionsRequest(dbName=DATABASE, tblName="p", parts=new, ifNotExists=True, needResult=True)
    )


def _alter_partitions(client: Any) -> None:
    changed = [_get_partition(client, "1", "x"), _get_partition(client, "2", "y/z")]
    for each in changed:
        each.parameters["k"] = "v"
    client.alter_partitions_with_environment_context(DATABASE, "p", changed, None)


def _alter_partition(client: Any) -> None:
    changed = _get_partition(client, "1", "x")
    changed.parameters["k"] = "w"
    client.alter_partition_with_environment_context(DATABASE, "p", changed, None)


def _rename_partition(client: Any) -> None:
    changed = _get_partition(client, "3", "x")
    changed.values = ["4", "x"]
    client.rename_partition(DATABASE, "p", ["3", "x"], changed)


def _fire(**values: Any) -> Callable[[Any], None]:
    data = values.pop("data")
    return lambda client: client.fire_listener_event(
        api.FireEventRequest(successful=True, data=api.FireEventRequestData(**data), dbName=DATABASE, **values)
    )


def _inserted(file: str, **values: Any) -> Any:
    return api.InsertEventRequestData(filesAdded=[f"file:///d/{file}"], filesAddedChecksum=["c0ffee"], **values)


def _key(column: str) -> dict[str, Any]:
    return {
        "table_db": DATABASE,
        "table_name": "constrained",
        "column_name": column,
        "enable_cstr": False,
        "validate_cstr": False,
        "rely_cstr": True,
        "catName": "hive",
    }


def _create_constrained(client: Any) -> None:
    client.create_table_with_constraints(
        _table("constrained"),
        [api.SQLPrimaryKey(**_key("a"), key_seq=1, pk_name="pk")],
        [],
        [],
        [api.SQLNotNullConstraint(**_key("a"), nn_name="nn")],
        [],
        [],
    )


def _add_constraints(client: Any) -> None:
    client.add_unique_constraint(
        api.AddUniqueConstraintRequest(
            uniqueConstraintCols=[api.SQLUniqueConstraint(**_key("b"), key_seq=1, uk_name="uk")]
        )
    )
    client.add_default_constraint(
        api.AddDefaultConstraintRequest(
            defaultConstraintCols=[api.SQLDefaultConstraint(**_key("b"), default_value="1", dc_name="df")]
        )
    )
    client.add_check_constraint(
        api.AddCheckConstraintRequest(
            checkConstraintCols=[api.SQLCheckConstraint(**_key("b"), check_expression="b > 0", dc_name="ck")]
        )
    )
    foreign = api.SQLForeignKey(
        pktable_db=DATABASE,
        pktable_name="constrained",
        pkcolumn_name="a",
        fktable_db=DATABASE,
        fktable_name="t",
        fkcolumn_name="a",
        key_seq=1,
        update_rule=0,
        delete_rule=0,
        fk_name="fk",
        pk_name="pk",
        enable_cstr=False,
        validate_cstr=False,
        rely_cstr=False,
        catName="hive",
    )
    client.add_foreign_key(api.AddForeignKeyRequest(foreignKeyCols=[foreign]))


def _drop_constraint(client: Any) -> None:
    client.drop_constraint(
        api.DropConstraintRequest(dbname=DATABASE, tablename="constrained", constraintname="uk", catName="hive")
    )


def _create_function(client: Any) -> None:
    client.create_function(
        api.Function(
            functionName="f",
            dbName=DATABASE,
            className="some.Class",
            ownerName="o",
            ownerType=api.PrincipalType.USER,
            createTime=0,
            functionType=api.FunctionType.JAVA,
            resourceUris=[api.ResourceUri(resourceType=api.ResourceType.JAR, uri="file:///f.jar")],
        )
    )


def _drop_by_names(client: Any) -> None:
    names = api.RequestPartsSpec(names=["k=2/l=y%2Fz", "k=4/l=x"])
    client.drop_partitions_req(
        api.DropPartitionsRequest(dbName=DATABASE, tblName="p", parts=names, deleteData=True, ifExists=True)
    )


def _elsewhere(storage: Any) -> Any:
    storage.location = None
    return storage


def _exchange(client: Any) -> None:
    client.create_table(_table("q", keys=("k", "l"), sd=_elsewhere(_read(client, "p").sd)))
    client.exchange_partitions({"k": "1", "l": "x"}, DATABASE, "p", DATABASE, "q")


STEPS: Mapping[str, Callable[[Any], Any]] = {
    "create database": _create_database,
    "alter database": _alter_database,
    "create table": lambda client: client.create_table(_table("t")),
    "create partitioned table": lambda client: client.create_table(_table("p", keys=("k", "l"))),
    "create view": lambda client: client.create_table(
        _table("v", tableType="VIRTUAL_VIEW", viewOriginalText="select 1", viewExpandedText="select 1 as x")
    ),
    "create external table": lambda client: client.create_table(
        _table("e", keys=("k",), tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    ),
    "alter table": _alter_table,
    "add partitions": _add_partitions,
    "add one partition": lambda client: client.add_partition(_partition("9", "x")),
    "add a known partition": _add_known_partition,
    "add partition to an external table": lambda client: client.add_partition(_partition("1", table="e")),
    "add a column": _add_column,
    "alter partitions": _alter_partitions,
    "alter partition": _alter_partition,
    "rename partition": _rename_partition,
    "update table statistics": lambda client: client.update_table_column_statistics(_statistics()),
    "update partition statistics": lambda client: client.update_partition_column_statistics(_statistics("k=1/l=x")),
    "set partitions' statistics": lambda client: client.set_aggr_stats_for(
        api.SetPartitionsStatsRequest(
            colStats=[_statistics("k=1/l=x", 5), _statistics("k=2/l=y%2Fz", 6)], engine="hive"
        )
    ),
    "insert into a table": _fire(tableName="t", data={"insertData": _inserted("1", replace=True)}),
    "insert into a partition": _fire(
        tableName="p", partitionVals=["1", "x"], data={"insertData": _inserted("2", replace=False)}
    ),
    "insert into partitions": _fire(
        tableName="p",
        data={"insertDatas": [_inserted("3", partitionVal=["1", "x"]), _inserted("4", partitionVal=["2", "y/z"])]},
    ),
    "reload": _fire(tableName="p", partitionVals=["1", "x"], data={"refreshEvent": True}),
    "reload a table": _fire(tableName="t", data={"refreshEvent": False}),
    "delete table statistics": lambda client: client.delete_table_column_statistics(DATABASE, "t", "a", "hive"),
    "delete partition statistics": lambda client: client.delete_partition_column_statistics(
        DATABASE, "p", "k=1/l=x", "a", "hive"
    ),
    "truncate table": lambda client: client.truncate_table(DATABASE, "t", None),
    "truncate partition": lambda client: client.truncate_table(DATABASE, "p", ["k=1/l=x"]),
    "truncate partitioned table": lambda client: client.truncate_table(DATABASE, "p", None),
    "rename table": _rename_table,
    "create table with constraints": _create_constrained,
    "add constraints": _add_constraints,
    "drop constraint": _drop_constraint,
    "create function": _create_function,
    "drop function": lambda client: client.drop_function(DATABASE, "f"),
    "create function again": _create_function,
    "drop partition": lambda client: client.drop_partition(DATABASE, "p", ["9", "x"], True),
    "drop partitions by name": _drop_by_names,
    "exchange partition": _exchange,
    "drop table": lambda client: client.drop_table(DATABASE, "t", True),
    "drop partitioned table": lambda client: client.drop_table(DATABASE, "p", True),
    "drop database with all in it": lambda client: client.drop_database(DATABASE, True, True),
}
"""Each step by what it does. Statistics are of column `a` of `t` and of partitions of `p`."""


def main() -> None:
    """Play the session and print what it left in the log."""
    transport = TCyBufferedTransport(TSocket("127.0.0.1", int(sys.argv[1]), socket_timeout=60_000))
    transport.open()
    with closing(TClient(SERVICE, TCyBinaryProtocol(transport))) as client:
        print(json.dumps(play(client), indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
