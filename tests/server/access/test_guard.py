"""What clients may do by the rules, asked over sockets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.access.guarded import Guarded, done, guarded, partition, raised, statistics, table
from tests.server.serving import Client

from hmstats.model.access.actions import Action
from hmstats.model.access.rules import ObjectName
from hmstats.server.access.filters import notifications
from hmstats.wire.idl import extension
from hmstats.wire.idl import hive_metastore as api

READER = '[[rule]]\nusers = ["ada"]\nobjects = ["hive.open"]\nallow = ["list", "read", "read_statistics"]\n'
ANALYST = '[[rule]]\nusers = ["ada"]\nobjects = ["hive.open"]\n'
ANALYST += 'allow = ["list", "read", "read_statistics", "write_statistics"]\n'

ACQUIRED = 1
SHARED_WRITE, EXCLUSIVE = 2, 3


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    with guarded(sqlite_url, tmp_path) as running:
        yield running


def _low(client: Client, database: str = "open") -> int:
    request = api.TableStatsRequest(dbName=database, tblName="t", colNames=["l"], engine="hive")
    found = done(client.ask("get_table_statistics_req", request=request)).tableStats
    return int(found[0].statsData.longStats.lowValue)


def test_what_is_listed_but_not_allowed_is_refused_with_user_action_object_and_rule(server: Guarded) -> None:
    server.rule(READER)
    refused = raised(server.client("ada").ask("drop_table", dbname="OPEN", name="T", deleteData=False))
    assert isinstance(refused, api.MetaException)
    assert refused.message == "ada may not drop hive.open.t: rule 2 does not allow it"
    refused = raised(server.client("ada").ask("create_table", tbl=table("open", "new")))
    assert refused.message == "ada may not create hive.open.new: rule 2 does not allow it"
    refused = raised(server.client("ada").ask("get_master_keys"))
    assert refused.message.endswith(": ada may not admin the server: no rule allows it")


CALLS_ABOUT_A_TABLE: dict[str, Any] = {
    "get_table": lambda name: {"dbname": "shut", "tbl_name": name},
    "get_table_req": lambda name: {"req": api.GetTableRequest(dbName="shut", tblName=name)},
    "drop_table": lambda name: {"dbname": "shut", "name": name, "deleteData": True},
    "get_partitions": lambda name: {"db_name": "shut", "tbl_name": name, "max_parts": -1},
    "get_partition_by_name": lambda name: {"db_name": "shut", "tbl_name": name, "part_name": "k=a"},
    "truncate_table": lambda name: {"dbName": "shut", "tableName": name, "partNames": None},
    "alter_table": lambda name: {"dbname": "shut", "tbl_name": name, "new_tbl": table("shut", name)},
    "update_table_column_statistics": lambda name: {"stats_obj": statistics("shut", name)},
    "get_table_column_statistics": lambda name: {"db_name": "shut", "tbl_name": name, "col_name": "l"},
    "get_table_objects_by_name": lambda name: {"dbname": "shut", "tbl_names": [name]},
}


@pytest.mark.parametrize("call", CALLS_ABOUT_A_TABLE)
def test_a_hidden_table_is_answered_for_as_one_that_does_not_exist(server: Guarded, call: str) -> None:
    server.rule(READER)
    ada, arguments = server.client("ada"), CALLS_ABOUT_A_TABLE[call]
    hidden, missing = (str(ada.ask(call, **arguments(name)).content).replace(f".{name} ", ".? ") for name in ("t", "u"))
    assert hidden == missing
    if call == "get_table":
        there_is_none = raised(server.client("root").ask(call, **arguments("u")))
        assert raised(ada.ask(call, **arguments("t"))).message.replace(".t ", ".u ") == there_is_none.message


@pytest.mark.parametrize(
    "named", [{"tblNames": ["t"]}, {"tblNames": ["nothing"]}, {"tblNames": []}, {"tablesPattern": "*"}, {}]
)
def test_a_hidden_database_is_answered_for_as_one_that_does_not_exist(server: Guarded, named: dict[str, Any]) -> None:
    server.rule('[[rule]]\nobjects = ["hive.open"]\nallow = ["list", "read"]\n')
    ada, root, names = server.client("ada"), server.client("root"), named.get("tblNames")

    def asked(client: Client, database: str) -> list[str]:
        request = api.GetTablesRequest(dbName=database, **named)
        answers = (
            client.ask("get_table_objects_by_name", dbname=database, tbl_names=names),
            client.ask("get_table_objects_by_name_req", req=request),
        )
        return [str(each.content).replace(database, "?") for each in answers]

    assert asked(ada, "shut") == asked(ada, "nothing")
    if named:
        assert asked(ada, "shut")[1] == asked(root, "nothing")[1]


def test_lists_hold_what_may_be_listed(server: Guarded) -> None:
    server.rule(READER + '[[rule]]\nusers = ["ada"]\nobjects = ["hive.shut.p"]\nallow = ["list"]\n')
    ada = server.client("ada")
    assert ada.ask("get_all_databases").value == ["open", "shut"]
    assert server.client("bob").ask("get_all_databases").value == []
    assert ada.ask("get_all_tables", db_name="open").value == ["p", "t"]
    assert ada.ask("get_all_tables", db_name="shut").value == ["p"]
    assert ada.ask("get_all_tables", db_name="shut").value == ada.ask("get_tables", db_name="shut", pattern="*").value
    summaries = ada.ask("get_table_meta", db_patterns="*", tbl_patterns="*", tbl_types=[]).value
    assert [(each.dbName, each.tableName) for each in summaries] == [("open", "p"), ("open", "t"), ("shut", "p")]
    found = ada.ask(
        "get_tables_ext",
        req=api.GetTablesExtRequest(catalog="hive", database="shut", tableNamePattern="*", requestedFields=1, limit=1),
    )
    assert [each.tblName for each in found.value] == ["p"]
    refused = raised(ada.ask("get_table_objects_by_name", dbname="shut", tbl_names=["t", "p"]))
    assert refused.message == "ada may not read hive.shut.p: rule 3 does not allow it"
    names = ada.ask("get_table_objects_by_name", dbname="open", tbl_names=["t", "p"]).value
    assert {each.tableName for each in names} == {"t", "p"}


def test_what_tables_are_is_told_to_those_who_may_read_them(server: Guarded) -> None:
    server.rule(READER + '[[rule]]\nusers = ["ada"]\nobjects = ["hive.shut.t"]\nallow = ["list"]\n')
    root, ada = server.client("root"), server.client("ada")
    for database in ("open", "shut"):
        changed = done(root.ask("get_table", dbname=database, tbl_name="t"))
        changed.parameters["comment"] = "pay of the board"
        done(root.ask("alter_table", dbname=database, tbl_name="t", new_tbl=changed))
    filters = ('hive_filter_field_params__comment like "pay%"', 'hive_filter_field_params__x = "1"')
    for client, database, names in ((root, "shut", ["t"]), (ada, "open", ["t"]), (ada, "shut", [])):
        asked: Any = {"dbname": database, "filter": " and ".join(filters), "max_tables": 1}
        assert client.ask("get_table_names_by_filter", **asked).value == names
    found = ada.ask("get_table_meta", db_patterns="*", tbl_patterns="t", tbl_types=[]).value
    assert {each.dbName: each.comments for each in found} == {"open": "pay of the board", "shut": None}


def test_a_projection_without_names_is_filtered_too(server: Guarded) -> None:
    server.rule(READER + '[[rule]]\nobjects = ["hive.shut"]\nallow = ["list"]\n')
    fields = api.GetProjectionsSpec(fieldList=["owner"])
    request = api.GetTablesRequest(dbName="shut", tablesPattern="*", projectionSpec=fields)
    assert done(server.client("ada").ask("get_table_objects_by_name_req", req=request)).tables == []
    request.dbName = "open"
    found = done(server.client("ada").ask("get_table_objects_by_name_req", req=request)).tables
    assert {each.tableName for each in found} == {"p", "t"}


@pytest.mark.parametrize("fields", [[], ["owner"], ["tableName"], ["dbName"], ["parameters"]])
def test_tables_of_a_pattern_of_databases_are_filtered_by_their_own_database(
    server: Guarded, fields: list[str]
) -> None:
    server.rule(
        '[[rule]]\nobjects = ["hive.shut"]\nallow = []\n[[rule]]\nobjects = ["hive.*"]\nallow = ["list", "read"]\n'
    )
    ada = server.client("ada")
    for databases in ("*", "open|shut", "@hive#*"):
        request = api.GetTablesRequest(dbName=databases, tablesPattern="t|p")
        request.projectionSpec = api.GetProjectionsSpec(fieldList=fields)
        found = done(ada.ask("get_table_objects_by_name_req", req=request)).tables
        assert {(each.dbName, each.tableName) for each in found} == {("open", "p"), ("open", "t")}


def test_a_cached_answer_is_given_to_those_who_may_read_it(server: Guarded) -> None:
    server.rule(READER)
    ada, bob = server.client("ada"), server.client("bob")
    for client in (ada, ada, ada):
        assert _low(client) == 1
        assert done(client.ask("get_table", dbname="open", tbl_name="t")).tableName == "t"
    request = api.TableStatsRequest(dbName="open", tblName="t", colNames=["l"], engine="hive")
    for _ in range(3):
        refused = raised(bob.ask("get_table_statistics_req", request=request))
        assert refused.message == "hive.open.t table not found"
        assert raised(bob.ask("get_table", dbname="open", tbl_name="t")).message == "hive.open.t table not found"
        assert raised(server.client(None).ask("get_table", dbname="open", tbl_name="t"))
    server.rule("")
    assert raised(ada.ask("get_table_statistics_req", request=request)).message == "hive.open.t table not found"
    server.rule('[[rule]]\ngroups = ["staff"]\nallow = ["list", "read", "read_statistics"]')
    assert _low(server.client("bob", "staff")) == 1
    assert raised(ada.ask("get_table_statistics_req", request=request))


def test_statistics_of_partitions_are_checked_on_the_fast_ways(server: Guarded) -> None:
    root, bob = server.client("root"), server.client("bob")
    described = api.ColumnStatisticsDesc(isTblLevel=False, dbName="open", tableName="p", partName="k=a")
    given = statistics("open", "p")
    given.statsDesc = described
    done(root.ask("update_partition_column_statistics", stats_obj=given))
    for names in (["k=a"], ["k=b"], ["k=a", "k=b"], ["k=b", "k=a"], ["k=b", "k=a"]):
        request = api.PartitionsStatsRequest(dbName="open", tblName="p", colNames=["l"], partNames=names, engine="hive")
        assert len(done(root.ask("get_partitions_statistics_req", request=request)).partStats) == ("k=a" in names)
        refused = raised(bob.ask("get_partitions_statistics_req", request=request))
        assert refused.message == "hive.open.p table not found"


def test_names_in_other_letters_and_with_a_catalog_are_the_same(server: Guarded) -> None:
    server.rule('[[rule]]\nobjects = ["hive.shut"]\nallow = []\n[[rule]]\nallow = ["list", "read"]')
    ada = server.client("ada")
    for database in ("shut", "SHUT", "@hive#shut", "@HIVE#Shut"):
        assert raised(ada.ask("get_table", dbname=database, tbl_name="T")).message == "hive.shut.t table not found"
        assert ada.ask("get_all_tables", db_name=database).value == []
        request = api.ForeignKeysRequest(foreign_db_name=f" {database} ", foreign_tbl_name=" t ")
        assert done(ada.ask("get_foreign_keys", request=request)).foreignKeys == []


def test_statistics_are_written_with_that_right_alone(server: Guarded) -> None:
    server.rule(READER)
    refused = raised(server.client("ada").ask("update_table_column_statistics", stats_obj=statistics("open", "t")))
    assert refused.message == "ada may not write_statistics hive.open.t: rule 2 does not allow it"
    server.rule(ANALYST)
    ada = server.client("ada")
    assert done(ada.ask("update_table_column_statistics", stats_obj=statistics("open", "t")))
    assert raised(ada.ask("update_table_column_statistics", stats_obj=statistics("shut", "t")))
    changes = extension.ParameterChanges(
        dbName="open", tblName="t", changes=[extension.ParameterChange(put={"numRows": "7"})]
    )
    request = extension.SetStatisticsRequest(colStats=[], parameters=changes)
    assert done(ada.ask("set_statistics", request=request))
    changes.changes[0].put = {"numRows": "7", "x": "2"}
    refused = raised(ada.ask("set_statistics", request=request))
    assert refused.message == "ada may not alter hive.open.t: rule 2 does not allow it"


def test_locks_on_statistics_need_the_right_to_lock(server: Guarded) -> None:
    server.rule(ANALYST)
    ada, root = server.client("ada"), server.client("root")
    lock = extension.StatisticsLock(dbName="open", tblName="t")
    for call in ("lock_statistics", "unlock_statistics"):
        refused = raised(ada.ask(call, request=lock))
        assert refused.message == "ada may not lock hive.open.t: rule 2 does not allow it"
    forced = extension.SetStatisticsRequest(colStats=[statistics("open", "t")], force=True)
    assert raised(ada.ask("set_statistics", request=forced)).message.startswith("ada may not lock hive.open.t")
    for database in ("open", "shut"):
        assert done(root.ask("lock_statistics", request=extension.StatisticsLock(dbName=database)))
    every = extension.StatisticsLocksRequest()
    assert [each.dbName for each in done(root.ask("get_statistics_locks", request=every)).locks] == ["open", "shut"]
    assert [each.dbName for each in done(ada.ask("get_statistics_locks", request=every)).locks] == ["open"]


def test_preferences_need_the_right_to_write_statistics(server: Guarded) -> None:
    server.rule(ANALYST)
    ada, root = server.client("ada"), server.client("root")
    put = {"sample": "0.5"}
    of_table = extension.PreferenceChanges(dbName="open", tblName="t", put=put)
    assert done(ada.ask("change_preferences", request=of_table)) == 0
    everything = raised(ada.ask("change_preferences", request=extension.PreferenceChanges(put=put)))
    assert everything.message.startswith("ada may not admin")
    shut = extension.PreferenceChanges(dbName="shut", put=put)
    assert raised(ada.ask("change_preferences", request=shut)).message == "There is no database hive.shut"
    for request in (shut, extension.PreferenceChanges(put=put)):
        assert done(root.ask("change_preferences", request=request)) == 0
    every = extension.PreferencesRequest()
    seen = {who: done(client.ask("get_preferences", request=every)) for who, client in (("ada", ada), ("root", root))}
    assert [each.dbName for each in seen["ada"].preferences] == [None, "open"]
    assert [each.dbName for each in seen["root"].preferences] == [None, "open", "shut"]


def test_an_alter_of_statistics_alone_needs_no_more(server: Guarded) -> None:
    server.rule(ANALYST)
    ada = server.client("ada")
    read = done(ada.ask("get_table", dbname="open", tbl_name="t"))
    read.parameters |= {"numRows": "70", "spark.sql.statistics.numRows": "70", "spark.sql.statistics.totalSize": "9"}
    done(ada.ask("alter_table", dbname="open", tbl_name="t", new_tbl=read))
    read = done(ada.ask("get_table", dbname="open", tbl_name="t"))
    assert read.parameters["numRows"] == "70"
    for change in ({"parameters": {**read.parameters, "x": "2"}}, {"owner": "ada"}, {"parameters": {"numRows": "70"}}):
        changed = api.Table(**(vars(read) | change))
        refused = raised(ada.ask("alter_table", dbname="open", tbl_name="t", new_tbl=changed))
        assert "hive.open.t may be altered in its statistics only" in refused.message
    read.sd.cols[0].type = "string"
    assert raised(ada.ask("alter_table", dbname="open", tbl_name="t", new_tbl=read))
    request = api.AlterTableRequest(
        dbName="open", tableName="t", table=done(ada.ask("get_table", dbname="open", tbl_name="t"))
    )
    request.environmentContext = api.EnvironmentContext(properties={"CASCADE": "true"})
    assert raised(ada.ask("alter_table_req", req=request))
    assert done(server.client("root").ask("get_table", dbname="open", tbl_name="t")).sd.cols[0].type == "bigint"


def test_partitions_may_be_altered_in_their_statistics(server: Guarded) -> None:
    server.rule(ANALYST)
    ada = server.client("ada")
    found = done(ada.ask("get_partition_by_name", db_name="open", tbl_name="p", part_name="k=a"))
    found.parameters["numRows"] = "3"
    done(ada.ask("alter_partition", db_name="open", tbl_name="p", new_part=found))
    found.parameters["y"] = "3"
    refused = raised(ada.ask("alter_partitions", db_name="open", tbl_name="p", new_parts=[found]))
    assert refused.message.startswith("partition k=a of table hive.open.p may be altered in its statistics only")
    assert raised(ada.ask("add_partition", new_part=partition("open", "c")))


def test_a_rename_needs_both_names(server: Guarded) -> None:
    server.rule('[[rule]]\nobjects = ["hive.open"]\nallow = ["list", "read", "alter"]\n')
    ada = server.client("ada")
    refused = raised(ada.ask("alter_table", dbname="open", tbl_name="t", new_tbl=table("open", "s")))
    assert refused.message == "ada may not create hive.open.s: rule 2 does not allow it"
    refused = raised(ada.ask("alter_table", dbname="open", tbl_name="t", new_tbl=table("shut", "s")))
    assert refused.message == "There is no database hive.shut"


def test_both_tables_of_an_exchange_are_checked(server: Guarded) -> None:
    server.rule('[[rule]]\nobjects = ["hive.open"]\nallow = ["list", "alter"]\n')
    for source, target in (("open", "shut"), ("shut", "open")):
        asked: Any = {"source_db": source, "source_table_name": "p", "dest_db": target, "dest_table_name": "p"}
        refused = raised(server.client("ada").ask("exchange_partitions", partitionSpecs={"k": "a"}, **asked))
        assert refused.message == "hive.shut.p table not found"


def test_a_database_is_dropped_with_its_tables_only_if_all_may_be(server: Guarded) -> None:
    server.rule(
        '[[rule]]\nobjects = ["hive.open.t"]\nallow = ["list"]\n'
        '[[rule]]\nobjects = ["hive.open"]\nallow = ["list", "drop"]\n'
    )
    refused = raised(server.client("ada").ask("drop_database", name="open", deleteData=False, cascade=True))
    assert refused.message == "ada may not drop hive.open: rule 2 does not allow it"


def test_a_constraint_of_another_table_is_refused(server: Guarded) -> None:
    server.rule('[[rule]]\nobjects = ["hive.open"]\nallow = ["list", "create"]\n')
    key = api.SQLPrimaryKey(table_db="shut", table_name="t", column_name="l", key_seq=1, pk_name="pk")
    request = api.CreateTableRequest(table=table("open", "new"), primaryKeys=[key])
    assert (
        raised(server.client("ada").ask("create_table_req", request=request)).message == "hive.shut.t table not found"
    )


def test_statistics_are_left_out_of_a_table_for_those_who_may_not_read_them(server: Guarded) -> None:
    server.rule('[[rule]]\nusers = ["ada"]\nallow = ["list", "read"]\n')
    shown = "spark.sql.statistics.colStats.l.min"
    wanted: Any = {"dbname": "open", "tbl_name": "t"}
    counted = extension.ParameterChange(put={"numRows": "7", "totalSize": "70"})
    changes = extension.ParameterChanges(dbName="open", tblName="t", changes=[counted])
    request = extension.SetStatisticsRequest(colStats=[], parameters=changes)
    assert done(server.client("root").ask("set_statistics", request=request))
    for _ in range(2):
        assert shown in done(server.client("root", spark=True).ask("get_table", **wanted)).parameters
        assert shown not in done(server.client("ada", spark=True).ask("get_table", **wanted)).parameters
    asked = api.GetTableRequest(dbName="open", tblName="t", getColumnStats=True, engine="hive")
    refused = raised(server.client("ada").ask("get_table_req", req=asked))
    assert refused.message == "ada may not read_statistics hive.open.t: rule 2 does not allow it"


def test_a_history_has_the_writes_under_names_that_may_be_read(server: Guarded) -> None:
    """A table that was renamed has others, before or afterwards."""
    server.rule(READER)
    root, request = server.client("root"), extension.StatisticsHistoryRequest(dbName="open", tblName="t")

    def rename(old: str, new: str) -> None:
        done(root.ask("alter_table", dbname=old, tbl_name="t", new_tbl=table(new, "t")))

    def seen(user: str) -> set[str]:
        found = done(server.client(user).ask("get_statistics_history", request=request))
        return {each.dbName for each in found.writes}

    done(root.ask("drop_table", dbname="shut", name="t", deleteData=True))
    rename("open", "shut")
    done(root.ask("update_table_column_statistics", stats_obj=statistics("shut", "t")))
    assert (seen("ada"), seen("root")) == ({"open"}, {"open", "shut"})
    rename("shut", "open")
    done(root.ask("update_table_column_statistics", stats_obj=statistics("open", "t")))
    assert (seen("ada"), seen("root")) == ({"open"}, {"open", "shut"})


def test_notifications_of_hidden_objects_are_passed_over(server: Guarded) -> None:
    server.rule('[[rule]]\nobjects = ["hive.shut.t"]\nallow = ["read_notifications"]\n')
    ada, after, seen = server.client("ada"), 0, []
    while events := done(
        ada.ask("get_next_notification", rqst=api.NotificationEventRequest(lastEvent=after, maxEvents=1))
    ).events:
        seen += [(each.eventType, each.dbName, each.tableName) for each in events]
        after = events[-1].eventId
    assert seen == [("CREATE_TABLE", "shut", "t"), ("UPDATE_TBL_COL_STAT_EVENT", "shut", "t")]
    assert done(ada.ask("get_current_notificationEventId")).eventId > after - 1
    assert raised(
        server.client("ada").ask(
            "get_notification_events_count", rqst=api.NotificationEventsCountRequest(fromEventId=0, dbName="shut")
        )
    )


def test_whoever_may_read_no_notifications_has_the_log_not_read(server: Guarded) -> None:
    server.rule(READER)
    request = api.NotificationEventRequest(lastEvent=0, maxEvents=1)
    refused = raised(server.client("ada").ask("get_next_notification", rqst=request))
    assert "ada may not read_notifications anything: no rule allows it" in refused.message


def test_a_long_log_of_hidden_objects_takes_few_reads() -> None:
    log = [api.NotificationEvent(eventId=each, dbName="shut" if each <= 9_500 else "open") for each in range(1, 10_001)]
    request, reads = api.NotificationEventRequest(lastEvent=0, maxEvents=2), []

    def ask() -> Any:
        reads.append(request.lastEvent)
        page = log[request.lastEvent : request.lastEvent + request.maxEvents]
        return api.NotificationEventResponse(events=page)

    def sees(action: Action, name: ObjectName) -> bool:
        return action is Action.READ_NOTIFICATIONS and name[1] == "open"

    found = notifications(ask, {"rqst": request}, sees).events
    assert [each.eventId for each in found] == [9_501, 9_502]
    assert len(reads) < 20


def test_the_own_roles_are_told_and_those_of_others_are_not(server: Guarded) -> None:
    server.rule(READER)
    ada = server.client("ada")
    assert [each.roleName for each in ada.ask("list_roles", principal_name="ada", principal_type=1).value] == ["public"]
    assert raised(ada.ask("list_roles", principal_name="root", principal_type=1)).message.startswith(
        "ada may not admin"
    )


def test_pages_of_health_hold_what_may_be_read_and_their_cursors_tell_of_nothing_else(server: Guarded) -> None:
    server.rule(READER)
    for user, names in (
        ("root", {"open.t", "open.p", "shut.t", "shut.p"}),
        ("ada", {"open.t", "open.p"}),
        ("bob", set()),
    ):
        client, after, found = server.client(user), None, []
        while True:
            request = extension.HealthRequest(most=1, after=after)
            answer = done(client.ask("get_statistics_health", request=request))
            assert len(answer.health) == 1 or answer.nextPage is None
            found += [f"{each.dbName}.{each.tblName}" for each in answer.health]
            if (after := answer.nextPage) is None:
                break
        assert sorted(found) == sorted(names)


@pytest.mark.parametrize("most", [2, 3])
def test_a_cursor_of_health_is_that_of_a_table_that_may_be_read(server: Guarded, most: int) -> None:
    root = server.client("root")
    whole = done(root.ask("get_statistics_health", request=extension.HealthRequest())).health
    first, *rest = ((each.dbName, each.tblName) for each in whole)
    denied = [f'[[rule]]\nusers = ["ada"]\nobjects = ["hive.{each}.{name}"]\nallow = []\n' for each, name in rest]
    denied.append('[[rule]]\nusers = ["ada"]\nobjects = ["hive"]\nallow = ["read_statistics"]\n')
    server.rule("".join(denied))
    page = done(server.client("ada").ask("get_statistics_health", request=extension.HealthRequest(most=most)))
    assert [(each.dbName, each.tblName) for each in page.health] == [first]
    of_first = done(root.ask("get_statistics_health", request=extension.HealthRequest(most=1))).nextPage
    assert page.nextPage == of_first


@pytest.mark.parametrize(
    ("table_name", "said"),
    [
        (None, "the lock would have to wait for another lock"),
        ("t", "SHARED_WRITE would have to wait for lock 1 (EXCLUSIVE on open/t, acquired)"),
    ],
)
def test_a_lock_that_is_not_granted_names_no_hidden_table(server: Guarded, table_name: str | None, said: str) -> None:
    hidden = '[[rule]]\nusers = ["ada"]\nobjects = ["hive.open.p"]\nallow = []\n'
    server.rule(hidden + '[[rule]]\nusers = ["ada"]\nobjects = ["hive.open"]\nallow = ["list", "lock"]\n')

    def locked(client: Client, kind: int, name: str | None, **more: Any) -> Any:
        component = api.LockComponent(type=kind, level=2 if name else 1, dbname="open", tablename=name)
        return client.ask("lock", rqst=api.LockRequest(component=[component], user="u", hostname="h", **more))

    assert done(locked(server.client("root"), EXCLUSIVE, table_name or "p")).state == ACQUIRED
    ada = server.client("ada")
    opened = ada.ask("open_txns", rqst=api.OpenTxnRequest(num_txns=1, user="ada", hostname="h"))
    answer = done(locked(ada, SHARED_WRITE, table_name, txnid=done(opened).txn_ids[0], exclusiveCTAS=True))
    assert answer.errorMessage == said
