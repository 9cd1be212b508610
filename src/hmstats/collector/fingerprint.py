"""What the statistics of some files were made of, as a short text that changes when the files or the work do.

It stands in a parameter of the table or partition, which every metastore keeps.
"""

import hashlib
from collections.abc import Iterable, Mapping

from hmstats.collector.files import DataFile
from hmstats.collector.options import Options

PARAMETER = "hmstats.fingerprint"
_DIGEST_BYTES = 12
_SEPARATOR = "\0"


def fingerprint(files: Iterable[DataFile], types: Mapping[str, str], options: Options) -> str:
    """The text for these files, analysed for these columns (by their Hive types) in this way."""
    return f"{_of_files(files)}.{_of_work(types, options)}"


def _of_files(files: Iterable[DataFile]) -> str:
    known = (str(part) for file in files for part in (file.path, file.bytes, file.modified_ns))
    return _digest(known)


def _of_work(types: Mapping[str, str], options: Options) -> str:
    return _digest([options.identity, *(f"{name} {types[name]}" for name in sorted(types))])


def _digest(texts: Iterable[str]) -> str:
    return hashlib.blake2b(_SEPARATOR.join(texts).encode(), digest_size=_DIGEST_BYTES).hexdigest()
