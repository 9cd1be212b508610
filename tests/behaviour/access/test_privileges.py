"""Roles and privileges: kept and told as Hive keeps and tells them."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

USER, ROLE, GROUP = api.PrincipalType.USER, api.PrincipalType.ROLE, api.PrincipalType.GROUP
TYPES = api.HiveObjectType
GOT = r"Got exception: org.apache.hadoop.hive.metastore.api.{} {}"
_numbers = count(1)


@pytest.fixture
def role(metastore: Metastore) -> Iterator[str]:
    """A role of the test's own; it is dropped at the end, since all tests of a metastore share its roles."""
    yield from _own_role(metastore)


@pytest.fixture
def other_role(metastore: Metastore) -> Iterator[str]:
    """Another one."""
    yield from _own_role(metastore)


def _own_role(metastore: Metastore) -> Iterator[str]:
    name = f"role_{metastore.database}_{next(_numbers)}"
    client = metastore.client()
    client.create_role(api.Role(roleName=name, createTime=0, ownerName="ann"))
    yield name
    client.drop_role(name)


def on(metastore: Metastore, kind: int, *, table: str | None = None, **values: Any) -> Any:
    """A reference to an object of the test's database."""
    given = {"objectType": kind, "dbName": None if kind == TYPES.GLOBAL else metastore.database, "objectName": table}
    return api.HiveObjectRef(**(given | values))


def privilege(
    ref: Any, principal: str, kind: int = USER, name: str = "SELECT", *, option: bool = False, **values: Any
) -> Any:
    """A privilege on an object, granted by ann."""
    grant = api.PrivilegeGrantInfo(privilege=name, createTime=0, grantor="ann", grantorType=USER, grantOption=option)
    given = {"principalName": principal, "principalType": kind, "grantInfo": grant, "authorizer": "SQL"}
    return api.HiveObjectPrivilege(hiveObject=ref, **(given | values))


def bag(*privileges: Any) -> Any:
    return api.PrivilegeBag(privileges=list(privileges))


def refused(metastore: Metastore, text: str) -> AbstractContextManager[Any]:
    """A MetaException with this text. Hive 2.3 answers an internal error where the text names another exception."""
    if metastore.generation < 3 and text.startswith("Got exception"):
        return pytest.raises(TApplicationException, match="Internal error processing")
    return pytest.raises(api.MetaException, match=text)


def listed(metastore: Metastore, principal: str | None, kind: int, ref: Any) -> set[tuple[str, str]]:
    """The principals and privileges that list_privileges tells."""
    found = metastore.client().list_privileges(principal, kind, ref)
    return {(each.principalName, each.grantInfo.privilege) for each in found}


def privileges_of(metastore: Metastore, ref: Any, user: str | None, *groups: str) -> dict[str, dict[str, list[str]]]:
    """The privileges that get_privilege_set tells, by type of principal and principal; empty types left out."""
    found = metastore.client().get_privilege_set(ref, user, list(groups))
    sets = {"user": found.userPrivileges, "group": found.groupPrivileges, "role": found.rolePrivileges}
    return {
        kind: {name: sorted(each.privilege for each in grants) for name, grants in listed.items()}
        for kind, listed in sets.items()
        if listed
    }


# ---- roles


def test_admin_and_public_are_always_there(metastore: Metastore) -> None:
    client = metastore.client()
    assert {"admin", "public"} <= set(client.get_role_names())
    everything = client.list_privileges("admin", ROLE, api.HiveObjectRef(objectType=TYPES.GLOBAL))
    assert [(each.grantInfo.privilege, each.grantInfo.grantOption) for each in everything] == [("All", True)]


def test_a_role_is_made_listed_and_dropped(metastore: Metastore) -> None:
    client = metastore.client()
    name = f"role_of_{metastore.database}"
    assert client.create_role(api.Role(roleName=name, createTime=0, ownerName="ann"))
    assert name in client.get_role_names()
    assert client.drop_role(name)
    assert name not in client.get_role_names()
    assert client.drop_role(name)


def test_roles_that_cannot_be_are_refused(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    with refused(metastore, GOT.format("InvalidObjectException", f"Role {role} already exists")):
        client.create_role(api.Role(roleName=role, createTime=0, ownerName="ann"))
    with pytest.raises(api.MetaException, match="public role impli"):
        client.create_role(api.Role(roleName="public", createTime=0, ownerName="ann"))
    for name in ("admin", "public"):
        with pytest.raises(api.MetaException, match="public,admin roles can't be dropped"):
            client.drop_role(name)


def test_a_role_is_granted_and_revoked(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    assert client.grant_role(role, "ada", USER, "ann", USER, True)
    assert role in {each.roleName for each in client.list_roles("ada", USER)}
    made = next(each for each in client.list_roles("ada", USER) if each.roleName == role)
    assert made.ownerName == "ann"
    assert abs(made.createTime - time.time()) < 60
    members = client.get_principals_in_role(api.GetPrincipalsInRoleRequest(roleName=role)).principalGrants
    assert [(each.principalName, each.principalType, each.grantOption) for each in members] == [("ada", USER, True)]
    assert [(each.grantorName, each.grantorPrincipalType) for each in members] == [("ann", USER)]
    assert abs(members[0].grantTime - time.time()) < 60
    assert client.revoke_role(role, "ada", USER)
    assert role not in {each.roleName for each in client.list_roles("ada", USER)}
    assert client.get_principals_in_role(api.GetPrincipalsInRoleRequest(roleName=role)).principalGrants == []


def test_every_user_has_public_and_no_other_principal_has(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    user = f"user_{metastore.database}"
    assert [each.roleName for each in client.list_roles(user, USER)] == ["public"]
    assert client.list_roles(user, GROUP) == []
    request = api.GetRoleGrantsForPrincipalRequest(principal_name=user, principal_type=USER)
    grants = client.get_role_grants_for_principal(request).principalGrants
    assert [(each.roleName, each.principalName, each.grantOption) for each in grants] == [("public", user, False)]
    request.principal_type = ROLE
    assert client.get_role_grants_for_principal(request).principalGrants == []


def test_grants_of_a_principal(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    client.grant_role(role, "staff", GROUP, "ann", USER, False)
    request = api.GetRoleGrantsForPrincipalRequest(principal_name="staff", principal_type=GROUP)
    grants = client.get_role_grants_for_principal(request).principalGrants
    found = [(each.roleName, each.principalType, each.grantOption, each.grantorName) for each in grants]
    assert found == [(role, GROUP, False, "ann")]


def test_grants_of_roles_that_cannot_be_are_refused(metastore: Metastore, role: str, other_role: str) -> None:
    client = metastore.client()
    client.grant_role(role, "ada", USER, "ann", USER, False)
    cases = [
        (("public", "ada", USER), "No user can be added to public"),
        (("nope", "ada", USER), GOT.format("NoSuchObjectException", "nope role can not be found")),
        ((role, "ada", USER), GOT.format("InvalidObjectException", f"Principal ada already has the role {role}")),
        ((role, "nope", ROLE), GOT.format("NoSuchObjectException", "Role nope does not exist")),
        ((role, role, ROLE), "no cycles allowed"),
    ]
    for (name, principal, kind), text in cases:
        with refused(metastore, text):
            client.grant_role(name, principal, kind, "ann", USER, False)
    assert client.grant_role(role, other_role, ROLE, "ann", USER, False)
    with pytest.raises(api.MetaException, match="no cycles allowed"):
        client.grant_role(other_role, role, ROLE, "ann", USER, False)


def test_revokes_of_roles_that_cannot_be_are_refused(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    with pytest.raises(api.MetaException, match="public role can't be revoked"):
        client.revoke_role("public", "ada", USER)
    with refused(metastore, GOT.format("NoSuchObjectException", "nope role can not be found")):
        client.revoke_role("nope", "ada", USER)


def test_revoking_a_role_that_is_not_held(metastore: Metastore, role: str) -> None:
    """Hive says that it was done."""
    client = metastore.client()
    if not metastore.ours:
        assert client.revoke_role(role, "ada", USER)
        return
    with pytest.raises(api.MetaException, match=f"ada does not have the role {role}"):
        client.revoke_role(role, "ada", USER)


def test_the_right_to_grant_a_role_on_is_taken_alone(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    whom = {"roleName": role, "principalName": "ada", "principalType": USER}
    grant = api.GrantRevokeRoleRequest(
        requestType=api.GrantRevokeType.GRANT, grantor="ann", grantorType=USER, grantOption=True, **whom
    )
    revoke = api.GrantRevokeRoleRequest(requestType=api.GrantRevokeType.REVOKE, grantOption=True, **whom)
    assert client.grant_revoke_role(grant).success
    assert client.grant_revoke_role(revoke).success
    request = api.GetPrincipalsInRoleRequest(roleName=role)
    members = client.get_principals_in_role(request).principalGrants
    assert [(each.principalName, each.grantOption) for each in members] == [("ada", False)]
    with pytest.raises(api.MetaException, match=f"User ada does not have grant option with role {role}"):
        client.grant_revoke_role(revoke)
    revoke.grantOption = False
    assert client.grant_revoke_role(revoke).success
    assert client.get_principals_in_role(request).principalGrants == []


def test_a_dropped_role_leaves_nothing(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    metastore.table()
    name = f"short_{metastore.database}"
    client.create_role(api.Role(roleName=name, createTime=0, ownerName="ann"))
    client.grant_role(name, "bob", USER, "ann", USER, False)
    client.grant_role(role, name, ROLE, "ann", USER, False)
    table = on(metastore, TYPES.TABLE, table="t")
    client.grant_privileges(bag(privilege(table, name, ROLE), privilege(table, "bob")))
    client.drop_role(name)
    assert name not in {each.roleName for each in client.list_roles("bob", USER)}
    assert client.get_principals_in_role(api.GetPrincipalsInRoleRequest(roleName=role)).principalGrants == []
    assert listed(metastore, None, USER, table) == {("bob", "SELECT")}


# ---- privileges


def test_privileges_on_each_kind_of_object_come_back(metastore: Metastore, role: str) -> None:
    metastore.table(keys=("k",))
    metastore.add_partitions(["1"])
    refs = [
        on(metastore, TYPES.DATABASE),
        on(metastore, TYPES.TABLE, table="t"),
        on(metastore, TYPES.PARTITION, table="t", partValues=["1"]),
        on(metastore, TYPES.COLUMN, table="t", columnName="l"),
        on(metastore, TYPES.COLUMN, table="t", columnName="l", partValues=["1"]),
    ]
    client = metastore.client()
    client.grant_privileges(bag(*(privilege(ref, role, ROLE, "SELECT,UPDATE", option=True) for ref in refs)))
    for ref in refs:
        found = client.list_privileges(role, ROLE, ref)
        assert sorted(each.grantInfo.privilege for each in found) == ["SELECT", "UPDATE"]
        for each in found:
            said = each.hiveObject
            assert (said.objectType, said.dbName, said.objectName) == (ref.objectType, ref.dbName, ref.objectName)
            assert (said.partValues or None, said.columnName) == (ref.partValues, ref.columnName)
            assert (each.principalName, each.principalType) == (role, ROLE)
            grant = each.grantInfo
            assert (grant.grantor, grant.grantorType, grant.grantOption) == ("ann", USER, True)
            assert abs(grant.createTime - time.time()) < 60
            assert each.authorizer == (None if metastore.generation < 3 else "SQL")


def test_global_privileges(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    everywhere = on(metastore, TYPES.GLOBAL)
    client.grant_privileges(bag(privilege(everywhere, role, ROLE, "CREATE")))
    assert listed(metastore, role, ROLE, everywhere) == {(role, "CREATE")}
    assert (role, "CREATE") in listed(metastore, None, ROLE, everywhere)
    client.revoke_privileges(bag(privilege(everywhere, role, ROLE, "CREATE")))
    assert listed(metastore, role, ROLE, everywhere) == set()


def test_all_privileges_of_a_principal(metastore: Metastore, role: str) -> None:
    """Without an object those on any, without a database those on all of the kind."""
    metastore.table()
    client = metastore.client()
    refs = [on(metastore, TYPES.GLOBAL), on(metastore, TYPES.DATABASE), on(metastore, TYPES.TABLE, table="t")]
    names = ["CREATE", "ALTER", "SELECT"]
    client.grant_privileges(bag(*(privilege(ref, role, ROLE, name) for ref, name in zip(refs, names, strict=True))))
    everything = api.HiveObjectRef()
    assert listed(metastore, role, ROLE, everything) == {(role, name) for name in names}
    tables = client.list_privileges(role, ROLE, api.HiveObjectRef(objectType=TYPES.TABLE))
    assert [(each.hiveObject.dbName, each.hiveObject.objectName) for each in tables] == [(metastore.database, "t")]


def test_privileges_of_one_principal_or_of_all(metastore: Metastore) -> None:
    metastore.table()
    table = on(metastore, TYPES.TABLE, table="t")
    metastore.client().grant_privileges(bag(privilege(table, "ada"), privilege(table, "bob", name="INSERT")))
    assert listed(metastore, "ada", USER, table) == {("ada", "SELECT")}
    assert listed(metastore, "ada", GROUP, table) == set()
    assert listed(metastore, None, USER, table) == {("ada", "SELECT"), ("bob", "INSERT")}


def test_what_was_granted_is_not_granted_again(metastore: Metastore) -> None:
    metastore.table()
    table = on(metastore, TYPES.TABLE, table="t")
    client = metastore.client()
    client.grant_privileges(bag(privilege(table, "ada")))
    text = GOT.format(
        "InvalidObjectException", rf"SELECT is already granted on table \[{metastore.database},t\] by ann"
    )
    with refused(metastore, text):
        client.grant_privileges(bag(privilege(table, "ada", name="INSERT"), privilege(table, "ada")))
    assert listed(metastore, None, USER, table) == {("ada", "SELECT")}


def test_privileges_are_granted_on_what_is_there(metastore: Metastore) -> None:
    """Those on a table that is not there are passed over."""
    client = metastore.client()
    assert client.grant_privileges(bag(privilege(on(metastore, TYPES.TABLE, table="nope"), "ada")))
    with refused(metastore, r"Got exception: .*NoSuchObjectException"):
        client.grant_privileges(bag(privilege(on(metastore, TYPES.DATABASE, dbName="nope"), "ada")))
    with refused(metastore, GOT.format("NoSuchObjectException", "Role nope does not exist")):
        client.grant_privileges(bag(privilege(on(metastore, TYPES.DATABASE), "nope", ROLE)))


def test_a_revoked_privilege_is_gone(metastore: Metastore) -> None:
    metastore.table()
    table = on(metastore, TYPES.TABLE, table="t")
    client = metastore.client()
    client.grant_privileges(bag(privilege(table, "ada", name="SELECT,INSERT,DELETE")))
    assert client.revoke_privileges(bag(privilege(table, "ada", name="select,DELETE")))
    assert listed(metastore, "ada", USER, table) == {("ada", "INSERT")}


@pytest.mark.parametrize(
    ("kind", "values", "text"),
    [
        ("GLOBAL", {}, "No user grant found for privileges DROP"),
        ("DATABASE", {}, "No database grant found for privileges DROP on database "),
        ("TABLE", {"table": "t"}, r"No grant \(DROP\) found  on table t, database is "),
        (
            "PARTITION",
            {"table": "t", "partValues": ["1"]},
            r"No grant \(DROP\) found  on table t, partition is k=1, database is ",
        ),
        (
            "COLUMN",
            {"table": "t", "columnName": "l"},
            r"No grant \(DROP\) found  on table t, column name = l, database is ",
        ),
        (
            "COLUMN",
            {"table": "t", "columnName": "l", "partValues": ["1"]},
            r"No grant \(DROP\) found  on table t, partition is k=1, column name = l, database is ",
        ),
    ],
)
def test_what_was_not_granted_is_not_revoked(
    metastore: Metastore, kind: str, values: dict[str, Any], text: str
) -> None:
    metastore.table(keys=("k",))
    metastore.add_partitions(["1"])
    ref = on(metastore, getattr(TYPES, kind), **values)
    with refused(metastore, GOT.format("InvalidObjectException", text)):
        metastore.client().revoke_privileges(bag(privilege(ref, "ada", name="DROP")))


def test_a_revoke_is_done_whole_or_not_at_all(metastore: Metastore) -> None:
    """Hive looks for nothing more once it has found one of several privileges."""
    metastore.table()
    table = on(metastore, TYPES.TABLE, table="t")
    client = metastore.client()
    client.grant_privileges(bag(privilege(table, "ada")))
    several = bag(privilege(table, "ada", name="SELECT,DROP"))
    if not metastore.ours:
        assert client.revoke_privileges(several)
        assert listed(metastore, "ada", USER, table) == set()
        return
    with pytest.raises(api.MetaException, match=r"No grant \(DROP\) found"):
        client.revoke_privileges(several)
    assert listed(metastore, "ada", USER, table) == {("ada", "SELECT")}


def test_the_right_to_grant_on_is_taken_alone(metastore: Metastore) -> None:
    metastore.table()
    table = on(metastore, TYPES.TABLE, table="t")
    client = metastore.client()
    given = bag(privilege(table, "ada", option=True))
    grant = api.GrantRevokePrivilegeRequest(requestType=api.GrantRevokeType.GRANT, privileges=given)
    assert client.grant_revoke_privileges(grant).success
    revoke = api.GrantRevokePrivilegeRequest(
        requestType=api.GrantRevokeType.REVOKE, privileges=given, revokeGrantOption=True
    )
    assert client.grant_revoke_privileges(revoke).success
    found = client.list_privileges("ada", USER, table)
    assert [(each.grantInfo.privilege, each.grantInfo.grantOption) for each in found] == [("SELECT", False)]
    with pytest.raises(api.MetaException, match="User ada does not have grant option with privilege SELECT"):
        client.grant_revoke_privileges(revoke)
    revoke.revokeGrantOption = False
    assert client.grant_revoke_privileges(revoke).success
    assert listed(metastore, "ada", USER, table) == set()


def test_the_set_has_users_groups_and_roles_of_roles(metastore: Metastore, role: str, other_role: str) -> None:
    metastore.table()
    client = metastore.client()
    table = on(metastore, TYPES.TABLE, table="t")
    user, group = f"user_{role}", f"group_{role}"
    client.grant_role(role, user, USER, "ann", USER, False)
    client.grant_role(other_role, role, ROLE, "ann", USER, False)
    client.grant_privileges(
        bag(
            privilege(table, user),
            privilege(table, group, GROUP, "INSERT"),
            privilege(table, other_role, ROLE, "DROP,ALTER"),
            privilege(table, "stranger", USER, "UPDATE"),
        )
    )
    assert privileges_of(metastore, table, user, group) == {
        "user": {user: ["SELECT"]},
        "group": {group: ["INSERT"]},
        "role": {role: [], other_role: ["ALTER", "DROP"], "public": []},
    }
    assert privileges_of(metastore, table, None, group) == {"group": {group: ["INSERT"]}}


@pytest.mark.parametrize("kind", ["DATABASE", "TABLE", "COLUMN"])
def test_nothing_granted_is_an_empty_list(metastore: Metastore, kind: str) -> None:
    metastore.table()
    ref = on(metastore, getattr(TYPES, kind), table="t", columnName="l")
    assert privileges_of(metastore, ref, "ada", "staff") == {
        "user": {"ada": []},
        "group": {"staff": []},
        "role": {"public": []},
    }


def test_the_global_set_has_those_who_have_something(metastore: Metastore, role: str) -> None:
    client = metastore.client()
    everywhere = on(metastore, TYPES.GLOBAL)
    user = f"user_{role}"
    assert privileges_of(metastore, everywhere, user, "staff") == {}
    client.grant_privileges(bag(privilege(everywhere, user, name="CREATE")))
    assert privileges_of(metastore, everywhere, user, "staff") == {"user": {user: ["CREATE"]}}


def test_the_sets_of_partitions_and_columns(metastore: Metastore) -> None:
    metastore.table(keys=("k",))
    metastore.add_partitions(["1"], ["2"])
    client = metastore.client()
    partition = on(metastore, TYPES.PARTITION, table="t", partValues=["1"])
    column = on(metastore, TYPES.COLUMN, table="t", columnName="l")
    inside = on(metastore, TYPES.COLUMN, table="t", columnName="l", partValues=["2"])
    for ref, name in ((partition, "INSERT"), (column, "SELECT"), (inside, "UPDATE")):
        client.grant_privileges(bag(privilege(ref, "ada", name=name)))
    assert privileges_of(metastore, partition, "ada")["user"] == {"ada": ["INSERT"]}
    assert privileges_of(metastore, column, "ada")["user"] == {"ada": ["SELECT"]}
    assert privileges_of(metastore, inside, "ada")["user"] == {"ada": ["UPDATE"]}
    other = on(metastore, TYPES.COLUMN, table="t", columnName="s")
    assert privileges_of(metastore, other, "ada")["user"] == {"ada": []}


def test_a_new_table_brings_the_privileges_on_it(metastore: Metastore) -> None:
    def granted(name: str, grantor: str) -> Any:
        return api.PrivilegeGrantInfo(
            privilege=name, createTime=-1, grantor=grantor, grantorType=USER, grantOption=True
        )

    brought = api.PrincipalPrivilegeSet(
        userPrivileges={"tester": [granted("SELECT", "tester"), granted("INSERT", "tester")]},
        groupPrivileges={"staff": [granted("SELECT", "tester")]},
        rolePrivileges={"public": [granted("SELECT", "tester")]},
    )
    table = api.Table(
        tableName="t",
        dbName=metastore.database,
        owner="tester",
        sd=metastore.storage(),
        partitionKeys=[],
        parameters={},
        privileges=brought,
    )
    client = metastore.client()
    client.create_table(table)
    ref = on(metastore, TYPES.TABLE, table="t")
    assert listed(metastore, "tester", USER, ref) == {("tester", "SELECT"), ("tester", "INSERT")}
    assert listed(metastore, "staff", GROUP, ref) == {("staff", "SELECT")}
    assert listed(metastore, "public", ROLE, ref) == {("public", "SELECT")}
    found = client.list_privileges("staff", GROUP, ref)[0]
    assert (found.grantInfo.grantor, found.grantInfo.grantOption) == ("tester", True)
    assert found.authorizer == (None if metastore.generation < 3 else "SQL")
    assert metastore.read_table().privileges is None


def test_privileges_go_with_what_they_are_on(metastore: Metastore) -> None:
    metastore.table(keys=("k",))
    metastore.add_partitions(["1"])
    client = metastore.client()
    refs = [
        on(metastore, TYPES.TABLE, table="t"),
        on(metastore, TYPES.COLUMN, table="t", columnName="l"),
        on(metastore, TYPES.PARTITION, table="t", partValues=["1"]),
        on(metastore, TYPES.COLUMN, table="t", columnName="l", partValues=["1"]),
    ]
    user = f"user_{metastore.database}"
    client.grant_privileges(bag(*(privilege(ref, user) for ref in refs)))
    assert len(client.list_privileges(user, USER, api.HiveObjectRef())) == 4
    client.drop_table(metastore.database, "t", True)
    assert client.list_privileges(user, USER, api.HiveObjectRef()) == []
    client.grant_privileges(bag(privilege(on(metastore, TYPES.DATABASE), user)))
    client.drop_database(metastore.database, True, True)
    assert client.list_privileges(user, USER, api.HiveObjectRef()) == []


def test_a_renamed_table_keeps_its_privileges(metastore: Metastore) -> None:
    metastore.table()
    client = metastore.client()
    client.grant_privileges(bag(privilege(on(metastore, TYPES.TABLE, table="t"), "ada")))
    changed = metastore.read_table()
    changed.tableName = "renamed"
    client.alter_table_with_environment_context(metastore.database, "t", changed, api.EnvironmentContext(properties={}))
    assert listed(metastore, "ada", USER, on(metastore, TYPES.TABLE, table="renamed")) == {("ada", "SELECT")}


@pytest.mark.parametrize("kind", ["DATABASE", "TABLE", "COLUMN"])
def test_an_authorizers_grants_are_refreshed(metastore: Metastore, kind: str) -> None:
    """Ranger and others say all that they have granted; what they say no more is taken, others' grants stay."""
    if metastore.generation < 3:
        pytest.skip("refresh_privileges came with Hive 3")
    metastore.table()
    number = getattr(TYPES, kind)
    column = {"columnName": "l"} if kind == "COLUMN" else {}
    ref = on(metastore, number, table=None if kind == "DATABASE" else "t", catName="hive", **column)
    whole = on(metastore, number, table=None if kind == "DATABASE" else "t", catName="hive")
    client = metastore.client()
    client.grant_privileges(
        bag(
            privilege(ref, "ada", authorizer="ranger"),
            privilege(ref, "bob", authorizer="ranger", name="INSERT"),
            privilege(ref, "eve", authorizer="other", name="DROP"),
        )
    )
    wanted = bag(
        privilege(ref, "bob", authorizer="ranger", name="INSERT"),
        privilege(ref, "cyd", authorizer="ranger", name="ALTER"),
    )
    request = api.GrantRevokePrivilegeRequest(requestType=api.GrantRevokeType.GRANT, privileges=wanted)
    assert client.refresh_privileges(whole, "ranger", request).success
    assert listed(metastore, None, USER, ref) == {("bob", "INSERT"), ("cyd", "ALTER"), ("eve", "DROP")}
    assert client.refresh_privileges(whole, "ranger", request).success
    assert len(listed(metastore, None, USER, ref)) == 3


def test_a_refresh_of_another_object_is_refused(our_metastore: Metastore) -> None:
    request = api.GrantRevokePrivilegeRequest(requestType=api.GrantRevokeType.GRANT, privileges=bag())
    with pytest.raises(api.MetaException, match="Unexpected object type GLOBAL"):
        our_metastore.client().refresh_privileges(on(our_metastore, TYPES.GLOBAL), "ranger", request)


@pytest.mark.parametrize("field", ["principalName", "principalType", "grantInfo", "hiveObject"])
def test_a_privilege_that_lacks_something_is_refused(our_metastore: Metastore, field: str) -> None:
    given = privilege(on(our_metastore, TYPES.DATABASE), "ada")
    setattr(given, field, None)
    with pytest.raises(api.MetaException, match="must have"):
        our_metastore.client().grant_privileges(bag(given))


def test_privileges_are_not_enforced(metastore: Metastore) -> None:
    """They are there for the engines, which ask for them."""
    metastore.table()
    metastore.client().grant_privileges(bag(privilege(on(metastore, TYPES.TABLE, table="t"), "ada")))
    stranger = metastore.client()
    stranger.set_ugi("stranger", [])
    stranger.drop_table(metastore.database, "t", True)
    assert stranger.get_all_tables(metastore.database) == []


def test_a_new_partition_has_the_privileges_of_its_table_where_that_says_so(metastore: Metastore) -> None:
    metastore.table(keys=("k",), parameters={"PARTITION_LEVEL_PRIVILEGE": "TRUE"})
    metastore.client().grant_privileges(bag(privilege(on(metastore, TYPES.TABLE, table="t"), "ada")))
    metastore.add_partitions(["1"])
    found = listed(metastore, "ada", USER, on(metastore, TYPES.PARTITION, table="t", partValues=["1"]))
    assert found == {("ada", "SELECT")}
