import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import make_partitions, make_table

from hmstats.model.catalog.privileges import Grant, Principal, Privilege, Secured, SecuredKind
from hmstats.store.access import privileges
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_privileges
from hmstats.store.unit.unit import Unit

ANN, STAFF = Principal("ann", "USER"), Principal("staff", "GROUP")


def inherit(store: Store, table_id: int, *names: str) -> None:
    store.write(lambda unit: partition_privileges.inherit(unit, table_id, names))


def read(store: Store, ids: list[int], *principals: Principal) -> dict[int, list[tuple[Principal, Grant]]]:
    with store.read() as connection:
        return partition_privileges.read(connection, ids, principals)


@pytest.fixture
def table_id(store: Store) -> int:
    """The id of a table on which, and on one column of which, there are privileges."""
    table_id = make_table(store)

    def grant(unit: Unit, kind: SecuredKind, column: str | None, *principals: Principal) -> None:
        on = Secured(kind, "hive", "default", "t", None, column)
        given = [
            Privilege(on, each, Grant(privilege="SELECT", grantor="root", grant_option=True)) for each in principals
        ]
        privileges.insert_many(unit, kind, table_id, given)

    store.write(lambda unit: grant(unit, SecuredKind.TABLE, None, ANN, STAFF))
    store.write(lambda unit: grant(unit, SecuredKind.TABLE_COLUMN, "id", ANN))
    return table_id


def test_new_partitions_have_the_tables_privileges(store: Store, table_id: int) -> None:
    ids = make_partitions(store, table_id, "1", "2", "3")
    inherit(store, table_id, "p=1", "p=3")
    found = read(store, list(ids.values()), ANN, Principal("staff", "USER"))
    of_staff = read(store, [ids["p=1"]], STAFF)
    with store.read() as connection:
        columns = privileges.on_object(connection, SecuredKind.PARTITION_COLUMN, ids["p=3"])
    assert found.keys() == {ids["p=1"], ids["p=3"]}
    ((who, grant),) = found[ids["p=1"]]
    assert (who, grant.privilege, grant.grantor, grant.grant_option) == (ANN, "SELECT", "root", True)
    assert grant.created_seconds > 1_600_000_000
    assert [who for who, _ in of_staff[ids["p=1"]]] == [STAFF]
    assert [(each.privilege.principal, each.privilege.on.column) for each in columns] == [(ANN, "id")]


def test_many_partitions_take_no_more_statements_than_two(
    store: Store, table_id: int, statements: StatementCounter
) -> None:
    counts = []
    for number in (2, 20):
        ids = make_partitions(store, table_id, *(f"{number}-{each}" for each in range(number)))
        with statements() as sent:
            inherit(store, table_id, *ids)
            assert len(read(store, list(ids.values()), ANN)) == number
        counts.append(len(sent))
    assert counts[0] >= counts[1]


def test_nobody_has_nothing(store: Store, table_id: int) -> None:
    ids = make_partitions(store, table_id, "1")
    inherit(store, table_id, "p=1")
    assert read(store, list(ids.values())) == {}
    assert read(store, [], ANN) == {}
