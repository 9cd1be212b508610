"""Starts one Presto server (0.287, coordinator and worker in one JVM) whose catalog `hive` uses a metastore.

    python -m tests.peers.start_presto --metastore thrift://127.0.0.1:PORT --http-port P --dir WORKDIR [--java JAVA]
        [--set KEY=VALUE ...]

Prints `ready P` once SELECT 1 answers; SIGTERM or SIGINT stops it. Needs Maven, tar and a JDK 11 to 17. The unpacked
server is kept beside the jars of start_hive.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.peers import cache, launch

HERE = Path(__file__).resolve().parent / "presto"
VERSION = "0.287"
CACHE = cache.CACHE / f"presto-{VERSION}"
_OPENS = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.ref",
    "java.base/java.lang.reflect",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.security",
    "java.base/java.text",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/java.util.regex",
    "java.base/javax.security.auth",
    "java.base/javax.security.auth.login",
    "java.base/sun.nio.ch",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
)


def unpacked() -> Path:
    """The folder with the server's jars and the two plugins that are used; fetched on first use."""
    with cache.filling(CACHE) as empty:
        if empty:
            _fetch()
    return CACHE


def _fetch() -> None:
    name = f"presto-server-{VERSION}"
    _copy(f"com.facebook.presto:presto-server:{VERSION}:tar.gz", CACHE)
    wanted = (f"{name}/lib", f"{name}/plugin/hive-hadoop2", f"{name}/plugin/tpch")
    archive = CACHE / f"{name}.tar.gz"
    subprocess.run(["tar", "xzf", str(archive), "-C", str(CACHE), "--strip-components=1", *wanted], check=True)
    archive.unlink()
    for part in ("asm", "asm-tree", "asm-util", "asm-analysis"):  # those shipped cannot read classes of Java 17
        for old in list(CACHE.rglob(f"{part}-9.0.jar")):
            _copy(f"org.ow2.asm:{part}:9.7.1", old.parent)
            old.unlink()


def _copy(artifact: str, folder: Path) -> None:
    options = (f"-Dartifact={artifact}", f"-DoutputDirectory={folder}", "-Dmdep.stripVersion=false")
    launch.maven(["dependency:copy", *options], CACHE, CACHE / "maven.log")


def write_settings(work: Path, values: Mapping[str, str], properties: Sequence[str]) -> None:
    """The settings' files with their variables filled in, and further lines for the catalog hive."""
    for source in sorted((HERE / "etc").rglob("*.properties")):
        text = source.read_text()
        for name, value in values.items():
            text = text.replace(f"${{{name}}}", value)
        if source.name == "hive.properties":
            text += "".join(f"{line}\n" for line in properties)
        target = work / "etc" / source.relative_to(HERE / "etc")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def main() -> int:
    """Start Presto and stay until it ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--metastore", required=True, help="thrift://HOST:PORT")
    parser.add_argument("--http-port", type=int, required=True)
    parser.add_argument("--dir", type=Path, required=True, help="settings, logs, data")
    parser.add_argument("--java")
    parser.add_argument("--heap", default="1500m")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a property of the catalog hive"
    )
    given = parser.parse_args()
    work: Path = given.dir.resolve()
    (work / "data").mkdir(parents=True, exist_ok=True)
    java, server = launch.find_java(11, 17, given.java), unpacked()
    places = {"DATA": str(work / "data"), "PLUGINS": str(server / "plugin"), "ETC": str(work / "etc")}
    write_settings(work, {"HTTP_PORT": str(given.http_port), "METASTORE": given.metastore, **places}, given.set)
    jvm = (f"-Xmx{given.heap}", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError", "-Djdk.attach.allowAttachSelf=true")
    opens = (f"--add-opens={package}=ALL-UNNAMED" for package in _OPENS)
    settings = (f"-Dconfig={work}/etc/config.properties", f"-Dlog.levels-file={work}/etc/log.properties")
    node = ("-Dnode.environment=peer", f"-Dnode.data-dir={work}/data", "-Dnode.internal-address=127.0.0.1")
    command = [
        java,
        *jvm,
        *opens,
        *settings,
        *node,
        "-cp",
        f"{server}/lib/*",
        "com.facebook.presto.server.PrestoServer",
    ]
    headers = {"X-Presto-User": os.environ.get("USER", "peer")}
    return launch.serve(command, work, work / "presto.log", given.http_port, headers)


if __name__ == "__main__":
    sys.exit(main())
