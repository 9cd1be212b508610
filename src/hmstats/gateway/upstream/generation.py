"""The statistics that a release of Hive accepts, and how it returns them."""

import re
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.column_types import of_own_kind
from hmstats.service.mirrors.digests import bare
from hmstats.wire.statistics.column_statistics import column_from_thrift, column_to_thrift, set_to_thrift

_MOST_SKETCH_BYTES = 65_535
"""The most bytes of a sketch: Hive on MySQL has no more room (BLOB)."""
_BOUNDS = ("lowValue", "highValue")
"""Fields for which Hive on Derby or MySQL refuses infinite values and NaN, and with them the whole call."""
_VERSION = re.compile(r"(\d+)\.")
_OURS = "hmstats"


@dataclass(frozen=True, slots=True)
class Generation:
    """The major version of a Hive, and whether it is an hmstats, which counts as Hive 4."""

    number: int
    is_ours: bool = False

    @classmethod
    def of(cls, name: str, version: str) -> "Generation":
        """The generation of a metastore that reports this version; hmstats and unknown versions count as Hive 4."""
        found = _VERSION.match(version)
        return cls(4 if found is None or name == _OURS else int(found[1]), name == _OURS)

    @property
    def is_4(self) -> bool:
        """Whether it has engines, ids of tables, histograms, and statistics of timestamps as a kind of their own."""
        return self.number >= 4

    def answer_to(self, column: ColumnStatistics) -> ColumnStatistics:
        """The statistics that the metastore will return after these were sent to it."""
        struct = column_to_thrift(column, hive4=self.is_4)
        self._cut_object(struct)
        told = column_from_thrift(struct)
        return bare(replace(told, data=of_own_kind(told.data, told.column_type)))

    def struct_of(self, name: TableName, statistics: StatisticsSet) -> Any:
        """The struct of statistics, without fields that the metastore does not accept."""
        struct = set_to_thrift(name, statistics, hive4=self.is_4, sketches=True, stamp=False)
        for each in struct.statsObj:
            self._cut_object(each)
        return struct

    def _cut_object(self, struct: Any) -> None:
        for member in vars(struct.statsData).values():
            if member is not None:
                self._cut(member)

    def _cut(self, member: Any) -> None:
        for bound in _BOUNDS if not self.is_ours else ():
            value = getattr(member, bound, None)
            if isinstance(value, float) and not isfinite(value):
                setattr(member, bound, None)
        kept = {"bitVectors": self.number >= 3, "histogram": self.is_4}
        for sketch, is_taken in kept.items():
            data = getattr(member, sketch, None)
            if data is not None and (not is_taken or len(data) > _MOST_SKETCH_BYTES):
                setattr(member, sketch, None)
