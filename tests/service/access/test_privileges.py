"""The rules of privileges: bags of many, all or nothing, and in a constant number of statements."""

from dataclasses import replace

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.store.access.test_privileges import OBJECTS, privilege
from tests.store.catalog_values import make_partitions, make_table
from tests.store.row_counts import row_counts

from hmstats.errors import InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.privileges import Principal, Privilege, Secured, SecuredKind
from hmstats.service.access.privileges import Privileges
from hmstats.store.database.store import Store

TABLE = OBJECTS[SecuredKind.TABLE]
COLUMNS = replace(OBJECTS[SecuredKind.TABLE_COLUMN], column=None)


def user(kind: SecuredKind, name: str = "ada", right: str = "SELECT") -> Privilege:
    """A privilege of a user, whose role need not exist."""
    return privilege(kind, Principal(name, "USER"), right)


@pytest.fixture
def privileges(store: Store) -> Privileges:
    """The rules, over a table with a partition."""
    make_partitions(store, make_table(store), "ü x")
    return Privileges(store)


def held(privileges: Privileges, on: Secured | None = None, name: str = "ada") -> set[tuple[SecuredKind, str]]:
    found = privileges.listed(Principal(name, "USER"), on)
    return {(each.on.kind, each.grant.privilege) for each in found}


def test_one_bag_may_be_about_objects_of_every_kind(privileges: Privileges, store: Store) -> None:
    before = row_counts(store)
    bag = [user(kind, right=right) for kind in SecuredKind for right in ("SELECT", "ALTER")]
    privileges.grant(bag)
    assert held(privileges) == {(kind, right) for kind in SecuredKind for right in ("SELECT", "ALTER")}
    assert held(privileges, OBJECTS[SecuredKind.PARTITION]) == {
        (SecuredKind.PARTITION, "SELECT"),
        (SecuredKind.PARTITION, "ALTER"),
    }
    privileges.revoke(bag, only_grant_option=False)
    assert row_counts(store) == before


@pytest.mark.parametrize("kind", SecuredKind)
def test_a_bag_is_granted_whole_or_not_at_all(privileges: Privileges, store: Store, kind: SecuredKind) -> None:
    before = row_counts(store)
    with pytest.raises(InvalidObject, match="SELECT is already granted"):
        privileges.grant([user(kind, "bob"), user(kind), user(kind)])
    with pytest.raises(NoSuchObject, match="Role nope does not exist"):
        privileges.grant([user(kind), privilege(kind, Principal("nope", "ROLE"))])
    assert row_counts(store) == before


def test_another_grantor_or_authorizer_may_grant_the_same(privileges: Privileges) -> None:
    first = user(SecuredKind.TABLE)
    privileges.grant([first])
    shouted = replace(first, grant=replace(first.grant, grantor="ANN"))
    with pytest.raises(InvalidObject, match=r"on table \[default,t\] by ANN"):
        privileges.grant([shouted])
    privileges.grant([replace(first, grant=replace(first.grant, grantor="eve")), replace(first, authorizer="ranger")])
    assert len(privileges.listed(Principal("ada", "USER"), TABLE)) == 3


def test_a_bag_is_taken_whole_or_not_at_all(privileges: Privileges) -> None:
    privileges.grant([user(SecuredKind.TABLE), user(SecuredKind.DATABASE)])
    for only_grant_option in (False, True):
        with pytest.raises(InvalidObject, match="No grant"):
            privileges.revoke(
                [user(SecuredKind.DATABASE), user(SecuredKind.TABLE, right="DROP")],
                only_grant_option=only_grant_option,
            )
    found = privileges.listed(Principal("ada", "USER"), None)
    assert {(each.on.kind, each.grant.grant_option) for each in found} == {
        (SecuredKind.TABLE, True),
        (SecuredKind.DATABASE, True),
    }


def test_a_refresh_takes_and_grants_what_differs(privileges: Privileges) -> None:
    own = [user(SecuredKind.TABLE_COLUMN, name) for name in ("ada", "bob")]
    others = replace(user(SecuredKind.TABLE_COLUMN, "eve"), authorizer="ranger")
    privileges.grant([*own, others])
    kept = {each.principal.name: each for each in privileges.listed(None, OBJECTS[SecuredKind.TABLE_COLUMN])}
    wanted = [own[1], user(SecuredKind.TABLE_COLUMN, "cyd"), user(SecuredKind.TABLE_COLUMN, "cyd")]
    privileges.refresh(COLUMNS, "SQL", wanted)
    found = {each.principal.name: each for each in privileges.listed(None, OBJECTS[SecuredKind.TABLE_COLUMN])}
    assert set(found) == {"bob", "cyd", "eve"}
    assert (found["bob"], found["eve"]) == (kept["bob"], kept["eve"])
    with pytest.raises(MetaError, match="Unexpected object type PARTITION"):
        privileges.refresh(OBJECTS[SecuredKind.PARTITION], "SQL", [])
    with pytest.raises(MetaError, match="refreshed for all columns of a table together, found column id"):
        privileges.refresh(OBJECTS[SecuredKind.TABLE_COLUMN], "SQL", [])


def test_a_user_is_told_of_privileges_by_the_principal_that_has_them(privileges: Privileges) -> None:
    staff = Principal("staff", "GROUP")
    privileges.grant([user(SecuredKind.TABLE), privilege(SecuredKind.TABLE, staff, "ALTER")])
    found = privileges.of_user(TABLE, "ada", ["staff"])
    told = {principal: [each.privilege for each in grants] for principal, grants in found.items()}
    assert told == {Principal("ada", "USER"): ["SELECT"], staff: ["ALTER"], Principal("public", "ROLE"): []}


def test_what_is_not_there_has_no_privileges(privileges: Privileges) -> None:
    nowhere = replace(TABLE, table="nope")
    assert privileges.listed(None, nowhere) == []
    assert privileges.of_user(nowhere, None, []) == {}
    with pytest.raises(NoSuchObject, match=r"hive\.default\.nope table not found"):
        privileges.listed(None, replace(OBJECTS[SecuredKind.PARTITION], table="nope"))
    with pytest.raises(MetaError, match="Invalid partition key & values"):
        privileges.listed(None, replace(OBJECTS[SecuredKind.PARTITION], values=("a", "b")))


def test_a_large_bag_is_a_constant_number_of_statements(privileges: Privileges, statements: StatementCounter) -> None:
    counts = []
    for count, first in ((2, 0), (300, 100)):
        bag = [user(SecuredKind.TABLE, f"user{first + number}") for number in range(count)]
        with statements() as sent:
            privileges.grant(bag)
            privileges.revoke(bag, only_grant_option=False)
        counts.append(len([each for each in sent if "SEQUENCE_TABLE" not in each]))
    assert counts[0] == counts[1]
