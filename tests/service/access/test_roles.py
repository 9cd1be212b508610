"""The rules of roles: hierarchies, the roles that are always there, and what racers get."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.store.row_counts import row_counts

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.privileges import Principal, Role, RoleGrant
from hmstats.service.access.roles import Roles, roles_in_hierarchy
from hmstats.store.database.store import Store

ADA = Principal("ada", "USER")


@pytest.fixture
def roles(store: Store) -> Roles:
    """The rules, over a database with the roles that are always there and r0 to r4."""
    made = Roles(store)
    made.ensure_defaults()
    for number in range(5):
        made.create(Role(f"r{number}", owner="ann"))
    return made


def grant(roles: Roles, role: str, principal: Principal) -> None:
    roles.grant(RoleGrant(role=role, principal=principal, grantor="ann", grantor_type="USER"))


def hierarchy(store: Store, user: str | None, *groups: str) -> set[str]:
    with store.read() as connection:
        return roles_in_hierarchy(connection, user, groups)


def test_the_defaults_are_made_once(store: Store) -> None:
    Roles(store).ensure_defaults()
    made = row_counts(store)
    assert (made["ROLES"], made["GLOBAL_PRIVS"]) == (2, 1)
    Roles(store).ensure_defaults()
    assert row_counts(store) == made


def test_servers_that_start_together_make_the_defaults_once(store: Store) -> None:
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(Roles(store).ensure_defaults) for _ in range(4)]:
            done.result()
    assert row_counts(store)["ROLES"] == 2


def test_roles_come_through_roles_and_groups(roles: Roles, store: Store) -> None:
    grant(roles, "r0", ADA)
    grant(roles, "r1", Principal("r0", "ROLE"))
    grant(roles, "r2", Principal("r1", "ROLE"))
    grant(roles, "r3", Principal("staff", "GROUP"))
    assert hierarchy(store, "ada") == {"public", "r0", "r1", "r2"}
    assert hierarchy(store, "ada", "staff") == {"public", "r0", "r1", "r2", "r3"}
    assert hierarchy(store, None, "staff") == {"r3"}
    assert hierarchy(store, "bob") == {"public"}
    assert hierarchy(store, None) == set()


def test_no_circle_of_any_length(roles: Roles) -> None:
    for number in range(4):
        grant(roles, f"r{number + 1}", Principal(f"r{number}", "ROLE"))
    with pytest.raises(MetaError, match="no cycles allowed"):
        grant(roles, "r0", Principal("r4", "ROLE"))
    grant(roles, "r4", Principal("r0", "ROLE"))


def test_two_grants_at_once_are_one(roles: Roles) -> None:
    def give(_: int) -> bool:
        try:
            grant(roles, "r0", ADA)
        except (InvalidObject, MetaError):
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(give, range(4))) == 1
    assert [each.principal for each in roles.members("r0")] == [ADA]
