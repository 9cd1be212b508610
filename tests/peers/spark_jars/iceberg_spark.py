"""Iceberg's runtime for Spark from Maven, and the newest Spark that it runs in, beside the one that is installed."""

from dataclasses import dataclass
from pathlib import Path

from tests.peers import cache, launch
from tests.peers.spark_jars import older_pyspark

ICEBERG, SPARK = "1.12.0", "4.1"
CACHE = cache.CACHE / f"iceberg-{ICEBERG}-spark-{SPARK}"
_ARTIFACT = f"iceberg-spark-runtime-{SPARK}_2.13"


@dataclass(frozen=True, slots=True)
class Parts:
    """A folder to put before all others of PYTHONPATH, and the jar."""

    packages: Path
    jar: Path


def fetched() -> Parts:
    """Both parts, fetched on first use."""
    parts = Parts(CACHE / "packages", CACHE / f"{_ARTIFACT}-{ICEBERG}.jar")
    with cache.filling(CACHE) as empty:
        if empty:
            options = (f"-Dartifact=org.apache.iceberg:{_ARTIFACT}:{ICEBERG}", f"-DoutputDirectory={CACHE}")
            launch.maven(["dependency:copy", *options], CACHE, CACHE / "maven.log")
            older_pyspark.install(SPARK, parts.packages)
    return parts
