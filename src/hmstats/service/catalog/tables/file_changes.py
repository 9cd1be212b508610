"""Changes of directories together with the catalog: both happen or neither, wherever a server is killed.

A row (store/storage/file_changes.py) describes each change in progress. A move works on files first; the commit of the
catalog also deletes its row, or replaces it by the removal of the source. If the row of a move remains, the catalog has
the old location, and the move is undone. A drop writes its row with its commit, and a truncation before it empties
anything: both are finished later. A conflicting call waits for a change, or settles it if the change's server is gone.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import structlog

from hmstats.errors import FilesBusy, HmstatsError, InvalidOperation, MetaError
from hmstats.files.moves import DirectoryMove
from hmstats.model.catalog.file_changes import FileChange, Kind, Move, Removal, Renamed, Truncated
from hmstats.model.catalog.location import near
from hmstats.service.catalog.drops import without_inner
from hmstats.service.catalog.tables import emptied
from hmstats.service.catalog.tables.table_rules import is_purged
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.connections.presence import new_id
from hmstats.store.database.store import Store
from hmstats.store.storage import drop_locations as places
from hmstats.store.storage import file_changes
from hmstats.store.unit.unit import Unit

_MOST_COPIES = 5
"""Most attempts to copy a directory whose files change during the copy."""
_PAUSE_SECONDS = 0.1
_log = structlog.get_logger("hmstats.files")


class MayMove(Protocol):
    """Result of a change of the catalog that may need a directory moved."""

    @property
    def move(self) -> Move | None:
        """The move of the directory; None if nothing moves."""


Result = TypeVar("Result")
Moved = TypeVar("Moved", bound=MayMove)


@dataclass(frozen=True, slots=True)
class DroppedDirectories:
    """Directories of a dropped object: `removal` lists those to remove, `shared` those that other objects use."""

    subject: str
    removal: Removal
    shared: Collection[str] = ()


class PlannedTruncation(NamedTuple):
    """A truncation to start: its object, the directories to reserve, the details for its row, what to empty and how."""

    subject: str
    places: tuple[str, ...]
    truncated: Truncated
    locations: tuple[str, ...]
    purge: bool


class FileChanges:
    """Changes directories together with the catalog."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse

    def add(self, attempt: Callable[[], Result]) -> Result:
        """Run an attempt to add objects whose writers may have put files at their locations already.

        If a change removes files there, wait for its end; the removal of a server that is gone spares these locations.
        Raises MetaError if files that were there have been removed meanwhile, FilesBusy at the timeout.
        """
        try:
            return attempt()
        except FilesBusy as busy:
            before = self._warehouse.files_at(busy.places)
            self.retry_while_busy(partial(self._check_stays, busy.places), sparing=busy.places)
            lost = before - self._warehouse.files_at(busy.places)
            if lost:
                raise MetaError(
                    f"nothing was added: {min(lost)} was removed by a {busy.changes[0].kind} of "
                    f"{busy.changes[0].subject} that was in progress; write the files again"
                ) from busy
            return self.add(attempt)

    def _check_stays(self, locations: Sequence[str]) -> None:
        with self._store.read() as connection:
            file_changes.check_stays(connection, locations)

    def retry_while_busy(self, attempt: Callable[[], Result], *, sparing: Collection[str] = ()) -> Result:
        """Run an attempt; repeat it after conflicting changes have ended. Raises FilesBusy at the timeout.

        Removals that are finished for servers that are gone spare the locations `sparing`.
        """
        give_up = time.monotonic() + self._store.patience_seconds
        while True:
            try:
                return attempt()
            except FilesBusy as busy:
                if not busy.changes or time.monotonic() > give_up:
                    raise
                if not sum(self._settle(each, sparing) for each in busy.changes):
                    time.sleep(_PAUSE_SECONDS)

    def move(self, work: Callable[[Unit], Moved], *, must_be_there: bool = False) -> Moved:
        """Commit the work together with the move of a directory that it asks for. Returns the work's result.

        If it asks for a move, it runs twice: the first run is rolled back. Raises InvalidOperation, and changes
        nothing, if the directory cannot be moved, or is missing and `must_be_there`.
        """
        result = self._store.write(work, keep=lambda each: each.move is None)
        if result.move is None:
            return result
        change_id = new_id()
        with self._store.presence.mark_running(change_id):
            owner = self._store.presence.owner_id()
            change = FileChange(
                change_id, owner, Kind.PLANNED, result.move.subject, (result.move.source, result.move.target)
            )
            self.retry_while_busy(lambda: self._store.write(partial(file_changes.begin, change=change)))
            try:
                return self._move_directory(work, change, result.move, must_be_there=must_be_there)
            except BaseException:
                self._undo(change)
                raise

    def drop(self, work: Callable[[Unit], tuple[Result, DroppedDirectories | None]]) -> Result:
        """Commit the work, then remove the directories that it names. Returns the work's result."""
        change_id = new_id()

        def work_and_note(unit: Unit) -> tuple[Result, DroppedDirectories | None, FileChange | None]:
            result, leaving = work(unit)
            return result, leaving, self._note_removal(unit, change_id, leaving) if leaving else None

        with self._store.presence.mark_running(change_id):
            result, leaving, change = self.retry_while_busy(lambda: self._store.write(work_and_note))
            if leaving:
                self._warehouse.log_kept(leaving.shared)
                self._remove(leaving.removal)
            if change:
                with _log_for_chores(change):
                    self._remove_row(change)
        return result

    def truncate(self, work: Callable[[Unit], PlannedTruncation | None]) -> None:
        """Commit the work, empty the directories that it names, then mark them as empty in the catalog.

        Raises MetaError if one of them cannot be emptied.
        """
        change_id = new_id()

        def begun(unit: Unit) -> tuple[FileChange, PlannedTruncation] | None:
            emptying = work(unit)
            if emptying is None:
                return None
            owner = self._store.presence.owner_id()
            change = FileChange(change_id, owner, Kind.TRUNCATE, emptying.subject, emptying.places, emptying.truncated)
            file_changes.begin(unit, change)
            return change, emptying

        with self._store.presence.mark_running(change_id):
            started = self.retry_while_busy(lambda: self._store.write(begun))
            if started:
                self._truncate(*started)

    def recover(self, kinds: Collection[Kind] = tuple(Kind)) -> None:
        """Finish or undo the changes of these kinds whose servers are gone. Raises StoreUnavailable."""
        with self._store.read() as connection:
            changes = file_changes.pending(connection)
        for each in changes:
            if each.kind in kinds:
                self._settle(each)
        self._store.presence.remove_abandoned_files()

    def _move_directory(
        self, work: Callable[[Unit], Moved], change: FileChange, move: Move, *, must_be_there: bool
    ) -> Moved:
        directory = self._warehouse.planned_move(move.source, move.target)
        if directory is None and must_be_there:
            raise InvalidOperation(f"{move.subject}: its directory {move.source} does not exist, nothing was moved")
        for _ in range(_MOST_COPIES):
            change = self._prepare(change, move, directory)
            commit = partial(self._commit, work=work, change=change, move=move, directory=directory)
            result, removal = self._store.write(commit, keep=lambda each: each[0] is not None)
            if result is not None:
                if removal:
                    with _log_for_chores(removal):
                        self._finish(removal)
                return result
        raise InvalidOperation(
            f"{move.subject}: its directory {move.source} was not moved, since its files keep changing"
        )

    def _prepare(self, change: FileChange, move: Move, directory: DirectoryMove | None) -> FileChange:
        """Write the kind of a move to its row before any file is touched, then make copies. Returns the change."""
        if directory is None:
            return change
        kind = Kind.COPY if directory.copies else Kind.RENAME
        if change.kind is not kind:
            into = replace(change, kind=kind, details=Renamed(directory.identity()))
            self._store.write(partial(file_changes.replace, change=change, into=into))
            change = into
        with _as_invalid_operation(move):
            directory.prepare()
        return change

    def _commit(
        self, unit: Unit, work: Callable[[Unit], Moved], change: FileChange, move: Move, directory: DirectoryMove | None
    ) -> tuple[Moved | None, FileChange | None]:
        """Commit a move: catalog, row and last step on files. Returns the work's result and the removal still to do.

        The result is None if the files must be copied again first. A rename comes last, just before the commit: until
        then readers find the files at the location in the catalog.
        """
        result = work(unit)
        if result.move != move:
            raise InvalidOperation(
                f"{move.subject} was changed by another writer while its directory moved: nothing was moved"
            )
        removal = _removal_of_source(change) if change.kind is Kind.COPY else None
        if removal:
            file_changes.replace(unit, change, removal)
        else:
            file_changes.end(unit, change)
        self._store.log(unit)
        unit.send()
        if directory is None:
            return result, None
        with _as_invalid_operation(move):
            return (result, removal) if directory.finish() else (None, None)

    def _undo(self, change: FileChange) -> None:
        """Undo a move after an error, unless it was committed after all."""
        with _log_for_chores(change):
            with self._store.read() as connection:
                current = file_changes.get(connection, change)
            if current is not None:
                self._finish(current)

    def _note_removal(self, unit: Unit, change_id: int, leaving: DroppedDirectories) -> FileChange | None:
        """Write the row of a removal; None if no location is inside the warehouse roots."""
        inside = self._warehouse.inside(leaving.removal.locations)
        if not inside:
            return None
        within = leaving.removal.within
        directories = tuple(without_inner([*([within] if within else []), *inside]))
        removal = replace(leaving.removal, locations=tuple(inside))
        owner = self._store.presence.owner_id()
        change = FileChange(change_id, owner, Kind.REMOVE, leaving.subject, directories, removal)
        file_changes.begin_removal(unit, change)
        return change

    def _settle(self, change: FileChange, sparing: Collection[str] = ()) -> bool:
        """Finish or undo a change whose server is gone. Returns False if that was not done."""
        presence = self._store.presence
        if not presence.is_abandoned(change.id, change.owner):
            return False
        with presence.mark_running(change.id) as mine:
            own = self._take_over(change) if mine else None
            if own is None:
                return False
            try:
                self._finish(own, sparing)
            except HmstatsError as error:
                _log.error("file_change_not_settled", of=own.subject, kind=own.kind, reason=str(error))
                return False
        _log.warning("file_change_settled", of=own.subject, kind=own.kind, places=own.places)
        return True

    def _take_over(self, change: FileChange) -> FileChange | None:
        """The abandoned change, now owned by this process; None if another was faster or it has ended."""
        mine = replace(change, owner=self._store.presence.owner_id())
        if mine.owner != change.owner:
            self._store.write(partial(file_changes.take_over, change=change, owner=mine.owner))
        with self._store.read() as connection:
            return file_changes.get(connection, mine)

    def _finish(self, change: FileChange, sparing: Collection[str] = ()) -> None:
        """Finish a removal or truncation, undo a move, and remove its row."""
        if isinstance(change.details, Truncated):
            self._finish_truncation(change, change.details)
            return
        if isinstance(change.details, Removal):
            self._remove(self._without_used(change.details, sparing))
        elif change.kind is not Kind.PLANNED:
            source, target = change.places
            identity = change.details.identity if change.kind is Kind.RENAME else None
            self._warehouse.undo_move(source, target, copied=change.kind is Kind.COPY, identity=identity)
        self._remove_row(change)

    def _remove_row(self, change: FileChange) -> None:
        self._store.write(partial(file_changes.remove, change=change))

    def _remove(self, removal: Removal) -> None:
        self._warehouse.remove_directories(
            removal.locations, keys=removal.keys, purge=removal.purge, within=removal.within
        )

    def _without_used(self, removal: Removal, sparing: Collection[str]) -> Removal:
        """The removal without directories in which another object lies by now, or is to lie; those are logged."""
        with self._store.read() as connection:
            taken = places.holding_any(connection, removal.locations)
            if not removal.moved:
                taken |= places.used_by_others(connection, removal.locations, removal.table_id)
        taken |= set(near(sparing, removal.locations))
        self._warehouse.log_kept(taken)
        return replace(removal, locations=tuple(each for each in removal.locations if each not in taken))

    def _truncate(self, change: FileChange, emptying: PlannedTruncation) -> None:
        """Empty the directories of a truncation, then update the catalog. Raises MetaError."""
        try:
            self._warehouse.empty_directories(emptying.locations, purge=emptying.purge)
        except MetaError:
            self._commit_truncation(change, emptying.truncated, done=False)
            raise
        self._commit_truncation(change, emptying.truncated, done=True)

    def _finish_truncation(self, change: FileChange, truncated: Truncated) -> None:
        """Finish the truncation of a server that is gone, unless the table has been dropped or written to since.

        Somebody who has written to it may have put files there. Directories in which another object lies by now are
        skipped and logged. Raises MetaError.
        """
        with self._store.read() as connection:
            name = tables.find_name(connection, truncated.table_id)
            table = tables.get(connection, name) if name else None
            unchanged = versions.read(connection, truncated.table_id) == truncated.version
            locations = emptied.locations(connection, table, truncated.names) if table and unchanged else []
            taken = places.used_by_others(connection, locations, truncated.table_id)
        self._warehouse.log_kept(taken)
        if table is None or not unchanged:
            self._commit_truncation(change, truncated, done=False)
            return
        free = tuple(each for each in locations if each not in taken)
        self._truncate(
            change, PlannedTruncation(change.subject, change.places, truncated, free, purge=is_purged(table))
        )

    def _commit_truncation(self, change: FileChange, truncated: Truncated, *, done: bool) -> None:
        """Update the catalog after a truncation, unless the table was dropped, and end its row.

        If others have written to the table since the truncation began, what has files by now is not said to be empty.
        If the truncation was not `done`, only marks of accurate statistics are removed.
        """

        def write(unit: Unit) -> None:
            name = tables.lock_by_id(unit, truncated.table_id)
            stored = tables.get(unit.connection, name) if name else None
            if stored:
                if not done:
                    emptied.unmark_accurate(unit, stored, truncated.table_id, truncated.names)
                elif versions.read(unit.connection, truncated.table_id) == truncated.version:
                    emptied.mark_empty(unit, stored, truncated.table_id, truncated.names)
                else:
                    locations = emptied.locations(unit.connection, stored, truncated.names)
                    filled = self._warehouse.with_files(locations)
                    emptied.mark_empty(unit, stored, truncated.table_id, truncated.names, filled)
            file_changes.end(unit, change)

        self._store.write(write)


@contextmanager
def _log_for_chores(change: FileChange) -> Iterator[None]:
    """Log an error of work that a later chore can repeat: the outcome of the call is already decided."""
    try:
        yield
    except HmstatsError as error:
        _log.warning("file_change_left", of=change.subject, places=change.places, reason=str(error))


@contextmanager
def _as_invalid_operation(move: Move) -> Iterator[None]:
    """Raise InvalidOperation for an error of the file system."""
    try:
        yield
    except OSError as error:
        raise InvalidOperation(f"{move.source} could not be moved to {move.target}: {error}") from error


def _removal_of_source(change: FileChange) -> FileChange:
    """The change that follows a committed move by copies: the removal of its source."""
    source = change.places[:1]
    return replace(change, kind=Kind.REMOVE, places=source, details=Removal(source, purge=True, moved=True))
