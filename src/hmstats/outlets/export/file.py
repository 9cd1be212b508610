"""All statistics of a metastore in one file, written and read part by part: Parquet, or a JSON object a line.

docs/statistics/export.md describes both; outlets/export/rows.py has the rows that they hold.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import InvalidOperation
from enum import Enum
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from hmstats.errors import InvalidInput
from hmstats.outlets.export.lines import read_lines, write_lines
from hmstats.outlets.export.rows import FORMAT, ROWS_A_GROUP, SCHEMA, VERSION, Entry, entries, rows_of
from hmstats.private_files import replaced_when_whole

_PARQUET_MAGIC = b"PAR1"


class Form(Enum):
    """The forms of a file; the value is their name."""

    PARQUET = "parquet"
    JSON = "json"


ENDINGS = {".parquet": Form.PARQUET, ".json": Form.JSON, ".jsonl": Form.JSON, ".ndjson": Form.JSON}
"""The endings of names that say a form."""


def form_of(path: str | Path) -> Form:
    """The form that a file's name says. Raises InvalidInput when it says none."""
    form = ENDINGS.get(Path(path).suffix.lower())
    if form is None:
        raise InvalidInput(f"the name of {path} must end in {', '.join(ENDINGS)}, or its format be named")
    return form


def write(path: str | Path, found: Iterable[Entry], form: Form | None = None) -> int:
    """Write a file, ROWS_A_GROUP rows or so at a time; how many tables and partitions it has.

    `form`: by default the one that the name says. The file is there when it is whole. Raises InvalidInput when it
    cannot be written, or neither name nor `form` says the form.
    """
    form = form or form_of(path)
    try:
        with replaced_when_whole(path) as part:
            return _write_parquet(part, found) if form is Form.PARQUET else _write_json(part, found)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {_reason(error)}") from error


def read(path: str | Path) -> Iterator[Entry]:
    """The entries of a file of either form, in its order. Raises InvalidInput for another file."""
    with _naming_file(path):
        with Path(path).open("rb") as file:
            parquet = file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
        yield from entries(_read_parquet(path) if parquet else _read_json(path))


def read_json(file: IO[str], name: str) -> Iterator[Entry]:
    """The entries of an open file of JSON, whose name is for messages. Raises InvalidInput for another file."""
    with _naming_file(name):
        yield from entries(read_lines(file, name))


@contextmanager
def _naming_file(name: str | Path) -> Iterator[None]:
    """Turns errors of reading a file into InvalidInput with its name."""
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        raise InvalidInput(f"{name} cannot be read: {_reason(error)}") from error
    except (KeyError, TypeError, ValueError, OverflowError, InvalidOperation) as error:
        raise InvalidInput(f"{name} has a row that is not a valid statistic: {error}") from error


def _write_parquet(path: Path, found: Iterable[Entry]) -> int:
    count = 0
    rows: list[dict[str, Any]] = []
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for entry in found:
            count += 1
            rows += rows_of(entry)
            if len(rows) >= ROWS_A_GROUP:
                writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    return count


def _write_json(path: Path, found: Iterable[Entry]) -> int:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        return write_lines(file, found)


def _read_parquet(path: str | Path) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as file:
        if (file.schema_arrow.metadata or {}).get(FORMAT.encode()) != VERSION.encode():
            raise InvalidInput(f"{path} must be statistics of version {VERSION} that hmstats export wrote")
        for batch in file.iter_batches(ROWS_A_GROUP):
            yield from batch.to_pylist()


def _read_json(path: str | Path) -> Iterator[dict[str, Any]]:
    with Path(path).open(encoding="utf-8") as file:
        yield from read_lines(file, str(path))


def _reason(error: Exception) -> str:
    """The system's message about a file, without Arrow's additions."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error)
