"""Rows as Hive's command line shows them: fields of 20 characters, tabs between them, three fields a row.

The layout is that of org.apache.hadoop.hive.ql.ddl.ShowUtils; a field that a row does not have is one blank.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

_WIDTH = 20
_FIELDS = 3
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_HIDDEN = "numFilesErasureCoded"
"""The parameter that Hive leaves out if it is 0."""

EMPTY = "\t \t "
HEADER = f"# {'col_name':<{_WIDTH}}\t{'data_type':<{_WIDTH}}\t{'comment':<{_WIDTH}}"


def row(*fields: str | None, width: int = _FIELDS) -> list[str]:
    """The lines of a row; the last field may have several. `width` is how many fields the whole form has.

    An unknown field is the word null, as Java writes it.
    """
    *first, last = [str("null" if field is None else field) for field in fields]
    before = "".join(f"{field:<{_WIDTH}}\t" for field in first)
    below = "".join(f"{'':{max(_WIDTH, len(field))}}\t" for field in first)
    missing = "\t " * (width - len(fields))
    lines = last.splitlines() or [""]
    return [f"{below if number else before}{line:<{_WIDTH}}{missing}" for number, line in enumerate(lines)]


def title(text: str) -> str:
    """A line with a title alone."""
    return f"{text}\t \t "


def parameter_rows(parameters: Mapping[str, str], *, of_table: bool) -> list[str]:
    """A row for each parameter, by name.

    In a table's values Hive breaks lines; in a partition's it escapes non-ASCII characters.
    """
    rows: list[str] = []
    for name in sorted(parameters):
        if name == _HIDDEN and parameters[name] == "0":
            continue
        value = escape(parameters[name], ascii_only=not of_table)
        first, *others = row(name, value.replace("\\n", "\n") if of_table else value, width=2)
        rows += [f"\t{first}", *(f"\t{other}" for other in others)]
    return rows


def escape(text: str, *, ascii_only: bool) -> str:
    """The text as a Java literal has it."""
    plain = "".join(_ESCAPES.get(character, character) for character in text)
    if not ascii_only or plain.isascii():
        return plain
    units = plain.encode("utf-16-be")
    codes = (int.from_bytes(units[place : place + 2], "big") for place in range(0, len(units), 2))
    return "".join(chr(code) if 32 <= code < 127 else f"\\u{code:04X}" for code in codes)


def list_text(values: Iterable[object]) -> str:
    """A list as Java writes it."""
    return f"[{', '.join(map(str, values))}]"


def date_text(seconds: int) -> str:
    """A time as Java's Date writes it, in UTC; UNKNOWN for 0."""
    if not seconds:
        return "UNKNOWN"
    return datetime.fromtimestamp(seconds, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")


def join_lines(lines: Sequence[str]) -> str:
    """The lines as one text, which ends with a line break."""
    return "".join(f"{line}\n" for line in lines)
