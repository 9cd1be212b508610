"""A snapshot of a table, before or after a write, and which of its stored statistics were current then."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from hmstats.client import Metastore
from hmstats.collector.autogather.earlier_files import earlier_files, job_of
from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning.data_files import DataFile, list_files
from hmstats.collector.planning.fingerprint import PARAMETER, fingerprint
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import Plan, make_plan
from hmstats.collector.planning.preferred import PreferredRequest
from hmstats.collector.planning.prepare import Files, Hadoop, says_empty, with_file_settings
from hmstats.collector.scan.states import Types
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters import accurate
from hmstats.model.parameters.accurate import Accurate
from hmstats.model.parameters.basic_statistics import NUM_FILES, TOTAL_SIZE
from hmstats.model.parameters.row_counts import NUM_ROWS, row_count


@dataclass(frozen=True, slots=True)
class TableState:
    """A snapshot of a table: its plan with partitions and parameters, and files; the plan is None if there is no table.

    `files` are those of the listed pieces: of all pieces, or of those that a write touched. `options` are those of the
    statistics that a write makes.
    """

    plan: Plan | None = None
    files: Files = field(default_factory=dict)
    options: Options = DEFAULT

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The table's pieces, whether listed or not."""
        return () if self.plan is None else self.plan.pieces

    @property
    def all_listed(self) -> bool:
        """Whether the files of every piece are known."""
        return all(piece.name in self.files for piece in self.pieces)

    def with_rows(self) -> set[str]:
        """The pieces that may have rows: those with files and, if not listed, those not empty by the metastore."""
        return {each.name for each in self.pieces if self.files.get(each.name, not says_empty(each.parameters))}

    def trusted(self) -> dict[str, Piece]:
        """The listed pieces whose stored statistics of all columns cover exactly their files, by name."""
        if self.plan is None:
            return {}
        listed = (piece for piece in self.pieces if piece.name in self.files)
        return {each.name: each for each in listed if self.proves(each.parameters, self.files[each.name])}

    def proves(self, parameters: Parameters, files: Sequence[DataFile]) -> bool:
        """Whether parameters prove that statistics of all columns, by these options, are of exactly these files."""
        return self.plan is not None and true_of(parameters, files, self.plan.types, self.options)

    def changed_pieces(self, now: "TableState") -> list[str]:
        """The pieces listed in `now` whose files differ from those of this snapshot, or of their stored statistics."""
        known = {each.name: each for each in self.pieces}
        return [name for name, files in now.files.items() if not self._has_files(known.get(name), name, files)]

    def _has_files(self, piece: Piece | None, name: str, files: Sequence[DataFile]) -> bool:
        if name in self.files:
            return self.files[name] == files
        return piece is not None and self.proves(piece.parameters, files)

    def size(self, name: str) -> int | None:
        """The table's numFiles or totalSize; None if the metastore lacks the number of a piece that was not listed."""
        listed = len(self.every_file) if name == NUM_FILES else sum(file.bytes for file in self.every_file)
        told = [row_count(each.parameters.get(name)) for each in self.pieces if each.name not in self.files]
        return None if None in told else listed + sum(each or 0 for each in told)

    @property
    def every_file(self) -> list[DataFile]:
        """The files of all listed pieces, in the order of the pieces."""
        return list(chain.from_iterable(self.files.values()))


def read_table_state(service: Metastore, wanted: PreferredRequest, hadoop: Hadoop) -> TableState:
    """The table in its current state, with all files.

    `wanted` requests all partitions, and `hadoop` gives Hadoop's settings. Raises ServiceUnavailable, and
    StatementError as make_plan does.
    """
    found = read_unlisted_state(service, wanted, hadoop)
    return found if found.plan is None else with_files(found, {piece.name for piece in found.pieces})


def read_unlisted_state(service: Metastore, wanted: PreferredRequest, hadoop: Hadoop) -> TableState:
    """The table as the metastore describes it now, without any files. Raises as read_table_state() does."""
    if service.find_table(wanted.request.table) is None:
        return TableState(options=wanted.options)
    return TableState(with_file_settings(make_plan(service, wanted.request), hadoop), options=wanted.options)


def with_files(known: TableState, names: Collection[str]) -> TableState:
    """The table with the files of these pieces."""
    if known.plan is None:
        return known
    places = {piece.name: piece.location for piece in known.pieces if piece.name in names}
    return replace(known, files=list_files(places, known.plan.settings))


def with_earlier_files(before: TableState, now: TableState) -> TableState:
    """The table before an append, with those of the current files that existed then."""
    known = {each.name: each.parameters for each in before.pieces}

    def earlier(name: str, files: Sequence[DataFile]) -> Sequence[DataFile]:
        parameters = known.get(name, {})
        stored = row_count(parameters.get(NUM_FILES))
        return earlier_files(files, stored, lambda some: now.proves(parameters, some))

    return replace(before, files={name: earlier(name, files) for name, files in now.files.items()})


def true_of(parameters: Parameters, files: Sequence[DataFile], types: Types, options: Options) -> bool:
    """Whether the parameters prove that stored statistics of all columns cover exactly these files."""
    if not (parameters.get(NUM_ROWS) or "").isdecimal():
        return False
    known = parameters.get(PARAMETER)
    if known is not None:
        return known == fingerprint(files, types, options)
    marks = Accurate.parse(parameters.get(accurate.PARAMETER))
    counts = (str(len(files)), str(sum(file.bytes for file in files)))
    same = (parameters.get(NUM_FILES), parameters.get(TOTAL_SIZE)) == counts
    return same and marks.basic and marks.columns >= types.keys()


def check_alone(before: TableState, now: TableState) -> None:
    """Raises GatheringFailed if new files come from more than one job, so that another job wrote at the same time."""
    old = {file.path for file in before.every_file}
    jobs = {job_of(file) for file in now.every_file if file.path not in old}
    if len(jobs) > 1:
        raise GatheringFailed(f"{len(jobs)} jobs have written at the same time, of which one has gathered statistics")
