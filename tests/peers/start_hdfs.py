"""Starts a real HDFS (3.4.1, a name node and a data node in one JVM), which keeps its files in a folder.

    python -m tests.peers.start_hdfs --port P --dir WORKDIR [--java JAVA] [--set NAME=VALUE ...]

Prints `ready P` once it answers; SIGTERM or SIGINT stops it. Whoever starts it is its superuser. With KRB5_CONFIG it
finds a KDC. Needs a JDK 11 to 22 and Maven; its jars are kept beside those of start_hive.
"""

import argparse
import os
from pathlib import Path

from tests.peers import cache, launch

HERE = Path(__file__).resolve().parent / "hdfs"
CACHE = cache.CACHE / "hdfs-3.4.1"
_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_PAGES = ("hdfs", "datanode")
"""Folders of pages that both nodes look for, which the jars lack."""


def class_path() -> str:
    """The jars, resolved on first use, and the folders of pages."""
    lib, pages = CACHE / "lib", CACHE / "pages"
    with cache.filling(CACHE) as empty:
        if empty:
            copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={lib}")
            launch.maven(["-q", "-f", str(HERE / "pom.xml"), *copy], CACHE, CACHE / "maven.log")
            for each in _PAGES:
                (pages / "webapps" / each).mkdir(parents=True, exist_ok=True)
    return f"{pages}:{lib}/*"


def main() -> None:
    """Start HDFS in the place of this process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--java")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of Hadoop")
    given = parser.parse_args()
    java = launch.find_java(11, 22, given.java)
    given.dir.mkdir(parents=True, exist_ok=True)
    peer = ("-cp", class_path(), str(HERE / "HdfsPeer.java"), str(given.dir), str(given.port), *given.set)
    kerberos = [f"-Djava.security.krb5.conf={os.environ['KRB5_CONFIG']}"] if "KRB5_CONFIG" in os.environ else []
    os.execv(java, [java, *_OPTIONS, *kerberos, *peer])


if __name__ == "__main__":
    main()
