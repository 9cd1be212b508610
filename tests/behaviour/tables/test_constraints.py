"""Constraints: kept and told as Hive keeps and tells them. Planners rely on them; no metastore enforces them."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"a": "int", "b": "string", "c": "double"}
FLAGS = {"enable_cstr": True, "validate_cstr": False, "rely_cstr": True}


@pytest.fixture
def tables(metastore: Metastore) -> Metastore:
    """A metastore with the tables `t` and `u` of three columns, and `p` that has a partition key besides."""
    for name in ("t", "u"):
        metastore.table(name, COLUMNS)
    metastore.table("p", COLUMNS, keys=("k",))
    return metastore


def since_hive_3(metastore: Metastore) -> None:
    if metastore.generation < 3:
        pytest.skip("Hive 2.3 has primary and foreign keys only")


def named(metastore: Metastore, **values: Any) -> dict[str, Any]:
    """The catalog, which came with Hive 3."""
    return values if metastore.generation < 3 else {"catName": "hive", **values}


def own(metastore: Metastore, name: str | None) -> str | None:
    """A name that no other test uses: before Hive 4 one stands for one constraint of all tables."""
    return None if name is None else f"{name}_{metastore.database}"


def primary(metastore: Metastore, *columns: str, table: str = "t", name: str | None = "the_pk", **flags: bool) -> Any:
    """The request for a primary key."""
    structs = [
        api.SQLPrimaryKey(
            table_db=metastore.database,
            table_name=table,
            column_name=column,
            key_seq=position,
            pk_name=own(metastore, name),
            **named(metastore, **(FLAGS | flags)),
        )
        for position, column in enumerate(columns, 1)
    ]
    return api.AddPrimaryKeyRequest(primaryKeyCols=structs)


def foreign(
    metastore: Metastore, *pairs: tuple[str, str], child: str = "u", parent: str = "t", name: str | None = "the_fk"
) -> Any:
    """The request for a foreign key: pairs of a column and the one that it refers to."""
    structs = [
        api.SQLForeignKey(
            pktable_db=metastore.database,
            pktable_name=parent,
            pkcolumn_name=referred,
            fktable_db=metastore.database,
            fktable_name=child,
            fkcolumn_name=column,
            key_seq=position,
            update_rule=2,
            delete_rule=3,
            fk_name=own(metastore, name),
            pk_name=own(metastore, "the_pk"),
            **named(metastore, **FLAGS),
        )
        for position, (column, referred) in enumerate(pairs, 1)
    ]
    return api.AddForeignKeyRequest(foreignKeyCols=structs)


def unique(metastore: Metastore, *columns: str, table: str = "t", name: str | None = "the_uk") -> Any:
    """The request for a unique key."""
    structs = [
        api.SQLUniqueConstraint(
            catName="hive",
            table_db=metastore.database,
            table_name=table,
            column_name=column,
            key_seq=position,
            uk_name=own(metastore, name),
            **FLAGS,
        )
        for position, column in enumerate(columns, 1)
    ]
    return api.AddUniqueConstraintRequest(uniqueConstraintCols=structs)


def of_column(metastore: Metastore, kind: str, column: str | None, name: str | None, table: str = "t") -> Any:
    """The request for a not-null, default or check constraint."""
    common = {
        "catName": "hive",
        "table_db": metastore.database,
        "table_name": table,
        "column_name": column,
        **FLAGS,
    }
    if kind == "not_null":
        not_null = api.SQLNotNullConstraint(nn_name=own(metastore, name), **common)
        return api.AddNotNullConstraintRequest(notNullConstraintCols=[not_null])
    if kind == "default":
        struct = api.SQLDefaultConstraint(dc_name=own(metastore, name), default_value="'grün; 7'", **common)
        return api.AddDefaultConstraintRequest(defaultConstraintCols=[struct])
    struct = api.SQLCheckConstraint(dc_name=own(metastore, name), check_expression="a > 0 and b <> 'x'", **common)
    return api.AddCheckConstraintRequest(checkConstraintCols=[struct])


def structs_of(request: Any) -> list[Any]:
    """The structs in a request or an answer, which has one field."""
    found: list[Any] = next(iter(vars(request).values()))
    return found


def primary_keys(metastore: Metastore, table: str = "t") -> list[Any]:
    request = api.PrimaryKeysRequest(**named(metastore, db_name=metastore.database, tbl_name=table))
    return structs_of(metastore.client().get_primary_keys(request))


def foreign_keys(metastore: Metastore, *, child: str | None = None, parent: str | None = None) -> list[Any]:
    request = api.ForeignKeysRequest(
        parent_db_name=metastore.database if parent else None,
        parent_tbl_name=parent,
        foreign_db_name=metastore.database if child else None,
        foreign_tbl_name=child,
        **named(metastore),
    )
    return structs_of(metastore.client().get_foreign_keys(request))


def others(metastore: Metastore, kind: str, table: str = "t") -> list[Any]:
    """The unique, not_null, default or check constraints of a table."""
    request = getattr(api, "".join(part.title() for part in kind.split("_")) + "ConstraintsRequest")
    asked = request(catName="hive", db_name=metastore.database, tbl_name=table)
    return structs_of(getattr(metastore.client(), f"get_{kind}_constraints")(asked))


def drop(metastore: Metastore, name: str, table: str = "t") -> None:
    request = api.DropConstraintRequest(
        **named(metastore, dbname=metastore.database, tablename=table, constraintname=own(metastore, name))
    )
    metastore.client().drop_constraint(request)


def columns_of(structs: Sequence[Any], field: str = "column_name") -> list[str]:
    return [getattr(each, field) for each in structs]


def alter_columns(metastore: Metastore, columns: dict[str, str], table: str = "t", name: str | None = None) -> None:
    changed = metastore.read_table(table)
    changed.sd.cols = [api.FieldSchema(name=each, type=kind, comment="") for each, kind in columns.items()]
    changed.tableName = name or table
    context = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    metastore.client().alter_table_with_environment_context(metastore.database, table, changed, context)


def create(metastore: Metastore, table: Any, *constraints: list[Any]) -> None:
    """Make a table with primary, foreign and unique keys, not-null, default and check constraints, in this order."""
    client = metastore.client()
    if metastore.flavour != "hive-4.0":
        client.create_table_with_constraints(table, *constraints)
        return
    fields = ("primaryKeys", "foreignKeys", "uniqueConstraints", "notNullConstraints", "defaultConstraints")
    given = zip((*fields, "checkConstraints"), constraints, strict=False)
    client.create_table_req(api.CreateTableRequest(table=table, **dict(given)))


# ---- each kind


@pytest.mark.parametrize("columns", [("a",), ("b", "a")])
def test_a_primary_key_comes_back(tables: Metastore, columns: tuple[str, ...]) -> None:
    request = primary(tables, *columns)
    tables.client().add_primary_key(request)
    assert sorted(primary_keys(tables), key=lambda each: each.key_seq) == structs_of(request)
    assert primary_keys(tables, "u") == []


@pytest.mark.parametrize("enable", [False, True])
@pytest.mark.parametrize("validate", [False, True])
@pytest.mark.parametrize("rely", [False, True])
def test_flags_come_back(our_metastore: Metastore, *, enable: bool, validate: bool, rely: bool) -> None:
    our_metastore.table(columns=COLUMNS)
    request = primary(our_metastore, "a", enable_cstr=enable, validate_cstr=validate, rely_cstr=rely)
    our_metastore.client().add_primary_key(request)
    assert primary_keys(our_metastore) == structs_of(request)


def test_a_foreign_key_comes_back(tables: Metastore) -> None:
    client = tables.client()
    client.add_primary_key(primary(tables, "a", "b"))
    request = foreign(tables, ("a", "a"), ("b", "b"))
    client.add_foreign_key(request)
    for found in (foreign_keys(tables, child="u"), foreign_keys(tables, child="u", parent="t")):
        assert sorted(found, key=lambda each: each.key_seq) == structs_of(request)
    if tables.generation >= 3:
        assert len(foreign_keys(tables, parent="t")) == 2
    assert foreign_keys(tables, child="t") == []
    assert foreign_keys(tables, child="u", parent="p") == []


def test_a_foreign_key_may_refer_to_a_unique_key(tables: Metastore) -> None:
    """Hive keeps it, but does not tell of it unless the other table has a primary key of that column."""
    since_hive_3(tables)
    client = tables.client()
    client.add_unique_constraint(unique(tables, "a"))
    client.add_foreign_key(foreign(tables, ("a", "a")))
    found = foreign_keys(tables, child="u")
    assert [(each.fkcolumn_name, each.pk_name) for each in found] == ([("a", None)] if tables.ours else [])


def test_a_foreign_key_to_a_unique_key_does_not_name_the_primary_key(tables: Metastore) -> None:
    """Hive does not tell of it."""
    since_hive_3(tables)
    client = tables.client()
    client.add_primary_key(primary(tables, "b"))
    client.add_unique_constraint(unique(tables, "a"))
    client.add_foreign_key(foreign(tables, ("a", "a")))
    client.add_foreign_key(foreign(tables, ("b", "b"), name="other_fk"))
    found = {each.fkcolumn_name: each.pk_name for each in foreign_keys(tables, child="u")}
    assert found == {"b": own(tables, "the_pk")} | ({"a": None} if tables.ours else {})


@pytest.mark.parametrize("kind", ["not_null", "default", "check"])
def test_a_constraint_of_a_column_comes_back(tables: Metastore, kind: str) -> None:
    since_hive_3(tables)
    client = tables.client()
    request = of_column(tables, kind, "b", "of_b")
    getattr(client, f"add_{kind}_constraint")(request)
    assert others(tables, kind) == structs_of(request)
    assert others(tables, kind, "u") == []


def test_a_unique_key_comes_back(tables: Metastore) -> None:
    since_hive_3(tables)
    request = unique(tables, "c", "a")
    tables.client().add_unique_constraint(request)
    assert sorted(others(tables, "unique"), key=lambda each: each.key_seq) == structs_of(request)


def test_a_check_may_be_about_the_whole_row(tables: Metastore) -> None:
    since_hive_3(tables)
    tables.client().add_check_constraint(of_column(tables, "check", None, "whole"))
    found = others(tables, "check")
    assert [(each.column_name, each.dc_name, each.check_expression) for each in found] == [
        (None, own(tables, "whole"), "a > 0 and b <> 'x'")
    ]


def test_a_partition_key_may_have_one(tables: Metastore) -> None:
    since_hive_3(tables)
    client = tables.client()
    client.add_not_null_constraint(of_column(tables, "not_null", "k", "of_k", table="p"))
    client.add_primary_key(primary(tables, "a", "k", table="p"))
    assert columns_of(others(tables, "not_null", "p")) == ["k"]
    assert sorted(columns_of(primary_keys(tables, "p"))) == ["a", "k"]


def test_names_are_kept_in_lower_case(tables: Metastore) -> None:
    """Hive 2.3 keeps a constraint's own name as written."""
    request = primary(tables, "A", table="T", name="The_PK")
    tables.client().add_primary_key(request)
    assert [(each.pk_name, each.column_name, each.table_name) for each in primary_keys(tables)] == [
        (own(tables, tables.expects("the_pk", {"hive-2.3": "The_PK"})), "a", "t")
    ]


def test_names_are_made_up_where_there_are_none(tables: Metastore) -> None:
    client = tables.client()
    client.add_primary_key(primary(tables, "a", "b", name=None))
    found = primary_keys(tables)
    assert {each.pk_name.split("_")[0] for each in found} == {"pk"}
    assert len({each.pk_name for each in found}) == 1
    client.add_foreign_key(foreign(tables, ("a", "a"), ("b", "b"), name=None))
    keys = foreign_keys(tables, child="u")
    assert {each.fk_name.split("_")[0] for each in keys} == {"fk"}
    assert len({each.fk_name for each in keys}) == 1
    if tables.generation < 3:
        return
    for kind, prefix in (("not_null", "nn"), ("default", "dc"), ("check", "dc")):
        for column in ("a", "b"):
            getattr(client, f"add_{kind}_constraint")(of_column(tables, kind, column, None))
        made = [getattr(each, "nn_name" if kind == "not_null" else "dc_name") for each in others(tables, kind)]
        assert [each.split("_")[0] for each in made] == [prefix, prefix]
        assert len(set(made)) == 2


def test_all_constraints_of_a_table(tables: Metastore) -> None:
    if tables.generation < 4:
        pytest.skip("get_all_table_constraints came with Hive 4")
    client = tables.client()
    client.add_primary_key(primary(tables, "a"))
    client.add_primary_key(primary(tables, "a", table="u"))
    client.add_foreign_key(foreign(tables, ("a", "a"), child="t", parent="u"))
    client.add_unique_constraint(unique(tables, "b"))
    for kind in ("not_null", "default", "check"):
        getattr(client, f"add_{kind}_constraint")(of_column(tables, kind, "c", f"{kind}_c"))
    request = api.AllTableConstraintsRequest(catName="hive", dbName=tables.database, tblName="t")
    found = client.get_all_table_constraints(request).allTableConstraints
    assert found.primaryKeys == primary_keys(tables)
    assert found.foreignKeys == foreign_keys(tables, child="t")
    assert found.uniqueConstraints == others(tables, "unique")
    assert found.notNullConstraints == others(tables, "not_null")
    assert found.defaultConstraints == others(tables, "default")
    assert found.checkConstraints == others(tables, "check")
    assert all(len(getattr(found, field)) == 1 for field in vars(found))
    request.tblName = "nope"
    nothing = client.get_all_table_constraints(request).allTableConstraints
    assert not any(vars(nothing).values())


def test_what_is_not_there_has_none(tables: Metastore) -> None:
    assert primary_keys(tables, "nope") == []
    assert foreign_keys(tables, child="nope") == []
    if tables.generation >= 3:
        assert others(tables, "unique", "nope") == []


# ---- with the table


def test_a_table_is_made_with_its_constraints(tables: Metastore) -> None:
    client = tables.client()
    new = api.Table(tableName="new", dbName=tables.database, owner="tester", sd=tables.storage(COLUMNS), parameters={})
    new.partitionKeys = []
    client.add_primary_key(primary(tables, "a"))
    keys = structs_of(primary(tables, "b", table="new", name="new_pk"))
    references = structs_of(foreign(tables, ("a", "a"), child="new"))
    rest: dict[str, list[Any]] = {}
    if tables.generation >= 3:
        rest = {
            "unique": structs_of(unique(tables, "c", table="new")),
            "not_null": structs_of(of_column(tables, "not_null", "c", "filled", "new")),
            "default": structs_of(of_column(tables, "default", "b", "defaulted", "new")),
            "check": structs_of(of_column(tables, "check", "a", "checked", "new")),
        }
    create(tables, new, keys, references, *rest.values())
    assert {kind: others(tables, kind, "new") for kind in rest} == rest
    assert primary_keys(tables, "new") == keys
    assert foreign_keys(tables, child="new") == references


def test_a_foreign_key_may_refer_to_the_new_tables_own_key(our_metastore: Metastore) -> None:
    new = api.Table(
        tableName="t", dbName=our_metastore.database, owner="x", sd=our_metastore.storage({"id": "int", "boss": "int"})
    )
    new.partitionKeys, new.parameters = [], {}
    keys = structs_of(primary(our_metastore, "id"))
    references = structs_of(foreign(our_metastore, ("boss", "id"), child="t"))
    request = api.CreateTableRequest(table=new, primaryKeys=keys, foreignKeys=references)
    our_metastore.client().create_table_req(request)
    assert foreign_keys(our_metastore, child="t") == references


def test_a_table_whose_constraints_cannot_be_is_not_made(tables: Metastore) -> None:
    client = tables.client()
    new = api.Table(tableName="new", dbName=tables.database, owner="tester", sd=tables.storage(COLUMNS), parameters={})
    new.partitionKeys = []
    keys = structs_of(primary(tables, "nope", table="new"))
    with pytest.raises(api.InvalidObjectException, match="Parent column not found: nope"):
        create(tables, new, keys)
    assert "new" not in client.get_all_tables(tables.database)


# ---- refused


def test_a_table_has_one_primary_key(tables: Metastore) -> None:
    client = tables.client()
    client.add_primary_key(primary(tables, "a"))
    with pytest.raises(api.MetaException, match="Primary key already exists for: "):
        client.add_primary_key(primary(tables, "b", name="another"))
    assert columns_of(primary_keys(tables)) == ["a"]


def test_a_name_stands_for_one_constraint_of_a_table(tables: Metastore) -> None:
    """No exception of the call says it: Hive answers an internal error, and so does hmstats, with the reason."""
    since_hive_3(tables)
    client = tables.client()
    client.add_unique_constraint(unique(tables, "a", name="same"))
    if tables.generation >= 4:
        client.add_unique_constraint(unique(tables, "a", name="same", table="u"))
    with pytest.raises(TApplicationException) as raised:
        client.add_not_null_constraint(of_column(tables, "not_null", "b", "SAME"))
    assert raised.value.type == TApplicationException.INTERNAL_ERROR
    if tables.ours:
        assert raised.value.message.endswith(
            f"Constraint name already exists: {tables.database}.t.{own(tables, 'same')}"
        )
    assert others(tables, "not_null") == []


@pytest.mark.parametrize(
    ("table", "column", "text"),
    [("nope", "a", "Parent table not found: nope"), ("t", "nope", "Parent column not found: nope")],
)
def test_a_key_of_what_is_not_there_is_refused(tables: Metastore, table: str, column: str, text: str) -> None:
    with pytest.raises(TApplicationException) as raised:
        tables.client().add_primary_key(primary(tables, column, table=table))
    assert raised.value.type == TApplicationException.INTERNAL_ERROR
    if tables.ours:
        assert raised.value.message == f"Internal error processing add_primary_key: {text}"


@pytest.mark.parametrize("kind", ["default", "check"])
def test_a_constraint_of_an_unknown_column_is_refused(tables: Metastore, kind: str) -> None:
    """Hive takes a default or a check of a column that is not there, and tells of it without a column."""
    since_hive_3(tables)
    client = tables.client()
    add = getattr(client, f"add_{kind}_constraint")
    if not tables.ours:
        add(of_column(tables, kind, "nope", "wild"))
        assert columns_of(others(tables, kind)) == [None]
        return
    with pytest.raises(TApplicationException, match="Parent column not found: nope"):
        add(of_column(tables, kind, "nope", "wild"))
    assert others(tables, kind) == []


def test_foreign_keys_that_cannot_be_are_refused(tables: Metastore) -> None:
    """Hive 2.3 does not look for the key that one refers to."""
    since_hive_3(tables)
    client = tables.client()
    with pytest.raises(api.MetaException, match="there are no primary keys or unique keys for referenced table"):
        client.add_foreign_key(foreign(tables, ("a", "a")))
    client.add_primary_key(primary(tables, "a", "b"))
    refused = [
        ((("a", "a"),), "Foreign key references a:int; but no corresponding primary key"),
        ((("b", "a"), ("a", "b")), "Foreign key references a:string;b:int; but no corresponding primary key"),
    ]
    for pairs, text in refused:
        with pytest.raises(api.MetaException, match=text):
            client.add_foreign_key(foreign(tables, *pairs))
    for pair in (("a", "nope"), ("nope", "a")):
        with pytest.raises(TApplicationException):
            client.add_foreign_key(foreign(tables, pair))
    with pytest.raises(TApplicationException):
        client.add_foreign_key(foreign(tables, ("a", "a"), child="nope"))
    with pytest.raises(TApplicationException):
        client.add_foreign_key(foreign(tables, ("a", "a"), parent="nope"))
    assert foreign_keys(tables, child="u") == []


def test_a_key_does_not_refer_to_itself(our_metastore: Metastore) -> None:
    """Hive meets a null on the way to this answer."""
    our_metastore.table(columns=COLUMNS)
    client = our_metastore.client()
    client.add_primary_key(primary(our_metastore, "a"))
    with pytest.raises(api.MetaException, match="Cannot be both foreign key and primary/unique key on same table"):
        client.add_foreign_key(foreign(our_metastore, ("a", "a"), child="t"))


# ---- dropped and changed


def test_a_dropped_constraint_is_gone(tables: Metastore) -> None:
    client = tables.client()
    client.add_primary_key(primary(tables, "a", "b"))
    client.add_foreign_key(foreign(tables, ("a", "a"), ("b", "b")))
    drop(tables, tables.expects("THE_FK", {"hive-2.3": "the_fk"}), "u")
    assert foreign_keys(tables, child="u") == []
    assert len(primary_keys(tables)) == 2
    drop(tables, "the_pk")
    assert primary_keys(tables) == []
    client.add_primary_key(primary(tables, "a"))


def test_dropping_what_is_not_there_is_refused(tables: Metastore) -> None:
    tables.client().add_primary_key(primary(tables, "a"))
    for name, table in (("nope", "t"), ("the_pk", "u"), ("the_pk", "nope")):
        with pytest.raises((TApplicationException, api.NoSuchObjectException)) as raised:
            drop(tables, name, table)
        if tables.ours:
            text = f"The constraint: {own(tables, name)} does not exist for the associated table: "
            assert raised.value.message.endswith(f"{text}{tables.database}.{table}")
    assert len(primary_keys(tables)) == 1


def test_a_dropped_constraint_leaves_its_namesake_of_another_table(tables: Metastore) -> None:
    """Hive drops every constraint of that name, whatever table it is of."""
    if tables.generation < 4:
        pytest.skip("before Hive 4 a name stood for one constraint of all tables")
    for table in ("t", "u"):
        tables.client().add_primary_key(primary(tables, "a", table=table))
    drop(tables, "the_pk", "t")
    assert primary_keys(tables, "t") == []
    assert columns_of(primary_keys(tables, "u")) == (["a"] if tables.ours else [])


def test_constraints_go_with_their_table(tables: Metastore) -> None:
    client = tables.client()
    client.add_primary_key(primary(tables, "a"))
    client.add_foreign_key(foreign(tables, ("a", "a")))
    client.drop_table(tables.database, "t", True)
    assert foreign_keys(tables, child="u") == []
    tables.table("t", COLUMNS)
    assert primary_keys(tables) == []
    client.add_primary_key(primary(tables, "a"))


def test_constraints_go_with_their_database(tables: Metastore) -> None:
    client = tables.client()
    client.add_primary_key(primary(tables, "a"))
    client.add_foreign_key(foreign(tables, ("a", "a")))
    client.drop_database(tables.database, True, True)
    assert tables.database not in client.get_all_databases()


def test_constraints_come_with_a_renamed_table(tables: Metastore) -> None:
    client = tables.client()
    client.add_primary_key(primary(tables, "a"))
    client.add_foreign_key(foreign(tables, ("a", "a")))
    alter_columns(tables, COLUMNS, name="renamed")
    assert columns_of(primary_keys(tables, "renamed")) == ["a"]
    assert columns_of(foreign_keys(tables, child="u"), "pktable_name") == ["renamed"]
    assert primary_keys(tables) == []


def test_constraints_follow_columns_that_move(tables: Metastore) -> None:
    if tables.generation < 4:
        pytest.skip("before Hive 4 a constraint lost its columns when they moved")
    client = tables.client()
    client.add_primary_key(primary(tables, "a", "b"))
    alter_columns(tables, {"new": "int", "b": "string", "c": "double", "a": "int"})
    found = sorted(primary_keys(tables), key=lambda each: each.key_seq)
    assert columns_of(found) == ["a", "b"]


def test_both_ends_of_a_foreign_key_follow(our_metastore: Metastore) -> None:
    for table in ("t", "u"):
        our_metastore.table(table, COLUMNS)
    client = our_metastore.client()
    client.add_primary_key(primary(our_metastore, "c"))
    client.add_foreign_key(foreign(our_metastore, ("c", "c")))
    alter_columns(our_metastore, {"c": "double", "d": "int"}, "t")
    alter_columns(our_metastore, {"d": "int", "e": "int", "c": "double", "f": "int"}, "u")
    found = foreign_keys(our_metastore, child="u")
    assert [(each.fkcolumn_name, each.pkcolumn_name) for each in found] == [("c", "c")]


def test_constraints_follow_a_renamed_column(tables: Metastore) -> None:
    """Hive loses them, as it does when a column gets another type or comment."""
    if tables.generation < 4:
        pytest.skip("before Hive 4 a constraint lost its columns when they moved")
    tables.client().add_primary_key(primary(tables, "a"))
    alter_columns(tables, {"id": "int", "b": "string", "c": "double"})
    assert columns_of(primary_keys(tables)) == (["id"] if tables.ours else [])


def test_constraints_stay_with_a_column_of_another_type(tables: Metastore) -> None:
    if tables.generation < 4:
        pytest.skip("before Hive 4 a constraint lost its columns when they moved")
    tables.client().add_primary_key(primary(tables, "a"))
    alter_columns(tables, {"a": "bigint", "b": "string", "c": "double"})
    assert columns_of(primary_keys(tables)) == (["a"] if tables.ours else [])


def test_constraints_go_with_a_column(tables: Metastore) -> None:
    """The whole of it: of a key of two columns Hive leaves one, which is no key."""
    if tables.generation < 4:
        pytest.skip("before Hive 4 a constraint lost its columns when they moved")
    client = tables.client()
    client.add_primary_key(primary(tables, "a", "c"))
    client.add_unique_constraint(unique(tables, "b"))
    alter_columns(tables, {"a": "int", "b": "string"})
    assert columns_of(primary_keys(tables)) == ([] if tables.ours else ["a"])
    assert columns_of(others(tables, "unique")) == ["b"]
    if tables.ours:
        client.add_primary_key(primary(tables, "a"))
