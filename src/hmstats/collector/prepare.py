"""What happens before any job starts: the plan, the list of files, and what of it is left out as unchanged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from hmstats.client import Metastore
from hmstats.collector.changes import only_changed
from hmstats.collector.file_systems import settings_of
from hmstats.collector.files import DataFile, list_files, parts_of
from hmstats.collector.options import Options
from hmstats.collector.plan import Plan, make_plan
from hmstats.collector.statement import Statement
from hmstats.errors import StatementError

Files: TypeAlias = Mapping[str, Sequence[DataFile]]
"""The data files of each piece, by its name."""
_UNSET: Mapping[str, str] = {}


def prepare(
    metastore: Metastore,
    request: Statement,
    options: Options,
    *,
    changed_only: bool,
    hadoop: Callable[[str], str | None] = _UNSET.get,
) -> tuple[Plan, Files]:
    """The plan of a request and all its files, those of pieces that are left out as unchanged too.

    `hadoop` gives a setting of Hadoop by its name, None where it is not set.
    Raises StatementError as make_plan does, and when nothing could be left out.
    """
    check_changes(request, changed_only=changed_only)
    plan = make_plan(metastore, request)
    places = (parts_of(piece.location)[:2] for piece in plan.pieces)
    plan = replace(plan, settings=settings_of(places, hadoop))
    files = list_files({piece.name: piece.location for piece in plan.pieces}, plan.settings)
    return only_changed(plan, files, options) if changed_only else plan, files


def check_changes(request: Statement, *, changed_only: bool) -> None:
    """Raises StatementError when only what changed is to be analysed, and nothing is read at all."""
    if changed_only and request.noscan:
        raise StatementError("noscan reads no data: changed_only has nothing to leave out")
