from collections.abc import Sequence

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import make_partitions, make_table
from tests.store.row_counts import row_counts

from hmstats.model.catalog.privileges import Grant, Principal, Privilege, Secured, SecuredKind
from hmstats.store.access import privileges
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions

ADA, BOB = Principal("ada", "USER"), Principal("bob", "ROLE")
TABLE = ("hive", "default", "t")
OBJECTS = {
    SecuredKind.GLOBAL: Secured(SecuredKind.GLOBAL, ""),
    SecuredKind.DATABASE: Secured(SecuredKind.DATABASE, "hive", "default"),
    SecuredKind.TABLE: Secured(SecuredKind.TABLE, *TABLE),
    SecuredKind.PARTITION: Secured(SecuredKind.PARTITION, *TABLE, ("ü x",)),
    SecuredKind.TABLE_COLUMN: Secured(SecuredKind.TABLE_COLUMN, *TABLE, None, "id"),
    SecuredKind.PARTITION_COLUMN: Secured(SecuredKind.PARTITION_COLUMN, *TABLE, ("ü x",), "id"),
}


def privilege(kind: SecuredKind, principal: Principal = ADA, name: str = "SELECT") -> Privilege:
    grant = Grant(privilege=name, grantor="ann", grantor_type="USER", grant_option=True)
    return Privilege(OBJECTS[kind], principal, grant, "SQL")


def owners(store: Store) -> dict[SecuredKind, int | None]:
    """The id of the object of each kind; database, table and partition are made."""
    table_id = make_table(store)
    partition_id = next(iter(make_partitions(store, table_id, "ü x").values()))
    return {
        SecuredKind.GLOBAL: None,
        SecuredKind.DATABASE: 1,
        SecuredKind.TABLE: table_id,
        SecuredKind.PARTITION: partition_id,
        SecuredKind.TABLE_COLUMN: table_id,
        SecuredKind.PARTITION_COLUMN: partition_id,
    }


def insert(store: Store, kind: SecuredKind, owner_id: int | None, *new: Privilege) -> None:
    store.write(lambda unit: privileges.insert_many(unit, kind, owner_id, new))


def on_object(
    store: Store, kind: SecuredKind, owner_id: int | None, principals: Sequence[Principal] | None = None
) -> list[privileges.StoredPrivilege]:
    with store.read() as connection:
        return privileges.on_object(connection, kind, owner_id, principals)


def plain(stored: Sequence[privileges.StoredPrivilege]) -> list[tuple[Secured, Principal, str, str | None]]:
    """What is stored without times; they are checked here."""
    assert all(each.privilege.grant.created_seconds > 1_700_000_000 for each in stored)
    found = [each.privilege for each in stored]
    return [(each.on, each.principal, each.grant.privilege, each.authorizer) for each in found]


@pytest.mark.parametrize("kind", SecuredKind)
def test_privileges_of_every_kind_come_back(store: Store, kind: SecuredKind) -> None:
    owner_id = owners(store)[kind]
    insert(store, kind, owner_id, privilege(kind), privilege(kind, BOB, "ALTER"))
    found = on_object(store, kind, owner_id)
    assert plain(found) == [(OBJECTS[kind], ADA, "SELECT", "SQL"), (OBJECTS[kind], BOB, "ALTER", "SQL")]
    grant = found[0].privilege.grant
    assert (grant.grantor, grant.grantor_type, grant.grant_option) == ("ann", "USER", True)
    assert plain(on_object(store, kind, owner_id, [BOB])) == [(OBJECTS[kind], BOB, "ALTER", "SQL")]
    assert on_object(store, kind, owner_id, [Principal("ada", "ROLE")]) == []
    assert on_object(store, kind, owner_id, []) == []
    with store.read() as connection:
        assert plain(privileges.of_principal(connection, kind, ADA)) == [(OBJECTS[kind], ADA, "SELECT", "SQL")]
        assert privileges.of_principal(connection, kind, Principal("eve", "USER")) == []


@pytest.mark.parametrize("kind", SecuredKind)
def test_rows_are_changed_and_removed_by_id(store: Store, kind: SecuredKind) -> None:
    owner_id = owners(store)[kind]
    before = row_counts(store)
    insert(store, kind, owner_id, privilege(kind), privilege(kind, BOB))
    first, second = on_object(store, kind, owner_id)
    store.write(lambda unit: privileges.revoke_grant_option(unit, kind, [first.id]))
    assert [each.privilege.grant.grant_option for each in on_object(store, kind, owner_id)] == [False, True]
    store.write(lambda unit: privileges.remove(unit, kind, [first.id, second.id]))
    assert row_counts(store) == before


def test_a_role_loses_all_that_it_has(store: Store) -> None:
    ids = owners(store)
    for kind, owner_id in ids.items():
        insert(store, kind, owner_id, privilege(kind), privilege(kind, BOB))
    store.write(lambda unit: privileges.remove_of_role(unit, "bob"))
    assert all([each.privilege.principal for each in on_object(store, kind, ids[kind])] == [ADA] for kind in ids)


def test_privileges_go_with_partitions_and_tables(store: Store) -> None:
    ids = owners(store)
    store.write(lambda unit: tables.remove_many(unit, [ids[SecuredKind.TABLE] or 0]))
    empty = row_counts(store)
    ids = owners(store)
    kept = row_counts(store)
    of_partitions = (SecuredKind.PARTITION, SecuredKind.PARTITION_COLUMN)
    for kind in of_partitions:
        insert(store, kind, ids[kind], privilege(kind))
    store.write(lambda unit: partitions.remove_many(unit, [ids[SecuredKind.PARTITION] or 0]))
    make_partitions(store, ids[SecuredKind.TABLE] or 0, "ü x")
    assert row_counts(store) == kept
    for kind in (SecuredKind.TABLE, SecuredKind.TABLE_COLUMN):
        insert(store, kind, ids[kind], privilege(kind))
    store.write(lambda unit: tables.remove_many(unit, [ids[SecuredKind.TABLE] or 0]))
    assert row_counts(store) == empty


def test_many_privileges_are_one_statement_to_write_and_one_to_read(store: Store, statements: StatementCounter) -> None:
    owner_id = owners(store)[SecuredKind.TABLE]
    names = [Principal(f"user{number}", "USER") for number in range(200)]
    insert(store, SecuredKind.TABLE, owner_id, privilege(SecuredKind.TABLE))
    with statements() as sent:
        insert(store, SecuredKind.TABLE, owner_id, *(privilege(SecuredKind.TABLE, each) for each in names))
    assert len([each for each in sent if "TBL_PRIVS" in each]) == 1
    with statements() as sent:
        assert len(on_object(store, SecuredKind.TABLE, owner_id, names)) == 200
    assert len(sent) == 1
