"""Makes the findings about the pieces that a write touched."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hmstats.client import Metastore
from hmstats.client.connection.batches import PARTITIONS_A_CALL, batches
from hmstats.collector.autogather.aggregation import WrittenPiece
from hmstats.collector.autogather.mergeable import stored_states
from hmstats.collector.autogather.table_state import TableState
from hmstats.collector.findings.finding import file_finding
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan
from hmstats.collector.report import Finding
from hmstats.collector.scan.placing import identity
from hmstats.collector.scan.states import States, Types
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.names import partition_values
from hmstats.model.parameters import accurate
from hmstats.model.parameters.accurate import Accurate
from hmstats.sketch.accumulator import TableAccumulator

STALE = dict.fromkeys(("numRows", "rawDataSize", accurate.PARAMETER, PARAMETER))
"""Parameters that are removed if their values may be stale."""
_SIZES_UNKNOWN = dict.fromkeys(("numFiles", "totalSize"))


class WrittenPieces:
    """Makes and counts the findings about pieces."""

    def __init__(
        self,
        service: Metastore,
        before: TableState,
        now: TableState,
        plan: Plan,
        *,
        appends: bool,
        known: Mapping[str, TableAccumulator],
    ) -> None:
        self._service, self._before, self._now, self._plan, self._appends = service, before, now, plan, appends
        self._known = known
        self._trusted = before.trusted() if appends else {}
        self.new = empty_state(plan.types, now.options)
        """The state of the written rows."""
        self.total: TableAccumulator | None = empty_state(plan.types, now.options)
        """The state of all rows of the written pieces; None if some of them are not known."""
        self.touched: set[str] = set()

    def findings(self, written: Iterable[WrittenPiece]) -> Iterator[tuple[str, Finding]]:
        """The finding about each written piece."""
        for batch in batches(self._rename_pieces(written), PARTITIONS_A_CALL):
            kept = [name for name, _ in batch if self._keeps_rows(name)]
            asked = (self._trusted.keys() & kept) - self._known.keys()
            earlier = {**stored_states(self._service, self._before, asked), **self._known}
            for name, state in batch:
                yield name, self._finding(name, state, earlier.get(name))

    def _rename_pieces(self, written: Iterable[WrittenPiece]) -> Iterator[WrittenPiece]:
        """The pieces under the metastore's names, which may differ from Spark's."""
        keys = self._plan.key_columns
        names = {identity(keys, piece.values): piece.name for piece in self._plan.pieces}
        for name, state in written:
            if name in self._now.files or not keys:
                yield name, state
            else:
                yield names.get(identity(keys, partition_values(name, self._plan.keys)), name), state

    def replaced(self) -> bool:
        """Whether the write has removed rows."""
        before = self._before.with_rows()
        gone = before - {piece.name for piece in self._plan.pieces}
        return bool(gone or (not self._appends and self.touched & before))

    def _keeps_rows(self, name: str) -> bool:
        return self._appends and bool(self._before.files.get(name))

    def _finding(self, name: str, state: TableAccumulator, stored: TableAccumulator | None) -> Finding:
        files = self._now.files.get(name)
        if files is None:
            raise GatheringFailed(f"partition {name} was written, but the metastore does not have it")
        self.touched.add(name)
        self.new = self.new.merge(state)
        if self._keeps_rows(name):
            if stored is None:
                self.total = None
                return stale_finding(files)
            state = stored.merge(state)
        if self.total is not None:
            self.total = self.total.merge(state)
        return finding_of(self._plan, files, state, self._now.options)


def finding_of(plan: Plan, files: Sequence[DataFile], state: TableAccumulator, options: Options) -> Finding:
    """The finding about exactly these files, with the state of their rows."""
    known = file_finding(plan, files, options)
    marks = {accurate.PARAMETER: Accurate(basic=True, columns=frozenset(plan.types)).text()}
    columns = state.statistics(plan.types)
    return replace(known, rows=state.rows, columns=columns, other={**marks, **known.other})


def stale_finding(files: Sequence[DataFile]) -> Finding:
    """The finding about files whose rows are unknown."""
    return Finding(None, sum(file.bytes for file in files), len(files), (), other=STALE)


def stale_table(now: TableState) -> Finding:
    """The finding about a table whose rows are unknown; sizes of pieces that were not listed are the metastore's."""
    return Finding(None, now.size("totalSize"), now.size("numFiles"), (), other={**_SIZES_UNKNOWN, **STALE})


def empty_state(types: Types, options: Options) -> TableAccumulator:
    """The state of no rows."""
    return States(types, options).of(WHOLE_TABLE)
