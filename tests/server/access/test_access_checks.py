"""What clients are told of what they and others may do, over sockets; the same as what then happens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.access.guarded import Guarded, done, guarded, raised
from tests.server.serving import Client

from hmstats.model.access.actions import Action
from hmstats.wire.access import access_from_thrift, access_to_thrift
from hmstats.wire.idl import extension
from hmstats.wire.idl import hive_metastore as api

RULES = """
[groups]
readers = ["ada"]
[[rule]]
groups = ["readers"]
objects = ["hive.open"]
allow = ["list", "read"]
[[rule]]
users = ["bob"]
objects = ["hive.open.p"]
allow = ["list", "drop"]
"""


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    with guarded(sqlite_url, tmp_path) as running:
        running.rule(RULES)
        yield running


def _check(client: Client, database: str | None = None, table: str | None = None, **more: Any) -> Any:
    return client.ask("check_access", request=extension.CheckAccessRequest(dbName=database, tblName=table, **more))


def _allowed(answer: Any) -> set[str]:
    return {each.action for each in answer.decisions if each.allowed}


def test_a_user_is_told_what_it_may_do_and_by_which_rule(server: Guarded) -> None:
    ada = server.client("ada")
    found = done(_check(ada, "OPEN", "T"))
    assert (found.userName, found.groupNames, found.enforced) == ("ada", ["readers"], True)
    assert _allowed(found) == {"list", "read"}
    assert {each.rule for each in found.decisions} == {2}
    assert [each.action for each in found.decisions] == [action.value for action in Action]
    assert found.rules is None
    done(ada.ask("get_table", dbname="open", tbl_name="t"))
    refused = raised(ada.ask("drop_table", dbname="open", name="t", deleteData=False))
    assert refused.message == "ada may not drop hive.open.t: rule 2 does not allow it"
    bob = server.client("bob")
    assert _allowed(done(_check(bob, "open"))) == {"list", "read"}  # since something in it may be listed
    assert _allowed(done(_check(bob, "open", "p"))) == {"list", "drop"}


def test_a_user_that_names_itself_has_the_groups_by_which_it_was_proven(server: Guarded) -> None:
    eve = server.client("eve", "readers")
    for named in ({}, {"userName": "eve"}):
        assert _allowed(done(_check(eve, "open", "t", **named))) == {"list", "read"}


def test_a_hidden_object_is_answered_for_as_a_missing_one(server: Guarded) -> None:
    ada = server.client("ada")
    for name in ("t", "nothing"):
        refused = raised(_check(ada, "shut", name))
        assert isinstance(refused, api.NoSuchObjectException)
        there_is_none = raised(ada.ask("get_table", dbname="shut", tbl_name=name))
        assert refused.message == there_is_none.message
    assert isinstance(raised(_check(server.client("eve"), "open")), api.NoSuchObjectException)


def test_others_are_for_admins_who_see_the_rules_too(server: Guarded) -> None:
    refused = raised(_check(server.client("ada"), "open", userName="bob"))
    assert refused.message == "ada may not admin the server: no rule allows it"
    refused = raised(_check(server.client("ada"), "open", groupNames=["staff"]))
    assert refused.message == "ada may not admin the server: no rule allows it"
    root = server.client("root")
    found = done(_check(root, "open", "p", userName="bob"))
    assert (found.userName, _allowed(found)) == ("bob", {"list", "drop"})
    assert [each.number for each in found.rules] == [1, 2, 3]
    assert [each.number for each in done(_check(root, "open", "t")).rules] == [1, 2]
    assert _allowed(done(_check(root, "shut", "t", userName="eve", groupNames=["readers"]))) == set()
    assert _allowed(done(_check(root, "open", "t", userName="eve", groupNames=["readers"]))) == {"list", "read"}
    assert len(_allowed(done(_check(root)))) == len(Action)
    found = access_from_thrift(done(_check(root, "open", "p")))
    assert access_from_thrift(access_to_thrift(found)) == found
    refused = raised(_check(root, "open", groupNames=["readers"]))
    assert refused.message == "groups readers must come with the name of a user, found none"


def test_new_rules_are_told_at_once(server: Guarded) -> None:
    ada = server.client("ada")
    assert _allowed(done(_check(ada, "open"))) == {"list", "read"}
    server.rule(RULES.replace('allow = ["list", "read"]', 'allow = ["list", "alter"]'))
    assert _allowed(done(_check(ada, "open"))) == {"list", "alter"}


def test_without_rules_everybody_may_do_everything(sqlite_url: str, tmp_path: Path) -> None:
    with guarded(sqlite_url, tmp_path, rules=False) as running:
        found = done(_check(running.client(None), "open", "t"))
        assert (found.userName, found.enforced, found.rules) == ("anonymous", False, [])
        assert _allowed(found) == {action.value for action in Action}
