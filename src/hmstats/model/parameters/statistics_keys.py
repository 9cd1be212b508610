"""Tells which parameters of a table or partition hold statistics; writers of statistics may change no others."""

from hmstats.model.catalog.objects import LAST_DDL, Parameters
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.parameters.basic_statistics import COUNTS

SPARK = "spark.sql.statistics."
"""The beginning of the parameters in which Spark keeps its statistics."""
FINGERPRINT = "hmstats.fingerprint"
"""The parameter in which an analysis keeps what it has seen of the files."""
STATED = "spark.sql.sources.hmstats.stated"
"""The parameter that tells which of Spark's statistics are its own."""
RESTORED = (*COUNTS, PARAMETER, FINGERPRINT, STATED)
"""The parameters that come back with earlier statistics, beside Spark's."""
_KEYS = frozenset({*COUNTS, PARAMETER, FINGERPRINT, LAST_DDL})


def is_of_statistics(key: str) -> bool:
    """Whether a parameter holds statistics, or the time of the last change, which every change brings."""
    return key in _KEYS or key.startswith(SPARK)


def without_statistics(parameters: Parameters) -> dict[str, str]:
    """The parameters that hold no statistics."""
    return {key: value for key, value in parameters.items() if not is_of_statistics(key)}


def is_restored(key: str) -> bool:
    """Whether a parameter comes back with earlier statistics."""
    return key in RESTORED or key.startswith(SPARK)
