"""The rules of functions that a client cannot see from outside: what is left after a refusal, and what racers get."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from tests.store.catalog.test_functions import FUNCTION, NAME, SALES, database, get

from hmstats.errors import AlreadyExists, InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.functions import FunctionName
from hmstats.model.catalog.objects import DatabaseName
from hmstats.service.catalog.databases.functions import Functions
from hmstats.store.database.store import Store


@pytest.fixture
def functions(store: Store) -> Functions:
    """The rules, over a database that has FUNCTION."""
    database(store)
    made = Functions(store)
    made.create(FUNCTION)
    return made


def test_a_function_is_made_now(functions: Functions) -> None:
    found = functions.get(NAME)
    assert found.created_seconds > 1_700_000_000
    assert replace(found, created_seconds=0) == FUNCTION
    assert functions.all() == [found]


def test_an_alter_may_move_a_function_to_another_database(functions: Functions, store: Store) -> None:
    database(store, DatabaseName("hive", "other"))
    moved = replace(FUNCTION, name=FunctionName("hive", "other", "lower"), owner="bob")
    functions.alter(NAME, moved)
    assert functions.names(SALES, None) == []
    assert functions.get(moved.name).owner == "bob"


@pytest.mark.parametrize(
    ("name", "changed", "error"),
    [
        (FunctionName("hive", "sales", "nope"), NAME, MetaError),
        (NAME, FunctionName("hive", "sales", "taken"), AlreadyExists),
        (NAME, FunctionName("hive", "nope", "upper"), InvalidObject),
        (NAME, FunctionName("spark", "sales", "upper"), InvalidObject),
        (NAME, FunctionName("hive", "sales", "a b"), InvalidObject),
    ],
)
def test_a_refused_alter_changes_nothing(
    functions: Functions, name: FunctionName, changed: FunctionName, error: type[Exception]
) -> None:
    functions.create(replace(FUNCTION, name=FunctionName("hive", "sales", "taken")))
    before = functions.all()
    with pytest.raises(error):
        functions.alter(name, replace(FUNCTION, name=changed, owner="bob"))
    assert functions.all() == before


def test_of_two_who_make_the_same_function_one_wins(functions: Functions, store: Store) -> None:
    twin = replace(FUNCTION, name=FunctionName("hive", "sales", "twin"))

    def create(owner: str) -> str | None:
        try:
            functions.create(replace(twin, owner=owner))
        except (AlreadyExists, MetaError):
            return None
        return owner

    with ThreadPoolExecutor(2) as pool:
        outcomes: Sequence[str | None] = list(pool.map(create, ["ann", "bob"]))
    assert outcomes.count(None) == 1
    found = get(store, twin.name)
    assert found is not None
    assert found.owner in outcomes


def test_what_is_not_there_is_no_such_object(functions: Functions) -> None:
    for name in (FunctionName("hive", "sales", "nope"), FunctionName("hive", "nope", "upper")):
        with pytest.raises(NoSuchObject):
            functions.get(name)
        with pytest.raises(NoSuchObject):
            functions.drop(name)
    with pytest.raises(NoSuchObject, match=r"There is no database hive\.nope"):
        functions.create(replace(FUNCTION, name=FunctionName("hive", "nope", "f")))
