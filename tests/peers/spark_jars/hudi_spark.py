"""Hudi's bundle for Spark, and the newest Spark that it runs in and that PyPI has with the bundle's Scala."""

from tests.peers import cache
from tests.peers.spark_jars import older_pyspark

HUDI, SPARK = "1.0.2", "3.5"
CACHE = cache.CACHE / f"hudi-{HUDI}-spark-{SPARK}"


def fetched() -> older_pyspark.Parts:
    """Both parts, fetched on first use."""
    return older_pyspark.fetched(CACHE, "org.apache.hudi", f"hudi-spark{SPARK}-bundle_2.12", HUDI, f"{SPARK}.*")
