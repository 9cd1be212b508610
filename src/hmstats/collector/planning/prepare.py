"""Prepares an analysis before any job starts: the plan, the list of files, and the unchanged pieces to skip."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from hmstats.client import Metastore
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile, list_each
from hmstats.collector.planning.locked import without_locked
from hmstats.collector.planning.manifests import files_in_manifests
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import ORC, PARQUET, Plan, make_plan
from hmstats.collector.planning.stream_logs import read_by_log
from hmstats.collector.planning.unchanged import only_changed
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.files.file_systems import NoFileSystem, settings_of
from hmstats.model.catalog.location import parts_of
from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import FILE_SIZES
from hmstats.model.parameters.row_counts import NUM_ROWS

Files: TypeAlias = Mapping[str, Sequence[DataFile]]
"""The data files of each piece, by its name."""
Hadoop: TypeAlias = Callable[[str], str | None]
"""Returns a setting of Hadoop by its name, None if it is unset."""
_UNSET: Mapping[str, str] = {}


class Lister(Protocol):
    """Lists files in stores that this machine has no client for."""

    def list_each(self, locations: Mapping[str, str]) -> Mapping[str, list[DataFile] | OSError]:
        """The data files under each location, or the error if it cannot be listed."""


def prepare(
    metastore: Metastore,
    request: Statement,
    options: Options,
    *,
    changed_only: bool,
    hadoop: Hadoop = _UNSET.get,
    elsewhere: Lister | None = None,
    past_locks: bool = False,
    automatic: bool = False,
) -> tuple[Plan, Files]:
    """The plan of a request and all its files, including those of unchanged pieces.

    Files in stores that this machine has no client for are listed by `elsewhere`, and read by the same client.

    Locked parts are left out, unless `past_locks`. If the analysis is `automatic` or of `changed_only`, so are parts
    that automatic analyses leave out. With noscan, `changed_only` leaves out only parts that are locked or skipped.
    Raises StatementError as make_plan and read_by_log do, if everything is locked, and if no piece can be listed.
    """
    plan = read_by_log(with_file_settings(make_plan(metastore, request), hadoop))
    if not past_locks:
        plan = without_locked(metastore, plan, automatic=automatic or changed_only)
    plan, files = list_pieces(plan, elsewhere)
    return only_changed(plan, files, options) if changed_only and not request.noscan else plan, files


def list_pieces(plan: Plan, elsewhere: Lister | None = None) -> tuple[Plan, Files]:
    """The plan without the pieces that cannot be listed, and the files of the others.

    Raises StatementError if no piece can be listed.
    """
    found = list_each({piece.name: piece.location for piece in plan.pieces}, plan.settings)
    unreachable = {piece.name: piece.location for piece in plan.pieces if isinstance(found[piece.name], NoFileSystem)}
    if unreachable and elsewhere is not None:
        found |= elsewhere.list_each(unreachable)
        plan = replace(plan, pieces=tuple(_read_elsewhere(piece, unreachable) for piece in plan.pieces))
    by_manifest = {piece.name: piece.location for piece in plan.pieces if piece.by_manifest}
    if by_manifest:
        found |= files_in_manifests(by_manifest, {name: found[name] for name in by_manifest}, plan.settings)
    files = {piece.name: files_of(piece, found[piece.name]) for piece in plan.pieces}
    unlisted = tuple((piece, each) for piece in plan.pieces if isinstance(each := files[piece.name], str))
    if unlisted and len(unlisted) == len(plan.pieces):
        check_listed(replace(plan, unlisted=unlisted))
    pieces = tuple(piece for piece in plan.pieces if not isinstance(files[piece.name], str))
    there = {name: each for name, each in files.items() if not isinstance(each, str)}
    return replace(plan, pieces=pieces, unlisted=unlisted), there


def _read_elsewhere(piece: Piece, unreachable: Container[str]) -> Piece:
    """The piece; if its files are in a store that tasks cannot reach, it is not marked to be read directly."""
    if piece.name not in unreachable:
        return piece
    form = PARQUET if piece.parquet else ORC if piece.orc else ""
    return replace(piece, parquet=False, orc=False, elsewhere=form)


def files_of(piece: Piece, found: Sequence[DataFile] | OSError) -> Sequence[DataFile] | str:
    """The files of a piece, or the reason why they cannot be listed.

    A missing location counts as empty only if the metastore says that the piece is empty. Otherwise it may be on a disk
    that is not mounted, and a count of 0 rows would be wrong.
    """
    if not isinstance(found, OSError):
        return found
    if not isinstance(found, FileNotFoundError):
        return f"{piece.location} cannot be listed: {found.strerror or found}"
    if says_empty(piece.parameters):
        return ()
    return (
        f"{piece.location} does not exist, and the metastore does not say that nothing is in it: make the directory if "
        "that is so"
    )


def check_listed(plan: Plan) -> None:
    """Raises StatementError if any piece of the plan cannot be listed."""
    if not plan.unlisted:
        return
    more = f"; and {len(plan.unlisted) - 1} more" if len(plan.unlisted) > 1 else ""
    piece, reason = plan.unlisted[0]
    what = f"partition {piece.name} of " if piece.name else ""
    raise StatementError(f"{what}{plan.table.typed} cannot be analysed: {reason}{more}")


def says_empty(parameters: Parameters) -> bool:
    """Whether parameters declare a piece empty: one of the counts is 0, and no other is above 0.

    A number of rows that is not marked as accurate may be stale, so it counts only without counts of files and bytes.
    """
    counts = {parameters[name] for name in FILE_SIZES if name in parameters}
    if NUM_ROWS in parameters and (not counts or Accurate.parse(parameters.get(PARAMETER)).basic):
        counts.add(parameters[NUM_ROWS])
    return "0" in counts and counts <= {"0", "-1"}


def with_file_settings(plan: Plan, hadoop: Hadoop) -> Plan:
    """The plan with Hadoop's settings for its locations."""
    locations = (plan.spark_location, *(piece.location for piece in plan.pieces))
    return replace(plan, settings=settings_of((parts_of(each)[:2] for each in locations), hadoop))


def check_changes(request: Statement, *, changed_only: bool) -> None:
    """Raises StatementError if a caller wants changed_only with noscan, which reads no data."""
    if changed_only and request.noscan:
        raise StatementError("noscan reads no data: changed_only has nothing to leave out")
