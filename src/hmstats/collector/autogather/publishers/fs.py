"""Partial states as files of a folder that all processes see: <folder>/hmstats-run-<run>/<partition>/<state>."""

import time
from collections.abc import Iterator, Sequence

from pyarrow import fs

from hmstats.collector.autogather.publishers.protocols import Run
from hmstats.errors import GatheringFailed
from hmstats.files.file_systems import open_location
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.private_files import make_private_in

_HOUR_SECONDS = 3600.0
_PREFIX = "hmstats-run-"
"""The prefix of our folders' names: nothing else in the given folder is ever removed."""


class _Folder:
    """The folder of a run, inside the one that `run.connection` names by a path or a URI."""

    def init(self, run: Run) -> None:
        """Open the file system. Raises GatheringFailed if it cannot be opened."""
        try:
            self._files, base = open_location(run.connection, run.settings)
        except (OSError, ValueError) as error:
            raise GatheringFailed(f"no file system is behind {run.connection}: {error}") from error
        self._base = base.rstrip("/")
        self._folder = f"{self._base}/{_PREFIX}{run.id}"


class FsPublisher(_Folder):
    """Writes a file for each state."""

    def publish(self, states: Sequence[PartialState]) -> None:
        """Write a file for each state. Raises GatheringFailed if the folder cannot be written."""
        try:
            for each in states:
                self._write(each)
        except OSError as error:
            raise GatheringFailed(f"partial statistics cannot be written to {self._folder}: {error}") from error

    def terminate(self) -> None:
        """No effect: nothing is open."""

    def _write(self, state: PartialState) -> None:
        path = _path(self._folder, state.place)
        self._files.create_dir(path.rpartition("/")[0], recursive=True)
        make_private_in(self._files, path)
        with self._files.open_output_stream(path) as file:
            file.write(state.state)


class FsAggregator(_Folder):
    """Lists the folder, then reads one state after the other."""

    def init(self, run: Run) -> None:
        """Make the folder, and remove the folders of runs that died. Raises GatheringFailed."""
        super().init(run)
        try:
            self._files.create_dir(self._folder, recursive=True)
            self._remove_dead(time.time() - run.retention_hours * _HOUR_SECONDS)
        except OSError as error:
            raise GatheringFailed(f"partial statistics cannot be kept in {self._folder}: {error}") from error

    def aggregate(self) -> Iterator[PartialState]:
        """Read the states one by one. Raises GatheringFailed if the folder cannot be read."""
        try:
            for place in sorted(_place_of_path(path, self._folder) for path in self._paths()):
                with self._files.open_input_stream(_path(self._folder, place)) as file:
                    yield PartialState(place, file.read())
        except OSError as error:
            raise GatheringFailed(f"partial statistics cannot be read from {self._folder}: {error}") from error

    def terminate(self) -> None:
        """Remove the run's folder. Raises GatheringFailed."""
        try:
            self._files.delete_dir(self._folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise GatheringFailed(f"{self._folder} cannot be removed: {error}") from error

    def _paths(self) -> Iterator[str]:
        found = self._files.get_file_info(fs.FileSelector(self._folder, recursive=True, allow_not_found=True))
        return (each.path for each in found if each.is_file)

    def _remove_dead(self, before_seconds: float) -> None:
        """Remove the folders of runs in which nothing was written since a given time.

        Directories in object stores have no times: a run without files there may be about to publish.
        """
        for each in self._files.get_file_info(fs.FileSelector(self._base)):
            if each.type is fs.FileType.Directory and each.base_name.startswith(_PREFIX):
                below = self._files.get_file_info(fs.FileSelector(each.path, recursive=True, allow_not_found=True))
                times = [found.mtime_ns / 1e9 for found in (each, *below) if found.mtime_ns is not None]
                if times and max(times) < before_seconds:
                    self._files.delete_dir(each.path)


def _path(folder: str, place: Place) -> str:
    name = f"{place.task}.{place.attempt}.{place.number}"
    return f"{folder}/{place.piece}/{name}" if place.piece else f"{folder}/{name}"


def _place_of_path(path: str, folder: str) -> Place:
    piece, _, name = path[len(folder) + 1 :].rpartition("/")
    task, attempt, number = name.split(".")
    return Place(piece, int(task), int(attempt), int(number))
