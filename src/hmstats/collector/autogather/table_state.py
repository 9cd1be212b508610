"""A snapshot of a table, before or after a write, and which of its stored statistics are current then."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain

from hmstats.client import Metastore
from hmstats.collector.autogather.earlier_files import earlier_files, job_of
from hmstats.collector.options import DEFAULT
from hmstats.collector.planning.data_files import DataFile, list_files
from hmstats.collector.planning.fingerprint import PARAMETER, fingerprint
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import Plan, make_plan
from hmstats.collector.planning.prepare import Files, Hadoop, says_empty, with_file_settings
from hmstats.collector.request.statement import Statement
from hmstats.collector.scan.states import Types
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters import accurate
from hmstats.model.parameters.accurate import Accurate
from hmstats.model.parameters.basic_statistics import NUM_FILES, TOTAL_SIZE
from hmstats.model.parameters.row_counts import NUM_ROWS, row_count


@dataclass(frozen=True, slots=True)
class TableState:
    """A snapshot of a table: its partitions with their parameters, and files; the plan is None if there is no table.

    `files` are those of the pieces that were listed: of all of them, or of those that a write touched.
    """

    plan: Plan | None = None
    files: Files = field(default_factory=dict)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The table's pieces, whether listed or not."""
        return () if self.plan is None else self.plan.pieces

    @property
    def all_listed(self) -> bool:
        """Whether the files of every piece are known."""
        return all(piece.name in self.files for piece in self.pieces)

    def with_rows(self) -> set[str]:
        """The pieces that may have rows: those that have files, or that the metastore does not call empty."""
        return {each.name for each in self.pieces if self.files.get(each.name, not says_empty(each.parameters))}

    def trusted(self) -> dict[str, Piece]:
        """The listed pieces whose stored statistics of all columns are of exactly their files, by name."""
        if self.plan is None:
            return {}
        listed, types = (piece for piece in self.pieces if piece.name in self.files), self.plan.types
        return {each.name: each for each in listed if true_of(each.parameters, self.files[each.name], types)}

    def changed_pieces(self, now: "TableState") -> list[str]:
        """The pieces listed now that have other files than in this snapshot, or than they were counted for."""
        known = {each.name: each for each in self.pieces}
        return [name for name, files in now.files.items() if not self._has_files(known.get(name), name, files)]

    def _has_files(self, piece: Piece | None, name: str, files: Sequence[DataFile]) -> bool:
        if name in self.files:
            return self.files[name] == files
        return self.plan is not None and piece is not None and true_of(piece.parameters, files, self.plan.types)

    def size(self, name: str) -> int | None:
        """The table's numFiles or totalSize; None if the metastore does not know it of a piece that was not listed."""
        listed = len(self.every_file) if name == NUM_FILES else sum(file.bytes for file in self.every_file)
        told = [row_count(each.parameters.get(name)) for each in self.pieces if each.name not in self.files]
        return None if None in told else listed + sum(each or 0 for each in told)

    @property
    def every_file(self) -> list[DataFile]:
        """The files of all listed pieces, in the order of the pieces."""
        return list(chain.from_iterable(self.files.values()))


def read_table_state(service: Metastore, name: TableName, hadoop: Hadoop) -> TableState:
    """The table now, with all files.

    `hadoop` gives Hadoop's settings. Raises ServiceUnavailable, and StatementError as make_plan.
    """
    found = read_unlisted_state(service, name, hadoop)
    return found if found.plan is None else with_files(found, {piece.name for piece in found.pieces})


def read_unlisted_state(service: Metastore, name: TableName, hadoop: Hadoop) -> TableState:
    """The table now as the metastore knows it: nothing is listed. Raises as read_table_state()."""
    if service.find_table(name) is None:
        return TableState()
    return TableState(with_file_settings(make_plan(service, Statement(name)), hadoop))


def with_files(known: TableState, names: Collection[str]) -> TableState:
    """The table with the files of these pieces."""
    if known.plan is None:
        return known
    places = {piece.name: piece.location for piece in known.pieces if piece.name in names}
    return TableState(known.plan, list_files(places, known.plan.settings))


def with_earlier_files(before: TableState, now: TableState) -> TableState:
    """The table before an append, with the earlier ones of the files that are there now."""
    known = {each.name: each.parameters for each in before.pieces}
    types = {} if now.plan is None else now.plan.types

    def earlier(name: str, files: Sequence[DataFile]) -> Sequence[DataFile]:
        parameters = known.get(name, {})
        stored = row_count(parameters.get(NUM_FILES))
        return earlier_files(files, stored, lambda some: true_of(parameters, some, types))

    return TableState(before.plan, {name: earlier(name, files) for name, files in now.files.items()})


def true_of(parameters: Parameters, files: Sequence[DataFile], types: Types) -> bool:
    """Whether the parameters prove that statistics of all columns are stored for exactly these files."""
    if not (parameters.get(NUM_ROWS) or "").isdecimal():
        return False
    known = parameters.get(PARAMETER)
    if known is not None:
        return known == fingerprint(files, types, DEFAULT)
    marks = Accurate.parse(parameters.get(accurate.PARAMETER))
    counts = (str(len(files)), str(sum(file.bytes for file in files)))
    same = (parameters.get(NUM_FILES), parameters.get(TOTAL_SIZE)) == counts
    return same and marks.basic and marks.columns >= types.keys()


def check_alone(before: TableState, now: TableState) -> None:
    """Raises GatheringFailed if new files are of more than one job, so that another job wrote at the same time."""
    old = {file.path for file in before.every_file}
    jobs = {job_of(file) for file in now.every_file if file.path not in old}
    if len(jobs) > 1:
        raise GatheringFailed(f"{len(jobs)} jobs have written at the same time, of which one has gathered statistics")
