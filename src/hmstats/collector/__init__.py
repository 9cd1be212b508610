"""The collector: statistics of a table, computed in one pass on Spark and pushed to a metastore."""

from hmstats.collector.autogather.writer import Written, writing
from hmstats.collector.report import Report
from hmstats.collector.run import analyze

__all__ = ["Report", "Written", "analyze", "writing"]
