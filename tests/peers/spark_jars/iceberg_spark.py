"""Iceberg's runtime for Spark, and the newest Spark that it runs in."""

from tests.peers import cache
from tests.peers.spark_jars import older_pyspark

ICEBERG, SPARK = "1.12.0", "4.1"
CACHE = cache.CACHE / f"iceberg-{ICEBERG}-spark-{SPARK}"


def fetched() -> older_pyspark.Parts:
    """Both parts, fetched on first use."""
    return older_pyspark.fetched(CACHE, "org.apache.iceberg", f"iceberg-spark-runtime-{SPARK}_2.13", ICEBERG, SPARK)
