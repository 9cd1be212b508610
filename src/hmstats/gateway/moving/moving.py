"""Moves a database: its place refuses changes, the database is copied, both copies are compared, the route changes.

At each moment the route tells which place answers. It changes once, and only after both places agree; if a mover is
killed before that, the old place stays in charge and the database refuses changes until the move is run again or given
up. Each change of the route expects the last one of the same mover: of two movers at once, the first one fails.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from hmstats.errors import HmstatsError, StatementError
from hmstats.gateway.moving import refusals
from hmstats.gateway.moving.comparing import Comparing
from hmstats.gateway.moving.described import ENGINES, PARTITIONS_A_CALL, Described
from hmstats.gateway.places.routing import Routing
from hmstats.model.catalog.constraints import ColumnConstraint
from hmstats.model.catalog.objects import DatabaseName, Partition, Table, TableName, is_view
from hmstats.model.preferences.preference import Preference, Subject
from hmstats.model.preferences.values import GUARD, PUBLISH
from hmstats.service.mirrors.moved import MovedDatabases
from hmstats.service.mirrors.routes import OWN, Route

Report = Callable[[str], None]
_MOST_SENTENCES = 50
_NOTHING_WAITS = {PUBLISH: "true", GUARD: "off"}
"""Preferences of a database while it is copied, which override all others, so that no statistics become pending."""
NOT_MOVED = ("privileges that Hive stores", "history of statistics", "who wrote them")
"""Parts of a database that a move to hmstats does not carry along."""


@dataclass
class MoveResult:
    """The outcome of a move: obstacles, or differences between the places; both are empty if the move is done."""

    database: str
    to: str
    tables: int = 0
    partitions: int = 0
    reasons: list[str] = field(default_factory=list)
    moved: bool = False
    not_moved: tuple[str, ...] = ()
    """The parts of the database that were not moved, since a move does not carry them along."""


class Moving:
    """Moves databases. Not thread-safe. `places` are by their names; the default upstream has the locks of queries."""

    def __init__(self, routing: Routing, places: dict[str, Described], copies: MovedDatabases, report: Report) -> None:
        self._routing = routing
        self._places = places
        self._copies = copies
        self._report = report

    def move(self, name: DatabaseName, to: str, *, dry_run: bool) -> MoveResult:
        """Move a database to a place. Raises StatementError for a move that makes no sense, and as the places do."""
        stored = self._routing.stored.read().get(name)
        route = stored or self._routing.route(name)
        source, target = self._places[route.place], self._places[to]
        result = MoveResult(name.database, target.title)
        if route.place == to:
            return self._end_move(name, stored, result, dry_run=dry_run)
        if OWN not in (to, route.place):
            raise StatementError(
                f"database {name.database} must be moved to hmstats itself first, found it in {source.title}"
            )
        if source.database(name) is None:
            raise StatementError(f"{source.title} has no database {name.database}")
        result.not_moved = NOT_MOVED if to == OWN else ()
        result.reasons = list(self._refusals(name, source, to, result))
        if dry_run and to != OWN:
            result.reasons = result.reasons or self._differences(name, source, target)
        if result.reasons or dry_run:
            return result
        with self._hold(name, stored, route.place) as held:
            source.send(name)
            result.reasons = list(self._refusals(name, source, to, result))
            if to == OWN and not result.reasons:
                self._copy_database(name, source, target)
            result.reasons = result.reasons or self._differences(name, source, target)
            if not result.reasons:
                held.switch(to)
                result.moved = True
        return result

    def _end_move(self, name: DatabaseName, stored: Route | None, result: MoveResult, *, dry_run: bool) -> MoveResult:
        """Finish a move that was killed after its switch, or give up one that was killed before."""
        if stored is None or not stored.moving:
            raise StatementError(f"database {name.database} is in {result.to} already")
        if not dry_run:
            _must(self._routing.stored.change(name, stored, self._without_mark(name, stored.place)), name)
            result.moved = True
        return result

    def _refusals(self, name: DatabaseName, source: Described, to: str, result: MoveResult) -> Iterator[str]:
        """The obstacles to a move; also counts the tables and partitions to be copied."""
        yield from refusals.of_care(source, name)
        if to != OWN:
            return
        database = source.database(name)
        assert database is not None
        yield from refusals.of_database(self._places[self._routing.default].call, database)
        names = source.tables(name)
        result.tables, result.partitions = len(names), 0
        for each in names:
            table = source.table(TableName(name.catalog, name.database, each))
            yield from refusals.of_table(source, table, lambda other: other == name or self._is_own(other))
            result.partitions += sum(map(len, source.partitions(table)))

    def _is_own(self, name: DatabaseName) -> bool:
        return self._routing.route(name).place == OWN

    def _copy_database(self, name: DatabaseName, source: Described, target: Described) -> None:
        """Copy a database to hmstats' own tables; a table that is equal there is not copied again."""
        database, names = source.database(name), source.tables(name)
        assert database is not None
        self._copies.put_database(source.catalog(name.catalog), database, source.functions(name))
        self._copies.remove_other_tables(name, names)
        target.replace_preferences(
            name, [Preference(Subject(name), each, text) for each, text in _NOTHING_WAITS.items()]
        )
        there, comparing = set(target.tables(name)), Comparing(source, target)
        constraints = list[ColumnConstraint]()
        for each in names:
            table = source.table(TableName(name.catalog, name.database, each))
            if each in there and next(comparing.table(table.name), None) is None:
                continue
            self._report(f"copying {table.name.typed}")
            constraints += self._copy(source, target, table)
        keys = [each for each in constraints if each.reference is None]
        self._copies.put_constraints([*keys, *(each for each in constraints if each.reference is not None)])
        target.replace_preferences(name, source.preferences(name))

    def _copy(self, source: Described, target: Described, table: Table) -> list[ColumnConstraint]:
        """Copy a table with partitions and statistics. Returns its constraints, which may refer to other tables."""
        found: dict[str, Partition] = {}
        for batch in source.partitions(table):
            found |= batch
        self._copies.put_table(table, found)
        if not is_view(table):
            places = [None, *_batches(list(found))]
            for engine in ENGINES:
                for each in places:
                    statistics = source.statistics(table.name, each, engine)
                    if statistics:
                        target.put_statistics(table.name, statistics)
        return source.constraints(table.name)

    def _differences(self, name: DatabaseName, source: Described, target: Described) -> list[str]:
        self._report(f"comparing {name.database}")
        found = list[str]()
        for each in Comparing(source, target).database(name):
            found.append(each)
            if len(found) == _MOST_SENTENCES:
                return [*found, "and perhaps more"]
        return found

    @contextmanager
    def _hold(self, name: DatabaseName, stored: Route | None, place: str) -> Iterator["_Held"]:
        """Refuse changes of a database during the block; afterwards its current place accepts them again."""
        held = _Held(self._routing, name, stored, Route(place, secrets.token_hex(8)))
        try:
            yield held
        except BaseException:
            with suppress(HmstatsError):  # another mover has the database, or the mark stays for the next try
                held.release(self._without_mark(name, held.route.place))
            raise
        held.release(self._without_mark(name, held.route.place))

    def _without_mark(self, name: DatabaseName, place: str) -> Route | None:
        """The route to a place when no move is under way; None if the settings give the same."""
        return None if self._routing.place_by_settings(name) == place else Route(place)


class _Held:
    """A database that is marked by a mover."""

    def __init__(self, routing: Routing, name: DatabaseName, stored: Route | None, route: Route) -> None:
        self._routing = routing
        self._name = name
        self.route = route
        _must(routing.stored.change(name, stored, route), name)
        routing.settle()

    def switch(self, place: str) -> None:
        """Route the database to another place; changes stay refused until all servers know the new route."""
        switched = Route(place, self.route.by)
        _must(self._routing.stored.change(self._name, self.route, switched), self._name)
        self.route = switched
        self._routing.settle()

    def release(self, route: Route | None) -> None:
        """Accept changes of the database again."""
        _must(self._routing.stored.change(self._name, self.route, route), self._name)


def _must(done: bool, name: DatabaseName) -> None:  # noqa: FBT001
    if not done:
        raise StatementError(f"database {name.database} is being moved by another command: try again later")


def _batches(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), PARTITIONS_A_CALL):
        yield names[start : start + PARTITIONS_A_CALL]
