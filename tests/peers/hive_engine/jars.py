"""Hive's query engine from Maven: its jars, our small programs over it compiled, and how Java is started for it.

The engine is Hive 4.0.1's with Tez and Hadoop, 190 MB, or Hive 3.1.3's over the same Hadoop. Of Hive 2.3.10 there is
hive-exec alone, which writes and evaluates conditions over partitions. All are fetched once into the cache of
`tests.peers.cache`.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

from tests.peers import start_hive
from tests.peers.cache import CACHE, filling

HERE = Path(__file__).resolve().parent
JAVA_17 = HERE.parent / "hive_expressions" / "java17"
RELEASES = {"2.3": "2.3.10", "3.1": "3.1.3", "4.0": "4.0.1"}
_OLDER_NEED = ("org.antlr:antlr-runtime:3.5.2", "org.apache.calcite:calcite-core:1.16.0")
_PACKAGES = """java.base/java.lang java.base/java.lang.reflect java.base/java.lang.invoke java.base/java.io
java.base/java.net java.base/java.nio java.base/java.util java.base/java.util.concurrent
java.base/java.util.concurrent.atomic java.base/java.util.regex java.base/java.time java.base/java.math
java.base/java.text java.base/sun.nio.ch java.base/sun.nio.cs java.base/jdk.internal.ref java.sql/java.sql"""
OPEN = [f"--add-opens={package}=ALL-UNNAMED" for package in _PACKAGES.split()]
"""Packages that Kryo and Hive access, and that Java 17 keeps closed."""


def engine(release: str = "4.0") -> list[str]:
    """The engine's class path. hive-exec comes first: it has newer copies of what other jars bring."""
    if release == "3.1":
        path = expressions(release)
        return [java_17(path), *path, str(_copied("hive-engine-3.1", HERE / "pom-3.1.xml") / "*")]
    folder = _copied("hive-engine", HERE / "pom.xml")
    return [str(folder / "hive-exec-4.0.1.jar"), str(folder / "*")]


def s3() -> list[str]:
    """The jars that the engine of Hive 4.0.1 needs besides its own to reach places that begin with s3a."""
    return [str(_copied("hive-engine-s3", HERE / "pom-s3.xml") / "*")]


def expressions(generation: str) -> list[str]:
    """A class path with which a generation's Hive writes and evaluates conditions over partitions."""
    if generation == "4.0":
        return engine()
    folder = CACHE / f"hive-exec-{generation}"
    wanted = (f"org.apache.hive:hive-exec:{RELEASES[generation]}", *_OLDER_NEED)
    with filling(folder) as empty:
        for each in wanted if empty else ():
            copy = ("dependency:copy", f"-Dartifact={each}", f"-DoutputDirectory={folder}")
            start_hive.run(["mvn", "-B", "-q", *copy])
    others = [jar for jar in Path(engine()[0]).parent.glob("*.jar") if not jar.name.startswith("hive-")]
    return [str(folder / f"hive-exec-{RELEASES[generation]}.jar"), str(folder / "*"), *map(str, sorted(others))]


def _copied(name: str, pom: Path) -> Path:
    """The folder with the jars that a pom names."""
    folder = CACHE / name
    with filling(folder) as empty:
        if empty:
            copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}")
            start_hive.run(["mvn", "-B", "-q", "-f", str(pom), *copy])
    return folder


def java_17(path: Sequence[str]) -> str:
    """The folder with the one class of Hive 3.1.3 that does not start on Java 17, made anew."""
    return compiled("hive-expressions-java17", sorted(JAVA_17.glob("*.java")), path)


def metastore(release: str = "4.0") -> list[str]:
    """The jars that a Metastore 4.0.1 or 3.1.3 needs besides its own to evaluate conditions over partitions."""
    if release == "3.1":
        path = expressions(release)
        return [java_17(path), *path[:2]]
    folder = Path(engine()[0]).parent
    names = ("hive-exec-*", "ST4-*", "commons-text-*", "commons-math3-*")
    return [str(jar) for name in names for jar in sorted(folder.glob(f"{name}.jar"))]


def compiled(name: str, sources: Sequence[Path], jars: Sequence[str]) -> str:
    """The folder with the classes of some sources."""
    mark = crc32(b"".join(source.read_bytes() for source in sources))
    folder = CACHE / f"{name}-{mark:08x}"
    with filling(folder) as empty:
        if empty:
            start_hive.run(["javac", "-nowarn", "-cp", os.pathsep.join(jars), "-d", str(folder), *map(str, sources)])
    return str(folder)
