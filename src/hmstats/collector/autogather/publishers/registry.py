"""Finds publishers and aggregators by the entry points of installed packages, ours among them."""

from importlib.metadata import entry_points

from hmstats.collector.autogather.publishers.protocols import Aggregator, Publisher
from hmstats.errors import SettingsError

PUBLISHERS, AGGREGATORS = "hmstats.publishers", "hmstats.aggregators"


def publisher_and_aggregator(dbclass: str) -> tuple[type[Publisher], type[Aggregator]]:
    """The classes for a value of hive.stats.dbclass, whose part after a colon is ignored.

    Raises SettingsError if no package has them.
    """
    kind = dbclass.partition(":")[0].lower()
    publishers, aggregators = entry_points(group=PUBLISHERS, name=kind), entry_points(group=AGGREGATORS, name=kind)
    if not publishers or not aggregators:
        known = ", ".join(sorted(entry_points(group=PUBLISHERS).names)) or "none: hmstats is not installed as a package"
        raise SettingsError(f"hive.stats.dbclass must be one of {known}, found {dbclass!r}")
    return next(iter(publishers)).load(), next(iter(aggregators)).load()
