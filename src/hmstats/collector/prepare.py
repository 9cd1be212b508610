"""What happens before any job starts: the plan, the list of files, and what of it is left out as unchanged."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hmstats.client import Metastore
from hmstats.collector.changes import only_changed
from hmstats.collector.files import DataFile, list_files
from hmstats.collector.options import Options
from hmstats.collector.plan import Plan, make_plan
from hmstats.collector.statement import Statement
from hmstats.errors import StatementError

Files: TypeAlias = Mapping[str, Sequence[DataFile]]
"""The data files of each piece, by its name."""


def prepare(metastore: Metastore, request: Statement, options: Options, *, changed_only: bool) -> tuple[Plan, Files]:
    """The plan of a request and all its files, those of pieces that are left out as unchanged too.

    Raises StatementError as make_plan does, and when nothing could be left out.
    """
    check_changes(request, changed_only=changed_only)
    plan = make_plan(metastore, request)
    files = list_files({piece.name: piece.location for piece in plan.pieces})
    return only_changed(plan, files, options) if changed_only else plan, files


def check_changes(request: Statement, *, changed_only: bool) -> None:
    """Raises StatementError when only what changed is to be analysed, and nothing is read at all."""
    if changed_only and request.noscan:
        raise StatementError("noscan reads no data: changed_only has nothing to leave out")
