"""Finds earlier versions of a Delta Lake table to which rows were only added since, by the entries of its log.

Appends add files; compactions and other commits without a change of data change no row. If files were removed or got a
deletion vector, or if the schema has changed, the table is read as a whole: the removed rows are not known without
reading them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmstats.collector.lake.delta_files import DeltaFiles, LiveFile
from hmstats.collector.lake.opened import AddedFiles, EarlierVersion
from hmstats.files.file_systems import open_location

_MOST_COMMITS = 1_000
"""The most entries of the log that are read, from the newest back, each with a request of its own."""
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_FIELD_ID = "delta.columnMapping.id"


@dataclass(frozen=True, slots=True)
class Log:
    """The log of a table.

    `version` is the newest, `live` are the live files by their paths in the log.
    """

    table_id: str
    version: int
    live: Mapping[str, LiveFile]
    files: DeltaFiles

    def earlier(self) -> Iterator[EarlierVersion]:
        """The versions to which rows were only added since, the newest first."""
        added: list[str] = []
        for version in range(self.version, max(self.version - _MOST_COMMITS, 0), -1):
            paths = added_paths(self._read_entries(version))
            if paths is None:
                return
            added = [*paths, *added]
            yield self._version(version - 1, tuple(added))

    def _version(self, version: int, paths: Sequence[str]) -> EarlierVersion:
        return EarlierVersion(
            version_of(version), identity_of(self.table_id, version), lambda _sketched: self._files(paths)
        )

    def _read_entries(self, version: int) -> list[Mapping[str, Any]]:
        """The entries of a commit; none if the log no longer has it."""
        system, path = open_location(
            f"{self.files.location.rstrip('/')}/_delta_log/{version:020}.json", self.files.settings
        )
        try:
            with system.open_input_stream(path) as file:
                return [json.loads(line) for line in file.read().splitlines() if line.strip()]
        except (OSError, ValueError):
            return []

    def _files(self, paths: Sequence[str]) -> AddedFiles | None:
        """The files with these paths; None if a compaction replaced one, or one lies outside of the table's folder."""
        if any(path not in self.live or self.live[path].is_elsewhere for path in paths):
            return None
        found = [self.live[path] for path in paths]
        return AddedFiles([each.file for each in found], lambda names: self.files.rows(found, names, {}), {})


def added_paths(entries: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """The paths of the files that a commit added; None if it did more than add rows, or change none.

    Entries may be about the table itself: metadata change the meaning of its columns.
    """
    if not entries or any("metaData" in each for each in entries):
        return None
    added = [each["add"] for each in entries if "add" in each]
    removed = [each["remove"] for each in entries if "remove" in each]
    if not any(each.get("dataChange", True) for each in (*added, *removed)):
        return []
    if removed or any(each.get("deletionVector") or not each.get("dataChange", True) for each in added):
        return None
    return [str(each["path"]) for each in added]


def version_of(version: int) -> str:
    """A version's name in provenance."""
    return f"Delta Lake version {version}"


def identity_of(table_id: str, version: int) -> str:
    """A text that no other version of any table has."""
    return f"delta {table_id} {version}"


def stored_name(field: Mapping[str, Any]) -> str:
    """A column's name in data files, by its field in the log's schema."""
    return str((field.get("metadata") or {}).get(_PHYSICAL_NAME) or field["name"])


def field_id(field: Mapping[str, Any]) -> int | None:
    """A column's id in data files, by its field in the log's schema; None if it has none."""
    found = (field.get("metadata") or {}).get(_FIELD_ID)
    return None if found is None else int(found)
