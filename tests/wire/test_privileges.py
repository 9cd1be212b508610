"""The codec of roles and privileges: there and back, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidObject
from hmstats.model.catalog.privileges import Grant, Principal, Privilege, Role, RoleGrant, Secured, SecuredKind
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.principals import principal_number, principal_type
from hmstats.wire.privileges import (
    principal_from_thrift,
    privilege_to_thrift,
    privileges_from_thrift,
    role_grant_to_thrift,
    role_to_thrift,
    secured_from_thrift,
    secured_to_thrift,
    set_from_thrift,
    set_to_thrift,
)

NAMES = st.text("abcdefgh_123", min_size=1, max_size=8)
TYPES = st.sampled_from(["USER", "GROUP", "ROLE"])
PRINCIPALS = st.builds(Principal, NAMES, TYPES)
GRANTS = st.builds(
    Grant,
    privilege=st.sampled_from(["SELECT", "INSERT", "ALL"]),
    grantor=st.none() | NAMES,
    grantor_type=st.none() | TYPES,
    grant_option=st.booleans(),
    created_seconds=st.integers(0, 2**31 - 1),
)
VALUES = st.lists(st.text(max_size=6), min_size=1, max_size=3).map(tuple)
SECURED = st.one_of(
    st.just(Secured(SecuredKind.GLOBAL, "hive")),
    st.builds(Secured, st.just(SecuredKind.DATABASE), NAMES, NAMES),
    st.builds(Secured, st.just(SecuredKind.TABLE), NAMES, NAMES, NAMES),
    st.builds(Secured, st.just(SecuredKind.PARTITION), NAMES, NAMES, NAMES, VALUES),
    st.builds(Secured, st.just(SecuredKind.TABLE_COLUMN), NAMES, NAMES, NAMES, st.none(), NAMES),
    st.builds(Secured, st.just(SecuredKind.PARTITION_COLUMN), NAMES, NAMES, NAMES, VALUES, NAMES),
)
PRIVILEGES = st.builds(Privilege, SECURED, PRINCIPALS, GRANTS, st.none() | NAMES)


@given(SECURED)
def test_an_object_comes_back_as_it_went(secured: Secured) -> None:
    assert secured_from_thrift(secured_to_thrift(secured)) == secured


@given(PRIVILEGES)
def test_a_privilege_comes_back_as_it_went(privilege: Privilege) -> None:
    assert privileges_from_thrift([privilege_to_thrift(privilege)]) == [privilege]


@given(st.dictionaries(PRINCIPALS, st.lists(GRANTS, min_size=1, max_size=2), max_size=4))
def test_a_set_comes_back_as_it_went(grants: dict[Principal, list[Grant]]) -> None:
    on = Secured(SecuredKind.TABLE, "hive", "d", "t")
    found = set_from_thrift(set_to_thrift(grants), on)
    expected = {(principal, grant) for principal, listed in grants.items() for grant in listed}
    assert {(each.principal, each.grant) for each in found} == expected
    assert {(each.on, each.authorizer) for each in found} <= {(on, "SQL")}


def test_no_set_is_no_privileges() -> None:
    on = Secured(SecuredKind.TABLE, "hive", "d", "t")
    assert set_from_thrift(None, on) == []
    assert set_from_thrift(api.PrincipalPrivilegeSet(), on) == []


def test_privileges_listed_with_commas_are_several() -> None:
    struct = api.HiveObjectPrivilege(
        hiveObject=api.HiveObjectRef(objectType=2, dbName="@spark#Sales"),
        principalName="ada",
        principalType=1,
        grantInfo=api.PrivilegeGrantInfo(privilege="SELECT,,INSERT"),
    )
    found = privileges_from_thrift([struct])
    assert [each.grant.privilege for each in found] == ["SELECT", "INSERT"]
    assert {each.on for each in found} == {Secured(SecuredKind.DATABASE, "spark", "sales")}


def test_a_reference_without_a_kind_is_no_object() -> None:
    assert secured_from_thrift(None) is None
    assert secured_from_thrift(api.HiveObjectRef(dbName="d")) is None


@pytest.mark.parametrize("number", [api.HiveObjectType.DATACONNECTOR, 99])
def test_an_object_of_another_kind_is_refused(number: int) -> None:
    with pytest.raises(InvalidObject, match=f"found {number}"):
        secured_from_thrift(api.HiveObjectRef(objectType=number))


@pytest.mark.parametrize(("name", "number"), [(None, 1), ("ada", None), ("ada", 9)])
def test_a_principal_that_lacks_something_is_refused(name: str | None, number: int | None) -> None:
    with pytest.raises(InvalidObject, match="a principal must have a name and a type"):
        principal_from_thrift(name, number)


def test_types_of_principals() -> None:
    names = ["USER", "ROLE", "GROUP"]
    assert [principal_number(each) for each in names] == [1, 2, 3]
    assert [principal_type(number) for number in (1, 2, 3)] == names
    assert (principal_number(None), principal_number("x")) == (None, None)
    assert (principal_type(None), principal_type(9)) == (None, None)


def test_roles_and_their_grants_go_out_whole() -> None:
    role = role_to_thrift(Role("admin", "ann", 7))
    assert (role.roleName, role.ownerName, role.createTime) == ("admin", "ann", 7)
    grant = role_grant_to_thrift(RoleGrant(role="public", principal=Principal("ada", "USER")))
    assert (grant.roleName, grant.principalName, grant.principalType) == ("public", "ada", 1)
    assert (grant.grantorName, grant.grantorPrincipalType, grant.grantOption, grant.grantTime) == (None, None, False, 0)
