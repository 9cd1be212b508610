"""A snapshot of a table, before or after a write, and which of its stored statistics are current then."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from hmstats.client import Metastore
from hmstats.collector.options import DEFAULT
from hmstats.collector.planning.data_files import DataFile, list_files
from hmstats.collector.planning.fingerprint import PARAMETER, fingerprint
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import Plan, make_plan
from hmstats.collector.planning.prepare import Files, Hadoop, with_file_settings
from hmstats.collector.request.statement import Statement
from hmstats.collector.scan.states import Types
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters import accurate
from hmstats.model.parameters.accurate import Accurate

_JOB = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The job's id in the name of a file."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A snapshot of a table: its partitions with their parameters, and all files; None if the table does not exist."""

    plan: Plan | None = None
    files: Files = field(default_factory=dict)

    def trusted(self) -> dict[str, Piece]:
        """The pieces whose stored statistics of all columns are of exactly their files, by name."""
        if self.plan is None:
            return {}
        types = self.plan.types
        return {each.name: each for each in self.plan.pieces if true_of(each.parameters, self.files[each.name], types)}

    @property
    def every_file(self) -> list[DataFile]:
        """The files of all pieces, in the order of the pieces."""
        return list(chain.from_iterable(self.files.values()))


def situation(service: Metastore, name: TableName, hadoop: Hadoop) -> Situation:
    """The table now; `hadoop` gives Hadoop's settings. Raises ServiceUnavailable, and StatementError as make_plan."""
    if service.find_table(name) is None:
        return Situation()
    plan = with_file_settings(make_plan(service, Statement(name)), hadoop)
    return Situation(plan, list_files({piece.name: piece.location for piece in plan.pieces}, plan.settings))


def true_of(parameters: Parameters, files: Sequence[DataFile], types: Types) -> bool:
    """Whether the parameters prove that statistics of all columns are stored for exactly these files."""
    if not (parameters.get("numRows") or "").isdecimal():
        return False
    known = parameters.get(PARAMETER)
    if known is not None:
        return known == fingerprint(files, types, DEFAULT)
    marks = Accurate.parse(parameters.get(accurate.PARAMETER))
    counts = (str(len(files)), str(sum(file.bytes for file in files)))
    same = (parameters.get("numFiles"), parameters.get("totalSize")) == counts
    return same and marks.basic and marks.columns >= types.keys()


def check_alone(before: Situation, now: Situation) -> None:
    """Raises GatheringFailed if new files are of more than one job, so that another job wrote at the same time."""
    old = {file.path for file in before.every_file}
    names = (file.path.rpartition("/")[2] for file in now.every_file if file.path not in old)
    jobs = {found[0] if (found := _JOB.search(name)) else "" for name in names}
    if len(jobs) > 1:
        raise GatheringFailed(f"{len(jobs)} jobs have written at the same time, of which one has gathered statistics")
