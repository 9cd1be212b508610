"""Other places for an Iceberg table's statistics: Puffin files for Trino, Spark and others, a parameter for Impala."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.client import Metastore
from hmstats.collector.lake.iceberg.file_commits import FileCommits, MetastorePointer
from hmstats.collector.lake.iceberg.impala_snapshots import PARAMETER, with_snapshot
from hmstats.collector.lake.iceberg.registration import Commits, SnapshotSketches, register
from hmstats.collector.lake.opened import SketchedColumn
from hmstats.collector.report import PuffinFile
from hmstats.model.catalog.objects import TableName
from hmstats.sketch.distinct.theta import ThetaSketch


@dataclass(frozen=True, slots=True)
class IcebergOutlet:
    """A snapshot of an opened table, for which statistics are registered; `fields` are its columns by name."""

    table: TableName
    metadata: Mapping[str, Any]
    snapshot_id: int
    io: Any
    fields: Mapping[str, SketchedColumn]

    def register(
        self, metastore: Metastore, sketches: Mapping[str, ThetaSketch], unwanted: Collection[str]
    ) -> PuffinFile:
        """Register sketches of columns of a metastore's table, as register_by does."""
        return self.register_by(
            FileCommits(MetastorePointer(metastore.iceberg, self.table), self.io), sketches, unwanted
        )

    def register_by(
        self, commits: Commits, sketches: Mapping[str, ThetaSketch], unwanted: Collection[str]
    ) -> PuffinFile:
        """Register sketches of columns; earlier ones by hmstats for `unwanted` columns are removed.

        Raises as registration.register does.
        """
        found = register(
            commits,
            self.table.short,
            self.io,
            SnapshotSketches(
                str(self.metadata.get("table-uuid")),
                self.snapshot_id,
                {self.fields[name].field_id: sketch for name, sketch in sketches.items()},
                {self.fields[name].field_id for name in unwanted},
            ),
        )
        names = {column.field_id: name for name, column in self.fields.items()}
        return PuffinFile(found.path, tuple(names.get(each, str(each)) for each in found.fields), found.reason)

    def parameters(self, before: Mapping[str, str], columns: Collection[str]) -> dict[str, str]:
        """The parameter that tells Impala the snapshot of the metastore's statistics of these columns."""
        fields = {self.fields[name].field_id for name in columns if name in self.fields}
        return {PARAMETER: with_snapshot(before.get(PARAMETER, ""), fields, self.snapshot_id)}
