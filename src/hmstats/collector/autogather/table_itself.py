"""Makes the finding about a partitioned table itself after a write.

If all files were listed, before the write and after it, they prove which stored statistics of untouched partitions are
current. If only the touched partitions were listed, the metastore's parameters are trusted for the others; then the
table's numbers are stored, but not marked as accurate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hmstats.client import Metastore
from hmstats.collector.autogather.mergeable import stored_table_state, with_sketches
from hmstats.collector.autogather.table_state import TableState
from hmstats.collector.autogather.written_pieces import WrittenPieces, finding_of, stale_finding, stale_table
from hmstats.collector.findings.stored_states import stored_total
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import Plan
from hmstats.collector.report import Finding
from hmstats.model.parameters import accurate
from hmstats.model.parameters.accurate import Accurate
from hmstats.model.parameters.row_counts import NUM_ROWS, known_rows
from hmstats.sketch.accumulator import TableAccumulator


@dataclass(frozen=True, slots=True)
class TableItself:
    """The facts about a partitioned table after a write; `plan` is the one of `now`."""

    service: Metastore
    before: TableState
    now: TableState
    plan: Plan
    work: WrittenPieces

    def finding(self) -> Finding:
        """The finding about the table itself."""
        total = self._state()
        if self.now.all_listed:
            files = self.now.every_file
            made = stale_finding(files) if total is None else finding_of(self.plan, files, total, self.now.options)
        else:
            made = stale_table(self.now) if total is None else self._unmarked_finding(total)
        return replace(made, other={**made.other, "numPartitions": str(len(self.plan.pieces))})

    def _unmarked_finding(self, total: TableAccumulator) -> Finding:
        made = stale_table(self.now)
        return replace(made, rows=total.rows, columns=total.statistics(self.plan.types))

    def _state(self) -> TableAccumulator | None:
        """The state of all rows; None if it is not known."""
        with_rows = self.now.with_rows()
        others = [each for each in self.plan.pieces if each.name in with_rows - self.work.touched]
        if not others:
            return self.work.total
        if self.before.plan and not self.work.replaced() and self._table_is_current(self.before.plan, others):
            own = stored_table_state(self.service, self.before)
            return None if own is None else own.merge(self.work.new)
        if self.work.total is None or not self._are_current(others):
            return None
        stored = stored_total(self.service, self.plan, others)
        return None if stored is None else with_sketches(stored.merge(self.work.total), self.now.options)

    def _table_is_current(self, before: Plan, others: Sequence[Piece]) -> bool:
        """Whether the table's own statistics covered all of its rows before the write."""
        if self.now.all_listed:
            return self.before.proves(before.parameters, self.before.every_file)
        kept = {name for name in self.work.touched if self.before.files.get(name)}
        return kept <= self.before.trusted().keys() and self._are_current(others) and self._adds_up(before)

    def _are_current(self, others: Sequence[Piece]) -> bool:
        """Whether the stored statistics of these partitions, which the write did not touch, are current."""
        if self.now.all_listed:
            trusted, before, now = self.before.trusted(), self.before.files, self.now.files
            return all(each.name in trusted and now[each.name] == before.get(each.name) for each in others)
        told = {each.name: each.parameters for each in self.before.plan.pieces} if self.before.plan else {}
        return all(each.parameters == told.get(each.name) and self._is_marked(each) for each in others)

    def _is_marked(self, piece: Piece) -> bool:
        marks = Accurate.parse(piece.parameters.get(accurate.PARAMETER))
        return marks.basic and marks.columns >= self.plan.types.keys() and known_rows(piece.parameters) is not None

    def _adds_up(self, before: Plan) -> bool:
        """Whether the table's number of rows in the metastore was the sum of its partitions' before the write."""
        counted = self.before.with_rows()
        rows = sum(known_rows(piece.parameters) or 0 for piece in before.pieces if piece.name in counted)
        return before.parameters.get(NUM_ROWS) == str(rows)
