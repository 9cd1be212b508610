"""Which parameters a writer of statistics may change."""

from hmstats.collector.planning.fingerprint import PARAMETER as OF_AN_ANALYSIS
from hmstats.model.parameters.statistics_keys import is_of_statistics, without_statistics


def test_parameters_of_statistics_are_told_from_others() -> None:
    parameters = dict.fromkeys(("numRows", "COLUMN_STATS_ACCURATE", "spark.sql.statistics.colStats.a.min", "x"), "1")
    assert without_statistics(parameters) == {"x": "1"}
    assert is_of_statistics(OF_AN_ANALYSIS)
    assert not is_of_statistics("spark.sql.sources.schema")
    assert not is_of_statistics("EXTERNAL")
