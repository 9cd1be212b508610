"""The plan of an analysis in numbers, made without Spark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.client import Metastore
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.lake.plan import LakePlan, plan_lake
from hmstats.collector.options import AS_PREFERRED, Choices, Options
from hmstats.collector.planning.preferred import apply_preferences
from hmstats.collector.planning.prepare import check_changes, prepare
from hmstats.collector.request.statement import Statement
from hmstats.collector.scan.files.splits import cut

_UNSET: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class DryRun:
    """The plan of an analysis in numbers.

    `table` is its name. `partitions` would be analysed, `unchanged` is the number of those that would be skipped, and
    `unlisted` gives the reason for each that could not be analysed; `files` and `bytes` would be read. `columns` have
    statistics, `skipped` none. `tasks` is the number of Spark tasks that read the files; None if Spark itself splits
    the work, or if the number of cores is unknown. `locked` partitions would be skipped; `left_out` is the reason for
    which the whole table would be.
    """

    table: str
    partitions: int
    unchanged: int
    files: int
    bytes: int
    columns: tuple[str, ...]
    skipped: tuple[str, ...]
    tasks: int | None
    unlisted: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    left_out: str | None = None

    def as_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def dry_run(
    metastore: Metastore,
    request: Statement,
    *,
    options: Options | Choices = AS_PREFERRED,
    changed_only: bool = False,
    cores: int | None = None,
    conf: Mapping[str, str] = _UNSET,
    past_locks: bool = False,
) -> DryRun:
    """The plan of a request, for a Spark with these settings and so many `cores`.

    Only Hadoop's settings in `conf` (spark.hadoop.*) are used. Raises StatementError as an analysis would.
    """
    check_changes(request, changed_only=changed_only)
    wanted = apply_preferences(metastore, request, options, row_counts=False)
    request, options = wanted.request, wanted.options
    found = metastore.find_table(request.table)

    def hadoop(name: str) -> str | None:
        return conf.get(f"spark.hadoop.{name}")

    if found is not None and is_lake_table(found):
        how = {"changed_only": changed_only, "past_locks": past_locks}
        return _of_lake(plan_lake(metastore, found, request, options, hadoop=hadoop, **how))
    plan, files = prepare(metastore, request, options, changed_only=changed_only, hadoop=hadoop, past_locks=past_locks)
    read = [file for piece in plan.pieces for file in files[piece.name]]
    tasks = 0 if request.noscan else None
    if not request.noscan and plan.in_files and cores is not None:
        tasks = len(cut(plan.pieces, files, cores, options, plan.settings))
    return DryRun(
        table=plan.table.typed,
        partitions=len(plan.pieces) if plan.keys else 0,
        unchanged=len(plan.unchanged),
        files=len(read),
        bytes=sum(file.bytes for file in read),
        columns=tuple(plan.types),
        skipped=tuple(plan.skipped),
        tasks=tasks,
        unlisted=tuple(f"{piece.name}: {reason}" for piece, reason in plan.unlisted),
        locked=tuple(piece.name for piece in plan.locked),
        left_out=plan.left_out,
    )


def _of_lake(plan: LakePlan) -> DryRun:
    """The plan for a table that is read by its format's own metadata, without Spark."""
    return DryRun(
        table=plan.table.name.typed,
        partitions=0,
        unchanged=int(plan.unchanged),
        files=0 if plan.unchanged else len(plan.opened.files),
        bytes=0 if plan.unchanged else plan.bytes,
        columns=tuple(plan.types),
        skipped=tuple(plan.skipped),
        tasks=0,
    )
