"""Constraints of tables: added, read and dropped. Planners may rely on them; nothing here enforces any."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby

from hmstats.errors import InvalidConstraint, MetaError
from hmstats.model.catalog.constraints import ColumnConstraint, ConstraintFilter, ConstraintKind, Reference
from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.events import ConstraintDropped, ConstraintsAdded
from hmstats.store.catalog import constraints, tables
from hmstats.store.catalog.constraints import NO_COLUMN, ColumnIndex, ConstrainedTable, ResolvedConstraint, of
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

# A foreign key may refer to a key that the same call adds.
_ORDER = (
    ConstraintKind.PRIMARY_KEY,
    ConstraintKind.UNIQUE,
    ConstraintKind.FOREIGN_KEY,
    ConstraintKind.NOT_NULL,
    ConstraintKind.DEFAULT,
    ConstraintKind.CHECK,
)
_KEYS = (ConstraintKind.PRIMARY_KEY, ConstraintKind.UNIQUE)
_OWN = tuple(kind for kind in _ORDER if kind is not ConstraintKind.FOREIGN_KEY)
_PREFIXES = {
    ConstraintKind.PRIMARY_KEY: "pk",
    ConstraintKind.UNIQUE: "uk",
    ConstraintKind.FOREIGN_KEY: "fk",
    ConstraintKind.NOT_NULL: "nn",
    ConstraintKind.DEFAULT: "dc",
    ConstraintKind.CHECK: "dc",
}
"""Prefixes of generated names, as in Hive."""


class Constraints:
    """The constraints of every table."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_kind(self, kind: ConstraintKind, name: TableName) -> list[ColumnConstraint]:
        """A table's constraints of one kind other than foreign keys; none if the table does not exist."""
        if not self._has_any(name):
            return []
        with self._store.read() as connection:
            return constraints.without_foreign_keys(connection, [kind], of(name))

    def foreign_keys(self, children: ConstraintFilter, parents: ConstraintFilter) -> list[ColumnConstraint]:
        """The foreign keys of the child tables that refer to the parent tables."""
        with self._store.read() as connection:
            return constraints.foreign_keys(connection, children, parents)

    def all(self, name: TableName) -> list[ColumnConstraint]:
        """Every constraint of a table; none if the table does not exist."""
        if not self._has_any(name):
            return []
        with self._store.read() as connection:
            own = constraints.without_foreign_keys(connection, _OWN, of(name))
            return [*own, *constraints.foreign_keys(connection, of(name), ConstraintFilter(name.catalog))]

    def _has_any(self, name: TableName) -> bool:
        return bool(self._store.rows(constraints.ANY, tables.name_parameters(name)))

    def add(self, new: Sequence[ColumnConstraint]) -> None:
        """Add constraints, all or none; unnamed ones get a name.

        Raises InvalidConstraint if a table or column does not exist or a name is taken, MetaError for a second primary
        key and for a foreign key that refers to no key.
        """
        self._store.write(lambda unit: add(unit, new))

    def drop(self, name: TableName, constraint: str) -> None:
        """Drop a constraint of a table. Raises InvalidConstraint if the table has none with this name."""

        def delete(unit: Unit) -> None:
            holder = constraints.lock(unit, name)
            if holder is None or not constraints.remove(unit, holder.id, constraint):
                raise InvalidConstraint(
                    f"The constraint: {constraint} does not exist for the associated table: "
                    f"{name.database}.{name.table}"
                )
            versions.bump(unit, holder.id)
            unit.record(ConstraintDropped(name, constraint))

        self._store.write(delete)


def add(unit: Unit, new: Sequence[ColumnConstraint]) -> None:
    """Add constraints within a unit, which may also have created the table. Raises as Constraints.add."""
    adding = _Adding(unit)
    for kind in _ORDER:
        adding.add([each for each in new if each.kind is kind])
    adding.finish()


class _Adding:
    """Adds constraints; locks and reads each table once."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._holders: dict[TableName, ConstrainedTable | None] = {}
        self._names_taken: dict[int, set[str]] = {}
        self._with_primary_key: set[int] = set()

    def add(self, new: Sequence[ColumnConstraint]) -> None:
        """Add constraints of one kind."""
        resolved = [each for columns in _group_by_constraint(new) for each in self._resolve(columns)]
        constraints.insert_many(self._unit, resolved)
        if resolved:
            self._unit.record(ConstraintsAdded([each.constraint for each in resolved]))

    def finish(self) -> None:
        """Bump the version of every table that was changed."""
        for holder in self._holders.values():
            if holder is not None:
                versions.bump(self._unit, holder.id)

    def _resolve(self, columns: Sequence[ColumnConstraint]) -> Iterator[ResolvedConstraint]:
        """The rows of one constraint, a row for each column, all with one name."""
        first = columns[0]
        child, parent = self._tables(first)
        if first.kind is ConstraintKind.PRIMARY_KEY:
            self._check_first_key(first.table, parent.id)
        if first.reference:
            self._check_reference(columns, child, parent, first.reference)
        name = self._name(first, parent)
        for each in columns:
            named = replace(each, name=name)
            if each.reference is None:
                yield ResolvedConstraint(named, parent.id, _find_column(parent, each.column, "Parent"))
            else:
                at = _find_column(parent, each.reference.column, "Parent")
                yield ResolvedConstraint(named, parent.id, at, child.id, _find_column(child, each.column, "Child"))

    def _tables(self, constraint: ColumnConstraint) -> tuple[ConstrainedTable, ConstrainedTable]:
        """The child and the parent table; they differ only for a foreign key."""
        if constraint.reference is None:
            holder = self._holder(constraint.table, "Parent")
            return holder, holder
        return self._holder(constraint.table, "Child"), self._holder(constraint.reference.table, "Parent")

    def _holder(self, name: TableName, part: str) -> ConstrainedTable:
        if name not in self._holders:
            self._holders[name] = constraints.lock(self._unit, name)
        holder = self._holders[name]
        if holder is None:
            raise InvalidConstraint(f"{part} table not found: {name.table}")
        if holder.id not in self._names_taken:
            self._names_taken[holder.id] = constraints.names(self._unit.connection, holder.id)
        return holder

    def _name(self, first: ColumnConstraint, parent: ConstrainedTable) -> str:
        """The constraint's own name, or a generated one. Raises InvalidConstraint if the name is taken."""
        taken = self._names_taken[parent.id]
        if first.name is None:
            return _generated_name(first, self._unit.now_seconds, taken)
        if first.name in taken:
            on = first.reference.table if first.reference else first.table
            raise InvalidConstraint(f"Constraint name already exists: {on.database}.{on.table}.{first.name}")
        taken.add(first.name)
        return first.name

    def _check_first_key(self, name: TableName, table_id: int) -> None:
        if table_id in self._with_primary_key or constraints.without_foreign_keys(
            self._unit.connection, [ConstraintKind.PRIMARY_KEY], of(name)
        ):
            raise MetaError(f" Primary key already exists for: {name}")
        self._with_primary_key.add(table_id)

    def _check_reference(
        self,
        columns: Sequence[ColumnConstraint],
        child: ConstrainedTable,
        parent: ConstrainedTable,
        reference: Reference,
    ) -> None:
        """Raise MetaError unless the foreign key refers to a key, and to one other than its own columns."""
        keys = constraints.without_foreign_keys(self._unit.connection, _KEYS, of(reference.table))
        if not keys:
            raise MetaError(
                "Trying to define foreign key but there are no primary keys or unique keys for referenced table"
            )
        types = _types(child)
        for each in columns:
            _find_column(child, each.column, "Child")
            _find_column(parent, each.reference.column if each.reference else None, "Parent")
        referred = "".join(f"{each.reference.column}:{types[each.column]};" for each in columns if each.reference)
        possible = _signatures(keys, _types(parent))
        if referred not in possible:
            raise MetaError(
                f"Foreign key references {referred} but no corresponding primary key or unique key exists. "
                f"Possible keys: [{', '.join(sorted(possible))}]"
            )
        if child.id == parent.id and referred == "".join(f"{each.column}:{types[each.column]};" for each in columns):
            raise MetaError(f"Cannot be both foreign key and primary/unique key on same table: {referred}")


def _group_by_constraint(new: Sequence[ColumnConstraint]) -> Iterator[list[ColumnConstraint]]:
    """Group rows by constraint: a key ends before a row with position 1 or with another table or name."""
    group: list[ColumnConstraint] = []
    for each in new:
        if group and (each.kind not in (*_KEYS, ConstraintKind.FOREIGN_KEY) or _begins(each, group[0])):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _begins(constraint: ColumnConstraint, first: ColumnConstraint) -> bool:
    same = (constraint.table, constraint.name) == (first.table, first.name)
    return constraint.position == 1 or not same


def _find_column(holder: ConstrainedTable, column: str | None, part: str) -> ColumnIndex:
    if column is None:
        return NO_COLUMN
    index = holder.find_column(column)
    if index is None:
        raise InvalidConstraint(f"{part} column not found: {column}")
    return index


def _types(holder: ConstrainedTable) -> dict[str | None, str]:
    columns: tuple[Column, ...] = (*holder.columns, *holder.partition_keys)
    return {each.name.lower(): each.type for each in columns}


def _signatures(keys: Sequence[ColumnConstraint], types: dict[str | None, str]) -> set[str]:
    """Each key's columns with their types, as one text."""
    ordered = sorted(keys, key=lambda each: (each.name or "", each.position))
    return {
        "".join(f"{each.column}:{types[(each.column or '').lower()]};" for each in columns)
        for _, columns in groupby(ordered, key=lambda each: each.name)
    }


def _generated_name(first: ColumnConstraint, now_seconds: int, taken: set[str]) -> str:
    """A generated name, as in Hive: kind, a hash of the columns, the time in milliseconds, and a counter."""
    prefix = _PREFIXES[first.kind]
    digest = zlib.crc32(f"{first.table},{first.column},{first.reference},{prefix}".encode()) & 0xFFFFFFF
    names = (f"{prefix}_{digest}_{now_seconds * 1000}_{number}" for number in count())
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name
