"""The warehouse: default locations, and the only place in which directories are created and removed.

Directories are changed only inside the roots: the warehouse, and the prefixes of `warehouse_roots`. A location outside
of them, or that leaves them by `..` or a symbolic link, is never touched; nor is a root itself, or a parent of one.
"""

import posixpath
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import Path

import structlog
from pyarrow import fs

from hmstats.errors import InvalidOperation, MetaError
from hmstats.files import directories, making, moves
from hmstats.files.file_systems import open_location
from hmstats.files.moves import DirectoryMove
from hmstats.files.trash import move_to_trash
from hmstats.model.catalog.location import LOCAL, Location, below, parse, parts_of
from hmstats.model.catalog.names import escape

EVERYWHERE = "*"
"""The root that contains all locations of every store."""
_MOST_LOGGED = 10
"""Most locations listed in one line of the log."""
_log = structlog.get_logger(__name__)

_Change = Callable[[fs.FileSystem, str], None]


class Warehouse:
    """Default locations of databases and tables, and the roots inside which directories are changed.

    `root` is the warehouse, a path or a URI. `roots` are further prefixes, EVERYWHERE for all. With `trash`, removed
    directories move to the trash, if the file system can rename directories (files/trash.py).
    """

    def __init__(self, root: str, roots: Sequence[str] = (), *, trash: bool = False) -> None:
        self.root = _absolute(root)
        self._everywhere = EVERYWHERE in roots
        self._root_texts = [self.root, *(_absolute(each) for each in roots if each != EVERYWHERE)]
        self._roots = [_real(parse(each)) for each in self._root_texts]
        self._trash = trash
        self._other_warehouses: set[Location] = set()
        """Clients' other warehouses that have been logged."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The prefixes inside which directories are changed, the warehouse first; with EVERYWHERE at the end if set."""
        return (*self._root_texts, *((EVERYWHERE,) if self._everywhere else ()))

    def database_location(self, database: str, catalog_location: str | None = None) -> str:
        """Default location of a database: `<database>.db` below its catalog's location, for `hive` in the warehouse.

        The database `default` is at the parent location itself.
        """
        parent = catalog_location.rstrip("/") if catalog_location else self.root
        return parent if database == "default" else f"{parent}/{escape(database)}.db"

    def table_location(self, database_location: str, table: str) -> str:
        """Default location of a table."""
        return below(database_location, escape(table))

    def may_change(self, location: str | None) -> bool:
        """Whether a directory may be moved and removed: it lies inside a root, links followed, and contains no root."""
        return bool(self._inside([location]))

    def warn_of_other_warehouse(self, database: str, location: str, own: str) -> None:
        """Log that a client uses another warehouse, once for each.

        Its database has the same directory name as the default location (`own`), but another parent.
        """
        parsed = parse(location)
        if parsed.name != f"{escape(database)}.db" or parsed == parse(own) or parsed.parent in self._other_warehouses:
            return
        self._other_warehouses.add(parsed.parent)
        _log.warning(
            "client_has_another_warehouse",
            database=database,
            location=location,
            warehouse=self.root,
            advice=f"give it the server's: spark.sql.warehouse.dir={self.root}",
        )

    def check_inside(self, subject: str, location: str | None) -> None:
        """Raise MetaError if a new object would lie outside of the roots: nothing would remove its directory."""
        if location and not self._covers(_real(parse(location))):
            raise MetaError(
                f"{subject} must lie in {self._roots_text()}, found {location}: add its location to warehouse_roots"
            )

    def check_move(self, subject: str, old: str, new: str) -> None:
        """Raise InvalidOperation unless a directory may move from `old` to `new`, both inside the roots."""
        for each in (old, new):
            if not self.may_change(each):
                raise InvalidOperation(
                    f"{subject} cannot be renamed: {old} would have to move to {new}, and {each} does not lie in "
                    f"{self._roots_text()}; add its location to warehouse_roots"
                )

    def check_changeable(self, subject: str, locations: Iterable[str]) -> None:
        """Raise MetaError if a directory may not be changed."""
        inside = self._inside(all_locations := list(locations))
        if len(inside) < len(all_locations):
            (first, *_) = sorted(set(all_locations).difference(inside))
            raise MetaError(
                f"{subject}: {first} does not lie in {self._roots_text()}; add its location to warehouse_roots"
            )

    def check_no_file(self, location: str) -> None:
        """Raise InvalidOperation if a location inside the roots is a file, not a directory."""
        if not self._covers(_real(parse(location))):
            return
        try:
            files, path = open_location(location)
            info = files.get_file_info(path)
        except OSError as error:
            _log.warning("directory_not_checked", location=location, reason=str(error))
            return
        if info.type is fs.FileType.File:
            raise InvalidOperation(f"{location} must be a directory, found a file")

    def make_directory(self, location: str | None, unable: str | None = None, *, may_be_files: bool = False) -> None:
        """Create a directory as `make_directories` does; `unable` is the text of the error, without its reason."""
        self.make_directories([location], unable, may_be_files=may_be_files)

    def make_directories(
        self, locations: Iterable[str | None], unable: str | None = None, *, may_be_files: bool = False
    ) -> None:
        """Create directories inside the roots, all or none; locations outside of them are skipped.

        An existing one costs next to nothing. Raises MetaError, with Hive's text, if one cannot be created, and if a
        location is a file unless `may_be_files`.
        """
        real = _real_locations()
        inside, outside = list[str](), list[str]()
        for each in dict.fromkeys(locations):
            if each:
                (inside if self._covers(real(parse(each))) else outside).append(each)
        if outside:
            # Engines make the directories that they name themselves; a call may bring thousands of those.
            _log.info(
                "directories_not_made", locations=outside[:_MOST_LOGGED], number=len(outside), roots=self._root_texts
            )
        try:
            making.make_all(inside, may_be_files=may_be_files)
        except making.CannotMake as error:
            message = unable or f"{error.location} is not a directory or unable to create one"
            raise MetaError(f"{message}: {error}") from error

    def inside(self, locations: Iterable[str]) -> list[str]:
        """The locations that may be moved and removed: inside the roots."""
        return self._inside(locations)

    def remove_directories(
        self, locations: Iterable[str | None], *, keys: int = 1, purge: bool = False, within: str | None = None
    ) -> None:
        """Remove directories inside the roots with all their contents; skipped ones are logged.

        Also removes those of the `keys - 1` parents of each that are empty and lie inside `within`, if given.
        """
        remove = self._removal(purge=purge)
        end = parse(within) if within else None

        for location in self._inside(locations, "remove"):
            above = parse(location).parents()[: keys - 1]
            levels = len([each for each in above if end is None or end.holds(each)])

            def upwards(files: fs.FileSystem, path: str, levels: int = levels) -> None:
                remove(files, path)
                directories.remove_empty_parents(files, path, levels)

            self._try_change(location, "remove", upwards)

    def empty_directories(self, locations: Iterable[str], *, purge: bool = False) -> None:
        """Remove the contents of directories inside the roots. Raises MetaError if one cannot be emptied."""
        failures = []
        for each in self._inside(locations, "empty"):
            try:
                self._empty(*open_location(each), purge=purge)
            except OSError as error:
                failures.append(f"{each} could not be emptied: {error}")
        if failures:
            raise MetaError(failures[0])

    def _empty(self, files: fs.FileSystem, path: str, *, purge: bool) -> None:
        if not self._trash or purge or not directories.renames(files):
            directories.empty(files, path)
            return
        for each in files.get_file_info(fs.FileSelector(path, allow_not_found=True)):
            move_to_trash(files, each.path)

    def files_at(self, locations: Iterable[str]) -> set[str]:
        """The paths of all files inside of these locations. Raises MetaError if one cannot be listed."""
        return {path for each in locations for path in self._files_of(each)}

    def with_files(self, locations: Iterable[str]) -> set[str]:
        """The locations with files inside. Raises MetaError if one cannot be listed."""
        return {each for each in locations if self._files_of(each)}

    def _files_of(self, location: str) -> list[str]:
        try:
            files, path = open_location(location)
            infos = files.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
        except OSError as error:
            raise MetaError(f"{location} could not be listed: {error}") from error
        return [str(each.path) for each in infos if each.is_file]

    def log_kept(self, locations: Collection[str]) -> None:
        """Log that directories of a dropped object are not removed, since another object uses them."""
        _log_kept(locations, "another object's location equals, contains or lies in it")

    def planned_move(self, old: str, new: str) -> DirectoryMove | None:
        """Plan the move of a directory to another location inside the roots; None if it does not exist.

        Raises InvalidOperation if it cannot be moved. Nothing is changed yet.
        """
        for each in (old, new):
            if not self.may_change(each):
                raise InvalidOperation(f"{each} does not lie in {self._roots_text()}: no directory was moved")
        if parse(old).scheme != parse(new).scheme or parse(old).authority != parse(new).authority:
            raise InvalidOperation(f"{old} could not be moved to {new}: they are in two stores")
        try:
            files, path = open_location(old)
            target = open_location(new)[1]
            if files.get_file_info(path).type is fs.FileType.NotFound:
                return None
            if files.get_file_info(target).type is not fs.FileType.NotFound:
                raise InvalidOperation(f"{new} exists already: {old} was not moved")
        except OSError as error:
            raise InvalidOperation(f"{old} could not be moved to {new}: {error}") from error
        return DirectoryMove(files, path, target)

    def undo_move(self, old: str, new: str, *, copied: bool, identity: str | None) -> None:
        """Undo a planned move, however far it came. Raises InvalidOperation if that fails."""
        try:
            files, path = open_location(old)
            target = open_location(new)[1]
            if copied:
                moves.undo_copy(files, path, target)
            else:
                moves.undo_rename(files, path, target, identity)
        except OSError as error:
            raise InvalidOperation(f"{new} could not be moved back to {old}: {error}") from error

    def _removal(self, *, purge: bool) -> _Change:
        def remove(files: fs.FileSystem, path: str) -> None:
            if self._trash and not purge and directories.renames(files):
                move_to_trash(files, path)
            else:
                directories.remove(files, path)

        return remove

    def _inside(self, locations: Iterable[str | None], verb: str | None = None) -> list[str]:
        """The locations that may be moved and removed. If `verb` is given, the others are logged with it."""
        real = _real_locations()
        named = [each for each in locations if each]
        inside = [each for each in named if self._may_change(real(parse(each)))]
        if verb and len(inside) < len(named):
            _log_kept(set(named).difference(inside), f"it is not inside the warehouse_roots, {self._roots_text()}")
        return inside

    def _covers(self, location: Location) -> bool:
        if not location.is_absolute:
            return False
        return self._everywhere or any(root == location or root.holds(location) for root in self._roots)

    def _may_change(self, location: Location) -> bool:
        if location.is_root or not self._covers(location):
            return False
        return not any(root == location or location.holds(root) for root in self._roots)

    def _roots_text(self) -> str:
        return "an absolute location" if self._everywhere else ", ".join(self._root_texts)

    def _try_change(self, location: str, verb: str, change: _Change) -> None:
        try:
            change(*open_location(location))
        except OSError as error:
            # The catalog has committed: the engine that writes there will report the error.
            _log.warning("directory_not_changed", verb=verb, location=location, reason=str(error))


def _log_kept(locations: Collection[str], reason: str) -> None:
    named = sorted(locations)[:_MOST_LOGGED]
    if named:
        _log.warning("directories_left", locations=named, number=len(locations), reason=reason)


def _absolute(text: str) -> str:
    """The absolute location without a slash at its end; a path becomes `file:/path`, as Hadoop writes it."""
    location = parse(text)
    if parts_of(text)[0] != LOCAL:
        return text.rstrip("/")
    return "file:" + (location.path if location.is_absolute else Path(location.path).absolute().as_posix())


def _real(location: Location) -> Location:
    return _real_locations()(location)


def _real_locations() -> Callable[[Location], Location]:
    """A function that resolves a location's links. Links of each parent are resolved once: few parents have many."""

    @cache
    def resolved(path: str) -> str:
        return Path(path).resolve().as_posix()

    def real(location: Location) -> Location:
        if location.scheme != LOCAL or not location.is_absolute or location.is_root:
            return location
        parent, name = posixpath.split(location.path)
        path = posixpath.join(resolved(parent), name)
        return Location(LOCAL, location.authority, resolved(path) if posixpath.islink(path) else path)

    return real
