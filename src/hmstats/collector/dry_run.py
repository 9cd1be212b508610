"""What an analysis would do, found out without Spark."""

from dataclasses import dataclass
from typing import Any

from hmstats.client import Metastore
from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.prepare import prepare
from hmstats.collector.splits import cut
from hmstats.collector.statement import Statement


@dataclass(frozen=True, slots=True)
class DryRun:
    """The plan of an analysis in numbers.

    `table` is its name. `partitions` are those that would be analysed, `unchanged` how many would be left out; `files`
    and `bytes` are what would be looked at. `columns` have statistics, `skipped` none. `tasks` is how many Spark tasks
    read the files; None where Spark itself cuts the work, or where the number of cores is not known.
    """

    table: str
    partitions: int
    unchanged: int
    files: int
    bytes: int
    columns: tuple[str, ...]
    skipped: tuple[str, ...]
    tasks: int | None

    def as_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def dry_run(
    metastore: Metastore,
    request: Statement,
    *,
    options: Options = DEFAULT,
    changed_only: bool = False,
    cores: int | None = None,
) -> DryRun:
    """The plan of a request, for a Spark of so many cores. Raises StatementError as an analysis would."""
    plan, files = prepare(metastore, request, options, changed_only=changed_only)
    wanted = [file for piece in plan.pieces for file in files[piece.name]]
    tasks = 0 if request.noscan else None
    if not request.noscan and plan.parquet and cores is not None:
        tasks = len(cut(plan.pieces, files, cores, options))
    return DryRun(
        table=f"{plan.table.database}.{plan.table.table}",
        partitions=len(plan.pieces) if plan.keys else 0,
        unchanged=len(plan.unchanged),
        files=len(wanted),
        bytes=sum(file.bytes for file in wanted),
        columns=tuple(plan.types),
        skipped=tuple(plan.skipped),
        tasks=tasks,
    )
