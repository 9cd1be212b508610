"""Privileges of partitions of their own, where the table says so, told by the calls `_with_auth`."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

USER, ROLE, GROUP = api.PrincipalType.USER, api.PrincipalType.ROLE, api.PrincipalType.GROUP
_numbers = count(1)

Reader = Callable[[Metastore, Any, Any], list[Any]]


def all_of_them(metastore: Metastore, user: Any, groups: Any) -> list[Any]:
    found: list[Any] = metastore.client().get_partitions_with_auth(metastore.database, "t", -1, user, groups)
    return found


def some_of_them(metastore: Metastore, user: Any, groups: Any) -> list[Any]:
    client = metastore.client()
    found: list[Any] = client.get_partitions_ps_with_auth(metastore.database, "t", ["1", ""], -1, user, groups)
    return found


def one_of_them(metastore: Metastore, user: Any, groups: Any) -> list[Any]:
    client = metastore.client()
    return [client.get_partition_with_auth(metastore.database, "t", ["1", "a"], user, groups)]


def by_request(metastore: Metastore, user: Any, groups: Any) -> list[Any]:
    if metastore.generation < 4:
        pytest.skip("Hive before 4 has no such request")
    request = api.GetPartitionsPsWithAuthRequest(
        catName="hive",
        dbName=metastore.database,
        tblName="t",
        partVals=["1"],
        userName=user,
        groupNames=groups,
        maxParts=-1,
    )
    found: list[Any] = metastore.client().get_partitions_ps_with_auth_req(request).partitions
    return found


READERS = [all_of_them, some_of_them, one_of_them, by_request]


def made(metastore: Metastore, value: str = "TRUE") -> None:
    """The table t with two partitions and the parameter of this value."""
    metastore.table(keys=("n", "k"), parameters={"PARTITION_LEVEL_PRIVILEGE": value})
    metastore.add_partitions(["1", "a"], ["1", "b"])


def grant(
    metastore: Metastore, principal: str, kind: int, *, values: list[str] | None, column: str | None = None
) -> None:
    """SELECT on a partition of t, or on t itself."""
    object_type = api.HiveObjectType.TABLE if values is None else api.HiveObjectType.PARTITION
    on = api.HiveObjectRef(
        objectType=api.HiveObjectType.COLUMN if column else object_type,
        dbName=metastore.database,
        objectName="t",
        partValues=values,
        columnName=column,
    )
    info = api.PrivilegeGrantInfo(privilege="SELECT", createTime=0, grantor="root", grantorType=USER, grantOption=False)
    given = api.HiveObjectPrivilege(hiveObject=on, principalName=principal, principalType=kind, grantInfo=info)
    metastore.client().grant_privileges(api.PrivilegeBag(privileges=[given]))


def names(grants: Any) -> dict[str, list[str]]:
    return {name: [each.privilege for each in listed] for name, listed in (grants or {}).items()}


@pytest.mark.parametrize("read", READERS)
def test_user_groups_and_public_are_told_with_each(metastore: Metastore, read: Reader) -> None:
    made(metastore)
    found = read(metastore, "ann", ["staff", "crew"])
    assert {each.values[1] for each in found} <= {"a", "b"}
    for each in found:
        assert names(each.privileges.userPrivileges) == {"ann": []}
        assert names(each.privileges.groupPrivileges) == {"staff": [], "crew": []}
        assert names(each.privileges.rolePrivileges) == {"public": []}


@pytest.mark.parametrize("value", ["true", "TRUE"])
@pytest.mark.parametrize("read", [all_of_them, one_of_them])
def test_what_was_granted_is_told(metastore: Metastore, read: Reader, value: str) -> None:
    made(metastore, value)
    grant(metastore, "ann", USER, values=["1", "a"])
    grant(metastore, "staff", GROUP, values=["1", "a"])
    grant(metastore, "bob", USER, values=["1", "a"])
    found = {each.values[1]: each.privileges for each in read(metastore, "ann", ["staff"])}
    assert names(found["a"].userPrivileges) == {"ann": ["SELECT"]}
    assert names(found["a"].groupPrivileges) == {"staff": ["SELECT"]}
    assert found["a"].userPrivileges["ann"][0].grantor == "root"
    if "b" in found:
        assert names(found["b"].userPrivileges) == {"ann": []}


@pytest.fixture
def role(metastore: Metastore) -> Iterator[str]:
    """A role that ann has."""
    name, client = f"partition_role_{metastore.database}_{next(_numbers)}", metastore.client()
    client.create_role(api.Role(roleName=name, createTime=0, ownerName="root"))
    client.grant_role(name, "ann", USER, "root", USER, False)
    yield name
    client.drop_role(name)


def test_roles_are_told_too(metastore: Metastore, role: str) -> None:
    made(metastore)
    grant(metastore, role, ROLE, values=["1", "b"])
    found = {each.values[1]: each.privileges for each in all_of_them(metastore, "ann", [])}
    assert names(found["a"].rolePrivileges) == {"public": [], role: []}
    assert names(found["b"].rolePrivileges) == {"public": [], role: ["SELECT"]}
    assert found["b"].groupPrivileges is None


@pytest.mark.parametrize("read", READERS)
def test_other_tables_partitions_have_none(metastore: Metastore, read: Reader) -> None:
    made(metastore, "FALSE")
    assert [each.privileges for each in read(metastore, "ann", ["staff"])] in ([None], [None, None])


@pytest.mark.parametrize("read", [all_of_them, some_of_them])
@pytest.mark.parametrize("asking", [(None, ["staff"]), ("ann", None)])
def test_a_list_for_nobody_tells_nothing(metastore: Metastore, read: Reader, asking: tuple[Any, Any]) -> None:
    if metastore.generation < 4 and read is all_of_them:
        pytest.skip("before Hive 4 a list of all partitions told of those who were named")
    made(metastore)
    assert [each.privileges for each in read(metastore, *asking)] == [None, None]


def test_one_partition_is_told_of_those_who_are_named(metastore: Metastore) -> None:
    made(metastore)
    (found,) = one_of_them(metastore, "ann", None)
    assert names(found.privileges.userPrivileges) == {"ann": []}
    assert found.privileges.groupPrivileges is None


def test_a_new_partition_has_the_tables_privileges(metastore: Metastore) -> None:
    metastore.table(keys=("n", "k"), parameters={"PARTITION_LEVEL_PRIVILEGE": "TRUE"})
    grant(metastore, "ann", USER, values=None)
    grant(metastore, "ann", USER, values=None, column="l")
    metastore.add_partitions(["1", "a"], ["1", "b"])
    found = all_of_them(metastore, "ann", [])
    assert [names(each.privileges.userPrivileges) for each in found] == [{"ann": ["SELECT"]}] * 2
    on = api.HiveObjectRef(
        objectType=api.HiveObjectType.COLUMN,
        dbName=metastore.database,
        objectName="t",
        partValues=["1", "a"],
        columnName="l",
    )
    told = metastore.client().get_privilege_set(on, "ann", [])
    assert names(told.userPrivileges) == {"ann": ["SELECT"]}


def test_a_new_partition_of_another_table_has_none(metastore: Metastore) -> None:
    metastore.table(keys=("n", "k"))
    grant(metastore, "ann", USER, values=None)
    metastore.add_partitions(["1", "a"])
    on = api.HiveObjectRef(
        objectType=api.HiveObjectType.PARTITION, dbName=metastore.database, objectName="t", partValues=["1", "a"]
    )
    assert names(metastore.client().get_privilege_set(on, "ann", []).userPrivileges) == {"ann": []}


def test_what_is_not_there(metastore: Metastore) -> None:
    made(metastore)
    client, database = metastore.client(), metastore.database
    with pytest.raises(api.NoSuchObjectException):
        client.get_partition_with_auth(database, "t", ["1", "none"], "ann", ["staff"])
    if metastore.generation >= 4:  # before, a table that is not there had no partitions
        with pytest.raises(api.NoSuchObjectException):
            client.get_partitions_with_auth(database, "none", -1, "ann", ["staff"])
    assert client.get_partitions_ps_with_auth(database, "t", ["2"], -1, "ann", ["staff"]) == []
