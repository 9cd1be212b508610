"""Iceberg's runtime for Spark, and the newest Spark that it and Delta run in.

Delta 4.2 is built for Spark 4.1.0; Spark 4.1.4 lacks what its ALTER TABLE and its checkpoints call.
"""

from tests.peers import cache
from tests.peers.spark_jars import older_pyspark

ICEBERG, SPARK, PYSPARK = "1.12.0", "4.1", "4.1.1"
CACHE = cache.CACHE / f"iceberg-{ICEBERG}-spark-{PYSPARK}"


def fetched() -> older_pyspark.Parts:
    """Both parts, fetched on first use."""
    return older_pyspark.fetched(CACHE, "org.apache.iceberg", f"iceberg-spark-runtime-{SPARK}_2.13", ICEBERG, PYSPARK)
