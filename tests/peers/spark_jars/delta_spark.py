"""Delta's jars for Spark 4.1 from Maven; the Spark itself is the one that iceberg_spark fetches."""

from pathlib import Path

from tests.peers import cache, launch
from tests.peers.spark_jars import iceberg_spark

DELTA = "4.2.0"
CACHE = cache.CACHE / f"delta-{DELTA}-spark-{iceberg_spark.SPARK}"
_POM = Path(__file__).resolve().with_name("pom-delta.xml")


def jars() -> list[Path]:
    """The jars, fetched on first use."""
    with cache.filling(CACHE) as empty:
        if empty:
            versions = (f"-Ddelta.version={DELTA}", f"-Dspark.version={iceberg_spark.SPARK}")
            options = ("-DincludeGroupIds=io.delta,io.unitycatalog", f"-DoutputDirectory={CACHE}")
            launch.maven(
                ["-f", str(_POM), "dependency:copy-dependencies", *versions, *options], CACHE, CACHE / "maven.log"
            )
    return sorted(CACHE.glob("*.jar"))
