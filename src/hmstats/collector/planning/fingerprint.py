"""A fingerprint of statistics: a short text that changes if the files, the columns or the options do.

The fingerprint is stored in a parameter of the table or partition, which every metastore supports.
"""

import hashlib
from collections.abc import Iterable, Mapping

from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.model.parameters.statistics_keys import FINGERPRINT

PARAMETER = FINGERPRINT
COMPUTATION = 2
"""The version of the computation: older statistics are computed again even if no file has changed."""
_DIGEST_BYTES = 12
_SEPARATOR = "\0"


def fingerprint(files: Iterable[DataFile], types: Mapping[str, str], options: Options) -> str:
    """The fingerprint of these files, analysed for these columns (by their Hive types) with these options."""
    return f"{_of_files(files)}.{_of_work(types, options)}"


def is_of_work(known: str, types: Mapping[str, str], options: Options) -> bool:
    """Whether a fingerprint belongs to these columns and options, whatever the files were."""
    return known.endswith(f".{_of_work(types, options)}")


def _of_files(files: Iterable[DataFile]) -> str:
    known = (str(part) for file in files for part in (file.path, file.bytes, file.modified_ns))
    return _digest(known)


def _of_work(types: Mapping[str, str], options: Options) -> str:
    return _digest(
        [f"computation={COMPUTATION}", options.identity, *(f"{name} {types[name]}" for name in sorted(types))]
    )


def _digest(texts: Iterable[str]) -> str:
    return hashlib.blake2b(_SEPARATOR.join(texts).encode(), digest_size=_DIGEST_BYTES).hexdigest()
