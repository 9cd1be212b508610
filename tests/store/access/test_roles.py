from tests.store.row_counts import row_counts

from hmstats.model.catalog.privileges import Principal, Role, RoleGrant
from hmstats.store.access import roles
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

ADA, STAFF = Principal("ada", "USER"), Principal("staff", "GROUP")
NOW = 1_700_000_000


def insert(store: Store, *names: str) -> None:
    def work(unit: Unit) -> None:
        for name in names:
            roles.insert_one(unit, Role(name, owner="ann"))

    store.write(work)


def lock(store: Store, name: str) -> int:
    found = store.write(lambda unit: roles.lock(unit, name))
    assert found is not None
    return found


def grant(store: Store, role: str, principal: Principal, *, option: bool = False) -> None:
    role_id = lock(store, role)
    granted = RoleGrant(role=role, principal=principal, grantor="ann", grantor_type="USER", grant_option=option)
    store.write(lambda unit: roles.grant(unit, role_id, granted))


def held(store: Store, *principals: Principal) -> list[tuple[str, Principal, bool]]:
    with store.read() as connection:
        found = roles.granted_to(connection, principals)
    return [(each.role, each.principal, each.grant_option) for each in found]


def test_roles_are_written_now_and_listed_by_name(store: Store) -> None:
    insert(store, "writers", "readers")
    with store.read() as connection:
        assert roles.names(connection) == ["readers", "writers"]
        found = roles.get_many(connection, ["readers", "nope"])
    assert set(found) == {"readers"}
    assert found["readers"].owner == "ann"
    assert found["readers"].created_seconds > NOW
    assert store.write(lambda unit: roles.lock(unit, "nope")) is None


def test_grants_come_back(store: Store) -> None:
    insert(store, "readers", "writers")
    grant(store, "readers", ADA, option=True)
    grant(store, "writers", STAFF)
    grant(store, "writers", ADA)
    assert held(store, ADA) == [("readers", ADA, True), ("writers", ADA, False)]
    assert held(store, ADA, STAFF) == [("readers", ADA, True), ("writers", STAFF, False), ("writers", ADA, False)]
    assert held(store, Principal("ada", "GROUP")) == held(store) == []
    with store.read() as connection:
        members = roles.members(connection, "writers")
    assert [each.principal for each in members] == [STAFF, ADA]
    assert {(each.grantor, each.grantor_type) for each in members} == {("ann", "USER")}
    assert all(each.granted_seconds > NOW for each in members)


def test_a_role_is_taken_from_one_principal(store: Store) -> None:
    insert(store, "readers")
    for principal in (ADA, STAFF):
        grant(store, "readers", principal, option=True)
    role_id = lock(store, "readers")
    store.write(lambda unit: roles.revoke_grant_option(unit, role_id, ADA))
    assert held(store, ADA, STAFF) == [("readers", ADA, False), ("readers", STAFF, True)]
    store.write(lambda unit: roles.revoke(unit, role_id, ADA))
    assert held(store, ADA, STAFF) == [("readers", STAFF, True)]


def test_a_removed_role_has_no_members_and_is_none(store: Store) -> None:
    insert(store, "readers")
    before = row_counts(store)
    insert(store, "writers")
    grant(store, "writers", ADA)
    grant(store, "readers", Principal("writers", "ROLE"))
    role_id = lock(store, "writers")
    store.write(lambda unit: roles.remove(unit, role_id, "writers"))
    assert row_counts(store) == before
