"""Starts a real Trino (483, one coordinator in one JVM) whose catalogs read and write through a metastore.

    python -m tests.peers.start_trino --metastore thrift://127.0.0.1:PORT --http-port P --dir WORKDIR [--java JAVA]
        [--set hive.KEY=VALUE ...]

Prints `ready P` once it answers; SIGTERM or SIGINT stops it. Catalogs: hive and iceberg (tables on the local file
system, locations file:/...), tpch. Needs a JDK 25 (java and javac) and Maven; its jars are kept beside those of
start_hive.
"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.peers import cache, launch

HERE = Path(__file__).resolve().parent / "trino"
CACHE = cache.CACHE / "trino-483-iceberg"
_OPTIONS = (
    "-Xmx2g",
    "--add-modules",
    "jdk.incubator.vector",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "-Duser.timezone=UTC",
)


def class_path(java: str) -> str:
    """The jars, and our one class, resolved and compiled on first use."""
    lib, classes = CACHE / "lib", CACHE / "classes"
    with cache.filling(CACHE) as empty:
        if empty:
            copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={lib}")
            launch.maven(["-q", "-f", str(HERE / "pom.xml"), *copy], CACHE, CACHE / "maven.log")
    source = HERE / "TrinoPeer.java"
    if not classes.exists() or classes.stat().st_mtime < source.stat().st_mtime:
        classes.mkdir(exist_ok=True)
        compiler = str(Path(java).parent / "javac")
        subprocess.run([compiler, "-cp", f"{lib}/*", "-d", str(classes), str(source)], check=True)
        os.utime(classes)
    return f"{classes}:{lib}/*"


def main() -> None:
    """Start Trino and stay until it ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--metastore", required=True)
    parser.add_argument("--http-port", type=int, required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--java")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a property of the catalog hive"
    )
    given = parser.parse_args()
    java = launch.find_java(25, 99, given.java)
    given.dir.mkdir(parents=True, exist_ok=True)
    peer = ("-cp", class_path(java), "TrinoPeer", given.metastore, str(given.http_port), *given.set)
    with (given.dir / "trino.log").open("wb") as log:
        engine = subprocess.Popen(
            [java, *_OPTIONS, *peer],
            stdout=subprocess.PIPE,
            stderr=log,
            stdin=subprocess.DEVNULL,
            cwd=given.dir,
            text=True,
        )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: engine.terminate())
    assert engine.stdout is not None
    for line in engine.stdout:
        if line.startswith("ready"):
            print(line.strip(), flush=True)
    code = engine.wait()
    if code not in (0, 130, 143, -signal.SIGTERM, -signal.SIGINT):
        sys.exit(f"start_trino: ended with {code}, see {given.dir / 'trino.log'}")


if __name__ == "__main__":
    main()
