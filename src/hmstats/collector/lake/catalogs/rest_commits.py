"""Registers statistics at a catalog that writes the metadata itself: Iceberg's REST catalogs, and others of PyIceberg.

Such a catalog adds the entry to its newest metadata, so that no other commit is undone. The commit requires that the
table and its current snapshot are still the same. REST has no condition on statistics: if two engines register for one
snapshot at the same time, the later one's file stays.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, NoSuchTableError
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.statistics import StatisticsFile
from pyiceberg.table.update import AssertRefSnapshotId, AssertTableUUID, SetStatisticsUpdate

from hmstats.collector.lake.catalogs.errors import translate_errors
from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.registration import Base


@dataclass(frozen=True, slots=True)
class RestCommits:
    """Commits statistics to a table in one of PyIceberg's catalogs."""

    catalog: Any
    identifier: tuple[str, ...]

    def lock(self) -> AbstractContextManager[None]:
        """Does nothing: the catalog makes one commit after the other."""
        return nullcontext()

    def newest(self) -> Base | None:
        """The newest metadata; None if there is no such table. Raises ServiceError, StatementError."""
        with self._translate_errors():
            try:
                table = self._load()
            except NoSuchTableError:
                return None
        return Base(metadata_json(table), table.metadata_location)

    def commit(self, base: Base, entry: Mapping[str, Any]) -> bool:
        """Register an entry; False if another snapshot is now the current one. Raises ServiceError."""
        current = metadata_of.current_snapshot_id(base.metadata)
        conditions = (
            AssertTableUUID(uuid=base.metadata["table-uuid"]),
            AssertRefSnapshotId.model_validate({"ref": MAIN_BRANCH, "snapshot-id": current}),
        )
        update = SetStatisticsUpdate.model_validate({"statistics": StatisticsFile(**entry)})
        with self._translate_errors():
            try:
                self.catalog.commit_table(self._load(), conditions, (update,))
            except CommitFailedException:
                return False
            except CommitStateUnknownException:
                if not self._is_registered(entry):
                    raise
        return True

    def _load(self) -> Any:
        return self.catalog.load_table(self.identifier)

    def _is_registered(self, entry: Mapping[str, Any]) -> bool:
        """Whether a commit whose answer was lost has succeeded."""
        found = metadata_of.entries(metadata_json(self._load())).get(int(entry["snapshot-id"]))
        return found is not None and found["statistics-path"] == entry["statistics-path"]

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.catalog.name, f"table {'.'.join(self.identifier)}")


def metadata_json(table: Any) -> Mapping[str, Any]:
    """The metadata of PyIceberg's table as the JSON object of its file."""
    found: Mapping[str, Any] = table.metadata.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
