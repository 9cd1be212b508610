"""Parts of tables, partitions and storages, such as columns, parameters and values: rows of up to three texts.

All parts of any number of owners come from one statement, which gives one row for each kind, with a JSON list for each
column: from a row for each part the driver would make six objects. A query that finds one owner can select the parts as
well, as a JSON list of such lists for each kind.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Text,
    cast,
    func,
    literal_column,
    null,
    select,
    union_all,
)

from hmstats.store.statements.value_sets import bound, one_of_bound
from hmstats.store.unit.prepared import PREPARED

_OWNERS_AT_ONCE = 20_000
"""Most owners of a statement: a text of PostgreSQL has 1 GB at most, and the parameters of a partition may take kB."""


class PartQuery(NamedTuple):
    """A kind of parts: the set of their owners' ids by its name, and columns: owner, order (None: none), texts."""

    kind: str
    owners: str
    owner: ColumnElement[Any]
    order: ColumnElement[Any] | None
    texts: Sequence[ColumnElement[Any]]


class _Columns(NamedTuple):
    """The parts of a kind by column, in order."""

    owners: Sequence[int]
    texts: Sequence[Sequence[Any]]


class Parts:
    """The parts that were read, by kind; each owner's are in order."""

    def __init__(self, kinds: Mapping[str, _Columns]) -> None:
        self._kinds = kinds

    def rows(self, kind: str) -> dict[int, tuple[tuple[Any, ...], ...]]:
        """The parts of each owner, with all of their texts."""
        columns = self._kinds.get(kind)
        return {} if columns is None else _group_by(columns.owners, list(zip(*columns.texts, strict=True)))

    def texts(self, kind: str) -> dict[int, tuple[Any, ...]]:
        """The first texts of each owner's parts."""
        columns = self._kinds.get(kind)
        return {} if columns is None else _group_by(columns.owners, columns.texts[0])

    def pairs(self, kind: str) -> dict[int, dict[str, str]]:
        """The first texts of each owner's parts, with their second texts, which are empty where they are unknown."""
        columns = self._kinds.get(kind)
        found: defaultdict[int, dict[str, str]] = defaultdict(dict)
        for owner, key, value in zip(columns.owners, *columns.texts, strict=True) if columns else ():
            found[owner][key] = value or ""
        return found


def _group_by(owners: Sequence[int], values: Sequence[Any]) -> dict[int, tuple[Any, ...]]:
    """The values of each owner."""
    single = dict(zip(owners, zip(values, strict=True), strict=True))
    if len(single) == len(owners):  # one value each
        return single
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for owner, value in zip(owners, values, strict=True):
        found[owner].append(value)
    return {owner: tuple(each) for owner, each in found.items()}


def read(connection: Connection, queries: tuple[PartQuery, ...], owners: Mapping[str, Iterable[int | None]]) -> Parts:
    """The parts of owners, whose ids are given by the name of their set; duplicates and None are left out.

    One statement for each 20,000 owners.
    """
    ids = {name: [each for each in dict.fromkeys(given) if each is not None] for name, given in owners.items()}
    statement = _statement(connection.dialect.name, queries)
    found: defaultdict[str, list[Sequence[list[Any]]]] = defaultdict(list)
    for start in range(0, max(map(len, ids.values())), _OWNERS_AT_ONCE):
        sent = {name: bound(connection, each[start : start + _OWNERS_AT_ONCE]) for name, each in ids.items()}
        for place, owner_ids, *columns in connection.execute(statement, sent).cursor.fetchall():
            if owner_ids is not None:
                found[queries[place].kind].append([json.loads(each or "[]") for each in (owner_ids, *columns)])
    return Parts({kind: _in_order(*map(_join, zip(*each, strict=True))) for kind, each in found.items()})


def parts_of_row(queries: Sequence[PartQuery], owners: Mapping[str, ColumnElement[Any]]) -> list[ColumnElement[Any]]:
    """The columns of a query of PostgreSQL with the parts of its row, whose owners are these columns of it."""
    return [
        select(cast(func.json_build_array(*map(func.json_agg, _columns(each))), Text))
        .where(each.owner == owners[each.owners])
        .scalar_subquery()
        for each in queries
    ]


def read_of_row(queries: Sequence[PartQuery], owners: Mapping[str, int | None], cells: Sequence[str]) -> Parts:
    """The parts in the cells of a row that `parts_of_row` selected; `owners` are the row's own."""
    found: dict[str, _Columns] = {}
    for each, cell in zip(queries, cells, strict=True):
        owner, columns = owners[each.owners], [listed or [] for listed in json.loads(cell)]
        if owner is not None and columns[-1]:
            indexes = [] if each.order is None else columns.pop(0)
            found[each.kind] = _in_order([owner] * len(columns[-1]), indexes, *columns)
    return Parts(found)


def _columns(query: PartQuery) -> list[ColumnElement[Any]]:
    return [*([] if query.order is None else [query.order]), *query.texts]


def _join(columns: Sequence[list[Any]]) -> list[Any]:
    return columns[0] if len(columns) == 1 else list(chain.from_iterable(columns))


def _in_order(owners: list[int], indexes: list[int], *texts: list[Any]) -> _Columns:
    listed = [each for each in texts if each]
    if not any(indexes):
        return _Columns(owners, listed)
    order = sorted(range(len(indexes)), key=indexes.__getitem__)
    return _Columns([owners[each] for each in order], [[column[each] for each in order] for column in listed])


@lru_cache(maxsize=20)
def _statement(dialect_name: str, queries: tuple[PartQuery, ...]) -> CompoundSelect[Any]:
    """The statement for all parts; cached, since it takes long to build."""
    most = max(len(each.texts) for each in queries)
    nothing = cast(null(), Text)

    def listed(column: ColumnElement[Any]) -> ColumnElement[Any]:
        if dialect_name == "sqlite":
            return func.nullif(func.json_group_array(column), "[]")
        return cast(func.json_agg(column), Text)

    return union_all(
        *(
            select(
                literal_column(str(place)),
                listed(each.owner),
                nothing if each.order is None else listed(each.order),
                *map(listed, each.texts),
                *repeat(nothing, most - len(each.texts)),
            ).where(one_of_bound(dialect_name, each.owner, each.owners))
            for place, each in enumerate(queries)
        )
    ).execution_options(**PREPARED)
