"""When Spark said what of a table: two parameters beside its statistics, which tell Spark's own from ours.

`stated` is stored, with the second of Spark's last statement and a digest of the parameters that it left. Another
digest says that they came past us; when they came is then not later than the table's last change. `shown` is in answers
only, with the digest of the parameters that were computed for it: who writes the table back says it again. Both lie
where Spark keeps what it does not know and shows nobody.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from hmstats.model.catalog import Parameters
from hmstats.model.row_counts import row_count
from hmstats.outlets import spark_properties
from hmstats.service.catalog.table_rules import LAST_DDL

STATED, SHOWN = "spark.sql.sources.hmstats.stated", "spark.sql.sources.hmstats.shown"


@dataclass(frozen=True, slots=True)
class Statement:
    """What Spark has said of a table: parameters, and until when at the latest; `since_seconds` is None for never.

    `known`: it was said here, so that the metastore's own counts have followed it.
    """

    parameters: Parameters
    since_seconds: int | None
    known: bool


def statement(parameters: Parameters) -> Statement:
    """What the stored parameters of a table say of it."""
    own = spark_properties.own(parameters)
    stated = parameters.get(STATED)
    if stated is None and not own:
        return Statement({}, None, known=True)
    seconds, _, of = (stated or "").partition(" ")
    if stated is not None and of == digest(own):
        return Statement(own, row_count(seconds), known=True)
    return Statement(own, row_count(parameters.get(LAST_DDL)), known=False)


def stated(seconds: int, own: Mapping[str, str]) -> dict[str, str]:
    """The mark to store with parameters that Spark left at an epoch second."""
    return {STATED: f"{seconds} {digest(own)}"}


def without_marks(parameters: Parameters) -> dict[str, str]:
    """The parameters without both marks."""
    return {key: value for key, value in parameters.items() if key not in (STATED, SHOWN)}


def digest(own: Mapping[str, str]) -> str:
    """A short text that differs when any of the parameters does."""
    lines = "\n".join(f"{key}={value}" for key, value in sorted(own.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]
