"""Starts a real HDFS (3.4.1, a name node and a data node in one JVM), which keeps its files in a folder.

    python -m tests.peers.start_hdfs --port P --dir WORKDIR [--java JAVA]

Prints `ready P` once it answers; SIGTERM or SIGINT stops it. Whoever starts it is its superuser. Needs a JDK (java and
javac) 11 to 22 and Maven; its jars are kept beside those of start_hive.
"""

import argparse
import os
import subprocess
from pathlib import Path

from tests.peers import cache, launch

HERE = Path(__file__).resolve().parent / "hdfs"
CACHE = cache.CACHE / "hdfs-3.4.1"
_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_PAGES = ("hdfs", "datanode")
"""Folders of pages that both nodes look for, which the jars lack."""


def class_path(java: str) -> str:
    """The jars, and our one class, resolved and compiled on first use."""
    lib, classes = CACHE / "lib", CACHE / "classes"
    with cache.filling(CACHE) as empty:
        if empty:
            copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={lib}")
            launch.maven(["-q", "-f", str(HERE / "pom.xml"), *copy], CACHE, CACHE / "maven.log")
            for each in _PAGES:
                (classes / "webapps" / each).mkdir(parents=True, exist_ok=True)
            compiler = str(Path(java).parent / "javac")
            source = str(HERE / "HdfsPeer.java")
            subprocess.run([compiler, "--release", "11", "-cp", f"{lib}/*", "-d", str(classes), source], check=True)
    return f"{classes}:{lib}/*"


def main() -> None:
    """Start HDFS in the place of this process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--java")
    given = parser.parse_args()
    java = launch.find_java(11, 22, given.java)
    given.dir.mkdir(parents=True, exist_ok=True)
    os.execv(java, [java, *_OPTIONS, "-cp", class_path(java), "HdfsPeer", str(given.dir), str(given.port)])


if __name__ == "__main__":
    main()
