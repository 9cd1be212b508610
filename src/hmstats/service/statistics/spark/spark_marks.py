"""Marks that tell Spark's own statistics from computed ones: two parameters beside them.

`stated` is stored, with the epoch second of Spark's last statement and a digest of its parameters. If the digest
differs, they were written past this server, at the latest at the table's last change. `shown` is in answers only, with
the digest of the parameters computed for it: a client that writes the table back repeats it. Both have the prefix of
properties that Spark hides from users.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hmstats.model.catalog.objects import LAST_DDL, Parameters
from hmstats.model.parameters.row_counts import row_count
from hmstats.model.parameters.statistics_keys import STATED
from hmstats.outlets.spark import spark_properties

SHOWN = "spark.sql.sources.hmstats.shown"


@dataclass(frozen=True, slots=True)
class Statement:
    """Spark's own parameters of a table, and their latest possible time; `since_seconds` is None if there are none.

    If `is_ours`, they were written through this server, and the metastore's own counts follow them.
    """

    parameters: Parameters
    since_seconds: int | None
    is_ours: bool


def statement(parameters: Parameters) -> Statement:
    """Spark's statement in the stored parameters of a table."""
    own = spark_properties.spark_parameters(parameters)
    stated = parameters.get(STATED)
    if stated is None and not own:
        return Statement({}, None, is_ours=True)
    seconds, _, of = (stated or "").partition(" ")
    if stated is not None and of == digest(own):
        return Statement(own, row_count(seconds), is_ours=True)
    return Statement(own, row_count(parameters.get(LAST_DDL)), is_ours=False)


def stated(seconds: int, own: Mapping[str, str]) -> dict[str, str]:
    """The mark to store with parameters that Spark left at an epoch second."""
    return {STATED: f"{seconds} {digest(own)}"}


def without_marks(parameters: Parameters) -> dict[str, str]:
    """The parameters without both marks."""
    return {key: value for key, value in parameters.items() if key not in (STATED, SHOWN)}


def of_columns(parameters: Parameters, columns: Collection[str]) -> dict[str, str]:
    """The parameters that hold Spark's statistics of these columns, whose names Spark writes in any case."""
    names = [each for each in spark_properties.read(parameters).columns if each.lower() in columns]
    return {key: value for each in names for key, value in spark_properties.of_column(parameters, each).items()}


def without_columns(parameters: Parameters, columns: Collection[str]) -> Parameters:
    """The parameters without Spark's statistics of these columns."""
    gone = of_columns(parameters, columns)
    return restated({key: value for key, value in parameters.items() if key not in gone}) if gone else parameters


def restated(parameters: Parameters) -> dict[str, str]:
    """The parameters with the mark of Spark's statement, if any, for the statistics that are left of it."""
    if STATED not in parameters:
        return dict(parameters)
    seconds = row_count(parameters[STATED].partition(" ")[0]) or 0
    return {**parameters, **stated(seconds, spark_properties.spark_parameters(parameters))}


def digest(own: Mapping[str, str]) -> str:
    """A short hash of the parameters, as hexadecimal text."""
    lines = "\n".join(f"{key}={value}" for key, value in sorted(own.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]
