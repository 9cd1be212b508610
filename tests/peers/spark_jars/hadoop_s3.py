"""S3A for the Hadoop that the installed Spark has, from Maven: hadoop-aws and the parts of AWS's SDK that it uses."""

import re
from pathlib import Path

import pyspark
from tests.peers import cache, launch

_POM = Path(__file__).resolve().parent / "pom-hadoop-s3.xml"
_OF_SPARK = re.compile(r"(slf4j-api|commons-logging|commons-codec|netty-(?!nio)[a-z0-9-]+)-\d.*\.jar")
"""Libraries that Spark has itself."""


def jars() -> list[Path]:
    """The jars, fetched on first use."""
    version = _hadoop_version()
    folder = cache.CACHE / f"hadoop-s3-{version}"
    with cache.filling(folder) as empty:
        if empty:
            copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder / 'lib'}")
            launch.maven(["-q", "-f", str(_POM), f"-Dhadoop={version}", *copy], folder, folder / "maven.log")
    return sorted(each for each in (folder / "lib").glob("*.jar") if not _OF_SPARK.fullmatch(each.name))


def _hadoop_version() -> str:
    folder = Path(pyspark.__file__).parent / "jars"
    (name,) = (each.name for each in folder.glob("hadoop-client-api-*.jar"))
    return name.removeprefix("hadoop-client-api-").removesuffix(".jar")
