"""Hudi's bundle for Spark from Maven, and the newest Spark that it runs in and that PyPI has with its Scala."""

from tests.peers import cache, launch
from tests.peers.spark_jars import older_pyspark
from tests.peers.spark_jars.iceberg_spark import Parts

HUDI, SPARK = "1.0.2", "3.5"
CACHE = cache.CACHE / f"hudi-{HUDI}-spark-{SPARK}"
_ARTIFACT = f"hudi-spark{SPARK}-bundle_2.12"


def fetched() -> Parts:
    """Both parts, fetched on first use."""
    parts = Parts(CACHE / "packages", CACHE / f"{_ARTIFACT}-{HUDI}.jar")
    with cache.filling(CACHE) as empty:
        if empty:
            options = (f"-Dartifact=org.apache.hudi:{_ARTIFACT}:{HUDI}", f"-DoutputDirectory={CACHE}")
            launch.maven(["dependency:copy", *options], CACHE, CACHE / "maven.log")
            older_pyspark.install(SPARK, parts.packages)
    return parts
