"""Which columns keep their statistics in an alter, and what the parameters say of them."""

import pytest
from tests.fixtures.bounded import run_bounded

from hmstats.model.catalog.objects import Column
from hmstats.service.catalog.tables.columns import kept_parameters, lost_columns, same_columns

MARKED = '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true","b":"true"}}'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("decimal", "decimal(10,0)"),
        ("decimal(12)", "DECIMAL( 12 , 0 )"),
        ("integer", "INT"),
        ("struct<a:decimal, b:map<string,int>>", "struct<a:decimal(10,0),b:map<string, int>>"),
        ("timestamp with local time zone", "TIMESTAMP WITH LOCAL TIME ZONE"),
    ],
)
def test_two_texts_of_one_type(one: str, other: str) -> None:
    assert lost_columns([Column("A", one)], [Column("a", other)]) == []
    assert same_columns([Column("a", one, "said")], [Column("A", other)])


@pytest.mark.parametrize(
    ("one", "other"),
    [("decimal", "decimal(12,2)"), ("varchar(3)", "varchar(4)"), ("int", "bigint"), ("array<int>", "array<bigint>")],
)
def test_two_types(one: str, other: str) -> None:
    assert lost_columns([Column("A", one)], [Column("a", other)]) == ["a"]
    assert not same_columns([Column("a", one)], [Column("a", other)])


def test_columns_may_change_places_and_come_anew() -> None:
    old = [Column("a", "int"), Column("b", "string"), Column("c", "date")]
    new = [Column("c", "date"), Column("new", "int"), Column("a", "int")]
    assert lost_columns(old, new) == ["b"]
    assert not same_columns(old, [old[1], old[0], old[2]])


def test_sizes_that_are_left_out_stay() -> None:
    stored = {"numFiles": "3", "totalSize": "9", "numRows": "5", "own": "x"}
    assert kept_parameters(stored, {"totalSize": "10"}, []) == {"numFiles": "3", "totalSize": "10"}


def test_a_lost_column_is_marked_no_more() -> None:
    kept = kept_parameters({}, {"COLUMN_STATS_ACCURATE": MARKED, "other": "1"}, ["b"])
    assert kept == {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true"}}', "other": "1"}
    assert kept_parameters({}, {"DO_NOT_UPDATE_STATS": "true"}, []) == {}


def test_blanks_around_punctuation_do_not_matter() -> None:
    assert same_columns(
        [Column("a", "Struct< x : int , y:array< int > >")], [Column("a", "struct<x:int,y:array<int>>")]
    )
    assert same_columns([Column("a", "map < ( int")], [Column("a", "map<(int")])


def test_a_type_of_blanks_alone_comes_to_an_end() -> None:
    run_bounded(
        "from hmstats.model.catalog.objects import Column\n"
        "from hmstats.service.catalog.tables.columns import same_columns\n"
        "same_columns([Column('a', 'a' + ' ' * 1_000_000 + 'b')], [])\n"
    )
