"""All statistics of a metastore as text: a JSON object a line, the first of which says the format.

The objects are the rows of outlets/export/rows.py without what is null; bytes are base64, infinities texts. The last
line tells a whole file from one that was cut off.
"""

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from hmstats.errors import InvalidInput
from hmstats.outlets.export.rows import FORMAT, ROWS_A_GROUP, SCHEMA, VERSION, Entry, rows_of

_BYTES = [field.name for field in SCHEMA if pa.types.is_binary(field.type)]
_FLOATS = [field.name for field in SCHEMA if pa.types.is_floating(field.type)]
_HEADER = {FORMAT: VERSION}
_END = {FORMAT: "end"}
END = json.dumps(_END)
"""The last line."""
_LONGEST_MARK = 100
_MAP = "parameters"


def write_lines(file: IO[str], found: Iterable[Entry]) -> int:
    """Write entries to a text file as they come; how many there were."""
    print(json.dumps(_HEADER), file=file)
    count = 0
    for entry in found:
        count += 1
        file.writelines(f"{json.dumps(_plain(row), ensure_ascii=False)}\n" for row in rows_of(entry))
    print(END, file=file)
    return count


def read_lines(file: IO[str], name: str) -> Iterator[dict[str, Any]]:
    """The rows of a text file, whose name is for messages.

    Raises InvalidInput if it has another format or is not whole, and ValueError, TypeError or pyarrow.ArrowInvalid for
    a row that has other values than it must.
    """
    if _header(file) != _HEADER:
        raise InvalidInput(f"{name} must be statistics of version {VERSION} that hmstats export wrote")
    numbered = enumerate(_until_end(file, name), start=2)
    while lines := list(islice(numbered, ROWS_A_GROUP)):
        rows = [_numbered_row(number, line) for number, line in lines]
        yield from pa.Table.from_pylist(rows, SCHEMA).to_pylist()


def _until_end(file: IO[str], name: str) -> Iterator[str]:
    """The lines before the last one. Raises InvalidInput when that is missing, or others follow it."""
    for line in file:
        if _is_end(line):
            if any(map(str.strip, file)):
                raise InvalidInput(f"{name} has more lines behind the one that ends it")
            return
        if not line.endswith("\n"):
            break
        yield line
    raise InvalidInput(f"{name} is cut off: its last line must be {END}")


def _header(file: IO[str]) -> Any:
    """The first line; None when it is no JSON, or no text."""
    try:
        return json.loads(file.readline(_LONGEST_MARK))
    except ValueError:
        return None


def _is_end(line: str) -> bool:
    try:
        return FORMAT in line[:_LONGEST_MARK] and json.loads(line) == _END
    except ValueError:
        return False


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in row.items() if value is not None}
    for name in _BYTES:
        if name in known:
            known[name] = b64encode(known[name]).decode()
    for name in _FLOATS:
        if name in known and not math.isfinite(known[name]):
            known[name] = str(known[name])
    if _MAP in known:
        known[_MAP] = dict(known[_MAP])
    return known


def _numbered_row(number: int, line: str) -> dict[str, Any]:
    """The row of a line. Raises ValueError with the line's number in the file."""
    try:
        return _row(line)
    except json.JSONDecodeError as error:  # whose text has a number too, that of a line in this text
        raise ValueError(f"line {number}: {error.msg} at character {error.pos + 1}") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"line {number}: {error}") from error


def _row(line: str) -> dict[str, Any]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise TypeError(f"a line must be an object, found {line[:40]!r}")
    for name in _BYTES:
        if row.get(name) is not None:
            row[name] = b64decode(row[name], validate=True)
    for name in _FLOATS:
        if row.get(name) is not None:
            row[name] = float(row[name])
    if row.get(_MAP) is not None:
        row[_MAP] = list(dict(row[_MAP]).items())
    return row
