"""Parses the ANALYZE statement of Hive and Spark with sqlglot."""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from hmstats.collector.request.partition_spec import TextSpec
from hmstats.errors import StatementError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE

FORM = "ANALYZE TABLE [db.]t [PARTITION(k[=v], ...)] COMPUTE STATISTICS [NOSCAN | FOR COLUMNS [a, b] | FOR ALL COLUMNS]"
_DIALECTS = ("spark", "hive")
_CUT = re.compile(r"\bstatistics\s+for\s*;?\s*$", re.IGNORECASE)
"""The end of a statement whose COLUMNS are missing: sqlglot takes it for a complete one about no column."""
_VERB = re.compile(r"\s*analyze\s+tables?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Analyze:
    """A statement as it is written. `table`: names from the outside in, one to three.

    `columns` None means every column; without a FOR clause it is empty. `partitions` None: no PARTITION clause.
    """

    table: tuple[str, ...]
    columns: tuple[str, ...] | None
    partitions: TextSpec | None
    noscan: bool


def is_statement(text: str) -> bool:
    """Whether the text is an ANALYZE statement, not the name of a table."""
    return _VERB.match(text) is not None


def parse(text: str) -> Analyze:
    """The statement in a text.

    Raises StatementError with the position of a syntax error, or with the form that is not supported.
    """
    tree = _tree(text)
    work = tree.expression
    if tree.args.get("kind") != "TABLE" or not isinstance(work, exp.AnalyzeStatistics) or work.args.get("option"):
        raise StatementError(f"{text.strip()!r} is not supported; the form is {FORM}")
    scope = str(work.this or "").upper()
    partition = tree.args.get("partition")
    return Analyze(
        table=_table(tree.args["tables"]),
        columns=_columns(scope, work.expressions),
        partitions=None if partition is None else _spec(partition.expressions),
        noscan=scope == "NOSCAN",
    )


def _tree(text: str) -> exp.Analyze:
    if _CUT.search(text):
        raise StatementError(f"the statement cannot be read at its end; the form is {FORM}")
    problem = ""
    for dialect in _DIALECTS:
        try:
            with _silence_parser():
                trees = sqlglot.parse(text, read=dialect)
        except SqlglotError as error:
            problem = problem or _position(error)
            continue
        if len(trees) == 1 and isinstance(trees[0], exp.Analyze):
            return trees[0]
    raise StatementError(f"the statement cannot be read{problem}; the form is {FORM}, and there are no aliases")


def _position(error: SqlglotError) -> str:
    """The position of a syntax error, for its sentence; empty if it is unknown."""
    if not isinstance(error, ParseError) or not error.errors:
        return ""
    first = error.errors[0]
    return f" at {first.get('highlight')!r} (line {first.get('line')}, column {first.get('col')})"


def _table(tables: Sequence[exp.Expression]) -> tuple[str, ...]:
    table = tables[0]
    if len(tables) != 1 or not isinstance(table.this, exp.Identifier):
        raise StatementError(f"a table must be named as DB.TABLE, found {tables[0].sql()}")
    return tuple(part.name for part in table.parts)  # type: ignore[attr-defined, unused-ignore]


def _columns(scope: str, columns: Sequence[exp.Expression]) -> tuple[str, ...] | None:
    if scope in ("", "NOSCAN"):
        return ()
    for column in columns:
        if not isinstance(column, exp.Column) or len(column.parts) != 1:
            raise StatementError(f"FOR COLUMNS takes the names of columns, found {column.sql()}")
    return tuple(column.name for column in columns) or None


def _spec(parts: Sequence[exp.Expression]) -> dict[str, str | None]:
    spec: dict[str, str | None] = {}
    for part in parts:
        key, value = (part.this, _value(part.expression)) if isinstance(part, exp.EQ) else (part, None)
        if not isinstance(key, exp.Column) or len(key.parts) != 1:
            raise StatementError(f"PARTITION takes keys and their values (k or k=v), found {part.sql()}")
        if key.name.lower() in spec:
            raise StatementError(f"partition key {key.name} stands twice in PARTITION")
        spec[key.name.lower()] = value
    return spec


def _value(value: exp.Expression) -> str:
    """The text of a literal, without the casts around it."""
    if isinstance(value, exp.Cast):
        return _value(value.this)
    if isinstance(value, exp.Neg):
        return f"-{_value(value.this)}"
    if isinstance(value, exp.Null):
        return NULL_PARTITION_VALUE
    if isinstance(value, exp.Boolean):
        return str(value.this).lower()
    if isinstance(value, exp.Literal):
        return str(value.this)
    raise StatementError(f"the value of a partition key must be a literal, found {value.sql()}")


@contextmanager
def _silence_parser() -> Iterator[None]:
    """Silences sqlglot's warnings about statements that it cannot parse, since they raise an error here."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
