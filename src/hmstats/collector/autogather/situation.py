"""A table at one moment, before or after a write, and what of its stored statistics is true then."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from hmstats.client import Metastore
from hmstats.collector.feeds.states import Types
from hmstats.collector.files import DataFile, list_files
from hmstats.collector.fingerprint import PARAMETER, fingerprint
from hmstats.collector.options import DEFAULT
from hmstats.collector.pieces import Piece
from hmstats.collector.plan import Plan, make_plan
from hmstats.collector.prepare import Files
from hmstats.collector.statement import Statement
from hmstats.errors import GatheringFailed
from hmstats.model import accurate
from hmstats.model.accurate import Accurate
from hmstats.model.catalog import Parameters, TableName

_JOB = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What the names of files have of the job that wrote them."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A table at one moment: its partitions with their parameters, and all files; None: there is no such table."""

    plan: Plan | None = None
    files: Files = field(default_factory=dict)

    def trusted(self) -> dict[str, Piece]:
        """The pieces whose stored statistics are of their files, all of them, by name."""
        if self.plan is None:
            return {}
        types = self.plan.types
        return {each.name: each for each in self.plan.pieces if true_of(each.parameters, self.files[each.name], types)}

    @property
    def every_file(self) -> list[DataFile]:
        """The files of all pieces, in the order of the pieces."""
        return list(chain.from_iterable(self.files.values()))


def situation(service: Metastore, name: TableName) -> Situation:
    """The table now. Raises ServiceUnavailable."""
    if service.find_table(name) is None:
        return Situation()
    plan = make_plan(service, Statement(name))
    return Situation(plan, list_files({piece.name: piece.location for piece in plan.pieces}))


def true_of(parameters: Parameters, files: Sequence[DataFile], types: Types) -> bool:
    """Whether parameters say that statistics of all columns are stored, of these very files."""
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
    """Raises GatheringFailed when new files are of more than one job: then another has written at the same time."""
    old = {file.path for file in before.every_file}
    names = (file.path.rpartition("/")[2] for file in now.every_file if file.path not in old)
    jobs = {found[0] if (found := _JOB.search(name)) else "" for name in names}
    if len(jobs) > 1:
        raise GatheringFailed(f"{len(jobs)} jobs have written at the same time, of which one has gathered statistics")
