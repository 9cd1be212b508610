"""Lists data files by manifests: text files in the folder of a table, with the place of one data file in each line.

Delta Lake writes them (GENERATE symlink_format_manifest), so that Trino and Presto can read a table without its log;
others write them for files outside of the table's folder. The table's input format is SymlinkTextInputFormat. Hive and
Spark read text files in this way; of Parquet and ORC they would read the bytes as text.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pyarrow import fs

from hmstats.collector.planning.data_files import DataFile, data_files
from hmstats.files.file_systems import NO_SETTINGS, Settings, open_location
from hmstats.model.catalog.location import parse
from hmstats.model.catalog.objects import Storage

_INPUT_FORMAT = "symlinktextinputformat"
_THREADS = 32
"""The number of manifests that are read in parallel, since the threads wait for an object store, not for a core."""

Found = Mapping[str, list[DataFile] | OSError]
"""The files of each location, or the reason why they cannot be listed."""


def has_manifests(storage: Storage | None) -> bool:
    """Whether the files in a location are manifests."""
    return storage is not None and (storage.input_format or "").lower().endswith(_INPUT_FORMAT)


def files_in_manifests(locations: Mapping[str, str], manifests: Found, settings: Settings = NO_SETTINGS) -> Found:
    """The data files that manifests name, by the key of the manifests' location; or why they cannot be listed."""
    wanted = {key: found for key, found in manifests.items() if not isinstance(found, OSError)}
    with ThreadPoolExecutor(_THREADS) as threads:
        named = threads.map(
            partial(_read_or_error, settings=settings), (locations[key] for key in wanted), wanted.values()
        )
        return {**manifests, **dict(zip(wanted, named, strict=True))}


def _read_or_error(location: str, manifests: list[DataFile], settings: Settings) -> list[DataFile] | OSError:
    try:
        return _read_manifests(location, manifests, settings)
    except OSError as error:
        return error


def _read_manifests(location: str, manifests: list[DataFile], settings: Settings) -> list[DataFile]:
    """The data files that manifests name, sorted by path. Raises OSError if one is missing, or in another store."""
    files, _ = open_location(location, settings)
    found: dict[str, DataFile] = {}
    for manifest in manifests:
        texts = _lines(files, manifest.path)
        paths = [_path_in_store(location, manifest.path, each, settings) for each in texts]
        for text, info in zip(texts, files.get_file_info(paths), strict=True):
            if info.type is fs.FileType.NotFound:
                raise OSError(f"manifest {manifest.path} names {text}, which does not exist")
            below = data_files(text, settings) if info.type is fs.FileType.Directory else [_file(info)]
            found |= {each.path: each for each in below if each.bytes}
    return sorted(found.values(), key=lambda each: each.path)


def _file(info: fs.FileInfo) -> DataFile:
    return DataFile(info.path, info.size, info.mtime_ns)


def _lines(files: fs.FileSystem, path: str) -> list[str]:
    """The lines of a manifest. Raises OSError if it is not text."""
    with files.open_input_stream(path) as source:
        data = source.readall()
    try:
        return [each.strip() for each in data.decode().splitlines() if each.strip()]
    except UnicodeDecodeError as error:
        raise OSError(f"manifest {path} must be a text with the place of a data file in each line: {error}") from error


def _path_in_store(location: str, manifest: str, text: str, settings: Settings) -> str:
    """The path of a named file in the store of the manifest's location. Raises OSError if it is in another one."""
    here, there = parse(location), parse(text)
    if (here.scheme, here.authority) != (there.scheme, there.authority) or not there.is_absolute:
        raise OSError(f"manifest {manifest} names {text}, which is not in the store of {location}")
    return open_location(text, settings)[1]
