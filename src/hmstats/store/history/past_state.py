"""Statistics and parameters of a table as of a time: what is stored now, with what later writes have replaced.

For each column's statistics the first step after the time that covers them counts: it has the values that it replaced,
or there were none. Sketches are represented by their hashes, and read for those that are wanted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, literal_column, or_, select

from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.statistics_keys import RESTORED, SPARK
from hmstats.store.history import replaced_rows, replay, steps
from hmstats.store.history.replaced_rows import CONTENT, OwnerKind
from hmstats.store.history.replay import content_of
from hmstats.store.history.steps import OF_TABLE, Key, Kind, Step
from hmstats.store.history.stored_values import Content
from hmstats.store.schema import (
    DBS,
    HMSTATS_HISTORY_COLUMN,
    HMSTATS_HISTORY_PARAMETER,
    HMSTATS_HISTORY_PARTITION,
    HMSTATS_HISTORY_SKETCH,
    PARTITION_PARAMS,
    PARTITIONS,
    TABLE_PARAMS,
    TBLS,
)
from hmstats.store.statements.value_sets import bound, one_of

_KEYS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class State:
    """The state of a table at a time. `partitions` are names by id, of those that existed."""

    table_id: int
    columns: Mapping[Key, Content]
    parameters: Mapping[int, Mapping[str, str]]
    partitions: Mapping[int, str]


def table_at(connection: Connection, name: TableName, at_ms: int) -> int | None:
    """The id of the table that had this name at a time, and may have been renamed or dropped since; None if none had.

    Of two tables of the name after the time, the one that was changed first was there before the other. If there was
    none, the table that has the name now counts, if it existed under another.
    """
    current = current_table(connection, name)
    first_steps: dict[int, Step] = {}
    created: dict[int, int | None] = {}
    for step in steps.steps_of_name(connection, name, current):
        created[step.table_id] = step.created_seconds or created.get(step.table_id)
        if step.at_ms > at_ms:
            first_steps.setdefault(step.table_id, step)
    created |= _created(connection, [*created, *([] if current is None else [current])])
    young = {each for each, seconds in created.items() if (seconds or 0) * 1000 > at_ms}
    with_name = [step for step in first_steps.values() if step.table == name and step.table_id not in young]
    if with_name:
        return min(with_name, key=lambda step: step.at_ms).table_id
    return None if current in young else current


def current_table(connection: Connection, name: TableName) -> int | None:
    """The id of the table that has this name now."""
    query = select(TBLS.c.TBL_ID).join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
    here = DBS.c.CTLG_NAME == name.catalog, DBS.c.NAME == name.database, TBLS.c.TBL_NAME == name.table
    found: int | None = connection.execute(query.where(*here)).scalar_one_or_none()
    return found


def now(connection: Connection, table_id: int, *, with_columns: bool = True) -> State:
    """The current state of a table."""
    parts = select(PARTITIONS.c.PART_ID, PARTITIONS.c.PART_NAME).where(PARTITIONS.c.TBL_ID == table_id)
    return State(
        table_id,
        _stored_columns(connection, table_id) if with_columns else {},
        _stored_parameters(connection, table_id),
        dict(connection.execute(parts).all()),
    )


def at(connection: Connection, table_id: int, at_ms: int, *, with_columns: bool = True) -> State:
    """The state of a table of this id, which may no longer exist, at a time; columns only if they are wanted."""
    current, later = now(connection, table_id, with_columns=with_columns), steps.after(connection, table_id, at_ms)
    young = select(PARTITIONS.c.PART_ID).where(PARTITIONS.c.TBL_ID == table_id, PARTITIONS.c.CREATE_TIME * 1000 > at_ms)
    partitions = dict(current.partitions)
    for each in connection.execute(young).scalars():
        del partitions[each]
    if not later:
        return _restrict(current, partitions)
    since = later[0].version
    before, made_later = _names_before(connection, table_id, since, at_ms)
    absent = _arrived(later) | made_later
    partitions = _names_at(_without(partitions, absent), _without(before, absent))
    columns = _columns_before(connection, table_id, since, later, current.columns) if with_columns else {}
    parameters = _parameters_before(connection, table_id, since, later, current.parameters)
    return _restrict(State(table_id, columns, parameters, partitions), partitions)


def _restrict(state: State, partitions: Mapping[int, str]) -> State:
    """The state without partitions that did not exist."""
    columns = {key: found for key, found in state.columns.items() if key[0] in partitions or key[0] == OF_TABLE}
    parameters = {each: found for each, found in state.parameters.items() if each in partitions or each == OF_TABLE}
    return State(state.table_id, columns, parameters, partitions)


def partition_names(connection: Connection, table_id: int) -> dict[int, str]:
    """The names of a table's partitions by id, also of those that are gone."""
    parts = select(PARTITIONS.c.PART_ID, PARTITIONS.c.PART_NAME).where(PARTITIONS.c.TBL_ID == table_id)
    names, _ = _names_before(connection, table_id)
    return names | dict(connection.execute(parts).all())


def sketches(connection: Connection, table_id: int, rows: Iterable[tuple[Key, Content]]) -> dict[bytes, bytes]:
    """The sketches of these rows by their hashes, from the history and from what is stored now."""
    wanted_hashes, owners = set[bytes](), set[int]()
    for key, content in rows:
        hashes_of_row = [each for each in content[replaced_rows.HASHES_AT] if each is not None]
        wanted_hashes.update(map(bytes, hashes_of_row))
        owners.update([key.partition_id] if hashes_of_row else [])
    s, by_hash = HMSTATS_HISTORY_SKETCH.c, dict[bytes, bytes]()
    hashes = sorted(wanted_hashes)
    for start in range(0, len(hashes), _KEYS_AT_ONCE):
        query = select(s.HASH, s.BYTES).where(s.TBL_ID == table_id, s.HASH.in_(hashes[start : start + _KEYS_AT_ONCE]))
        by_hash |= {bytes(hashed): bytes(sketch) for hashed, sketch in connection.execute(query)}
    if wanted_hashes - by_hash.keys():
        by_hash |= _stored_sketches(connection, table_id, owners)
    return by_hash


def _created(connection: Connection, table_ids: Sequence[int]) -> dict[int, int | None]:
    """The times of creation, in epoch seconds, of those of these tables that exist."""
    query = select(TBLS.c.TBL_ID, TBLS.c.CREATE_TIME).where(one_of(connection, TBLS.c.TBL_ID, table_ids))
    return dict(connection.execute(query).all())


def _stored_columns(connection: Connection, table_id: int) -> dict[Key, Content]:
    columns: dict[Key, Content] = {}
    for kind in OwnerKind:
        query = replaced_rows.stored_query(connection.dialect.name, kind)
        for row in connection.execute(query, _ids(connection, [table_id])):
            columns[Key(*row[:3])] = content_of(row[3:])
    return columns


def _stored_sketches(connection: Connection, table_id: int, owners: Collection[int]) -> dict[bytes, bytes]:
    by_hash: dict[bytes, bytes] = {}
    of_table = [table_id] if OF_TABLE in owners else []
    for kind, ids in ((OwnerKind.TABLES, of_table), (OwnerKind.PARTITIONS, sorted({*owners} - {OF_TABLE}))):
        query = replaced_rows.stored_sketches(connection.dialect.name, kind)
        for row in connection.execute(query, _ids(connection, ids)) if ids else ():
            pairs = zip(row[1:4], row[4:], strict=True)
            by_hash |= {bytes(hashed): bytes(sketch) for hashed, sketch in pairs if hashed is not None}
    return by_hash


def _ids(connection: Connection, ids: Sequence[int]) -> dict[str, Any]:
    return {"ids": bound(connection, ids), "counted": bound(connection, []), "step": 0}


def _stored_parameters(connection: Connection, table_id: int) -> dict[int, dict[str, str]]:
    t, p = TABLE_PARAMS.c, PARTITION_PARAMS.c
    of_table = select(literal_column(str(OF_TABLE)), t.PARAM_KEY, t.PARAM_VALUE).where(t.TBL_ID == table_id)
    query = select(p.PART_ID, p.PARAM_KEY, p.PARAM_VALUE).join(PARTITIONS, PARTITIONS.c.PART_ID == p.PART_ID)
    of_partitions = query.where(PARTITIONS.c.TBL_ID == table_id)
    parameters: dict[int, dict[str, str]] = {}
    for rows, c in ((of_table, t), (of_partitions, p)):
        kept = or_(one_of(connection, c.PARAM_KEY, RESTORED), c.PARAM_KEY.like(f"{SPARK}%"))
        for owner, key, value in connection.execute(rows.where(kept)):
            parameters.setdefault(owner, {})[key] = value or ""
    return parameters


def _names_before(
    connection: Connection, table_id: int, since: int = 0, at_ms: int | None = None
) -> tuple[dict[int, str], set[int]]:
    """The names that partitions had before the first step since a version, and those that were made after a time.

    What such a step says of when a partition was made counts: a later alter may have stated another time.
    """
    c = HMSTATS_HISTORY_PARTITION.c
    query = select(c.PART_ID, c.PART_NAME, c.CREATED).where(c.TBL_ID == table_id, since <= c.VERSION)
    names: dict[int, str] = {}
    made_later = set[int]()
    for each, name, created in connection.execute(query.order_by(c.VERSION, c.STEP)):
        if each in names or each in made_later:
            continue
        if at_ms is not None and (created or 0) * 1000 > at_ms:
            made_later.add(each)
        else:
            names[each] = name
    return names, made_later


def _names_at(now: Mapping[int, str], before: Mapping[int, str]) -> dict[int, str]:
    """The names of partitions at a time. If several had one name since, the one that lost it first had it then."""
    ids: dict[str, int] = {}
    for each, name in before.items():
        ids.setdefault(name, each)
    for each, name in now.items():
        if each not in before:
            ids.setdefault(name, each)
    return {each: name for name, each in ids.items()}


def _arrived(later: Sequence[Step]) -> set[int]:
    """The partitions that came from another table before anything dropped them, or took them to another."""
    first: dict[int, Kind] = {}
    for step in later:
        if step.kind in (Kind.ARRIVED, Kind.DROPPED):
            first |= dict.fromkeys((step.partitions or frozenset()) - first.keys(), step.kind)
    return {each for each, kind in first.items() if kind is Kind.ARRIVED}


def _without(names: Mapping[int, str], absent: Collection[int]) -> dict[int, str]:
    return {each: name for each, name in names.items() if each not in absent}


def _columns_before(
    connection: Connection, table_id: int, since: int, later: Sequence[Step], current: Mapping[Key, Content]
) -> dict[Key, Content]:
    c = HMSTATS_HISTORY_COLUMN.c
    place = func.row_number().over(partition_by=[c.PART_ID, c.ENGINE, c.COLUMN_NAME], order_by=[c.VERSION, c.STEP])
    rows = select(HMSTATS_HISTORY_COLUMN, place.label("place")).where(c.TBL_ID == table_id, since <= c.VERSION)
    first = rows.subquery("first").c
    names = ("PART_ID", "ENGINE", "COLUMN_NAME", "VERSION", "STEP", *CONTENT)
    changed_rows = connection.execute(select(*(first[name] for name in names)).where(first.place == 1)).all()
    by_partition = _by_partition(later)
    columns = {key: content for key, content in current.items() if _covering(by_partition, key) is None}
    for row in changed_rows:
        key = Key(*row[:3])
        if _covering(by_partition, key) == (row[3], row[4]):
            columns[key] = content_of(row[5:])
    return columns | _columns_not_copied(connection, table_id, later, by_partition)


def _columns_not_copied(
    connection: Connection,
    table_id: int,
    later: Sequence[Step],
    by_partition: tuple[Mapping[int, Sequence[Step]], Sequence[Step]],
) -> dict[Key, Content]:
    """The statistics before the steps that cover them first and have not copied them."""
    wanted: dict[tuple[int, int], list[Key]] = {}
    seen, since = set[Key](), list[int]()
    for step in later:
        if step.since is None:
            continue
        number, new = (step.version, step.number), [key for key in step.keys if key not in seen]
        first = [key for key in new if _covering(by_partition, key) == number]
        seen.update(new)
        if first:
            wanted[number] = first
            since.append(step.since)
    return replay.rows_before(connection, table_id, wanted, min(since)) if wanted else {}


def _by_partition(later: Sequence[Step]) -> tuple[Mapping[int, Sequence[Step]], Sequence[Step]]:
    """The steps by the partition that they name, and those about all partitions; both in order."""
    named: dict[int, list[Step]] = {}
    about_all = [step for step in later if step.partitions is None]
    for step in later:
        for each in step.partitions or ():
            named.setdefault(each, []).append(step)
    return named, about_all


def _covering(later: tuple[Mapping[int, Sequence[Step]], Sequence[Step]], key: Key) -> tuple[int, int] | None:
    """The version and number of the first step that covers the statistics; None if none does."""
    named, about_all = later
    each = (step for some in (named.get(key.partition_id, ()), about_all) for step in some if step.covers(*key))
    return min(((step.version, step.number) for step in each), default=None)


def _parameters_before(
    connection: Connection,
    table_id: int,
    since: int,
    later: Sequence[Step],
    current: Mapping[int, Mapping[str, str]],
) -> dict[int, Mapping[str, str]]:
    c = HMSTATS_HISTORY_PARAMETER.c
    rows: dict[tuple[int, int, int], dict[str, str]] = {}
    query = select(c.VERSION, c.STEP, c.PART_ID, c.PARAM_KEY, c.PARAM_VALUE)
    for version, number, owner, key, value in connection.execute(query.where(c.TBL_ID == table_id, since <= c.VERSION)):
        rows.setdefault((version, number, owner), {})[key] = value or ""
    parameters, covered_owners = dict(current), set[int]()
    owners = current.keys() | {owner for _, _, owner in rows}
    for step in later:
        if step.kind not in (Kind.PARAMETERS, Kind.DROPPED):
            continue
        for owner in [each for each in owners - covered_owners if step.is_about(each)]:
            covered_owners.add(owner)
            parameters[owner] = rows.get((step.version, step.number, owner), {})
    return parameters
