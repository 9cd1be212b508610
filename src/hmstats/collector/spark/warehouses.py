"""Compares Spark's warehouse with the metastore's.

If they differ, databases may lie where the metastore changes no directories.
"""

from dataclasses import dataclass
from logging import getLogger

from pyspark.sql import SparkSession

from hmstats.client import Metastore
from hmstats.collector.spark.session import OWN
from hmstats.model.catalog.location import parse

_SETTING = "spark.sql.warehouse.dir"
_EVERYWHERE = "*"
_log = getLogger("hmstats.collector")
_said: set[tuple[str, str]] = set()
"""The pairs of warehouses that this process has logged."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A session's warehouse that differs from the metastore's.

    `covered`: the metastore changes directories there too.
    """

    spark: str
    metastore: str
    covered: bool

    @property
    def sentence(self) -> str:
        """The difference as a sentence."""
        effect = "" if self.covered else ", which may refuse databases and managed tables there"
        return f"{self.spark} is not the metastore's, {self.metastore}{effect}"

    @property
    def advice(self) -> str:
        """The advice for the user."""
        own = f"start Spark with {_SETTING}={self.metastore}"
        return own if self.covered else f"{own}, or serve with HMSTATS__WAREHOUSE_ROOTS={self.spark}"


def warehouse_of(spark: SparkSession) -> str:
    """The location of the session's warehouse, for databases without a location."""
    return str(spark.conf.get(_SETTING))


def difference(spark: SparkSession, metastore: Metastore) -> Difference | None:
    """The difference of the warehouses; None if they are equal, or if the metastore does not name its own."""
    theirs, ours = metastore.config_value("metastore.warehouse.dir"), warehouse_of(spark)
    if not theirs or parse(theirs) == parse(ours):
        return None
    roots = [each for each in metastore.config_value("metastore.warehouse.roots").split(",") if each]
    place = parse(ours)
    named = [parse(each) for each in roots if each != _EVERYWHERE]
    covered = _EVERYWHERE in roots or any(place == each or each.holds(place) for each in named)
    return Difference(ours, theirs, covered)


def warn_once(spark: SparkSession, metastore: Metastore) -> None:
    """Log a difference that matters, once for each pair of warehouses, unless hmstats has created the session."""
    if spark.conf.get(OWN, None) is not None:
        return
    found = difference(spark, metastore)
    if found is None or found.covered or (found.spark, found.metastore) in _said:
        return
    _said.add((found.spark, found.metastore))
    _log.warning("Spark's warehouse %s: %s", found.sentence, found.advice)
