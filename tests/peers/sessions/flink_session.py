"""Runs a session of Flink SQL (1.20.3, one JVM) in a catalog on a metastore; a line of JSON per statement.

    python -m tests.peers.sessions.flink_session --metastore thrift://127.0.0.1:PORT --dir WORKDIR [--schema s]
        STATEMENTS

STATEMENTS has a statement a line; {s} is the schema, {w} the warehouse (WORKDIR/warehouse), {m} the metastore. Lines
that begin with @ call Flink's catalog: flink/FlinkPeer.java says which. What differs from run to run is blanked. The
client inside is Hive 3.1.3's. Needs Java 17 and Maven; its 170 jars are kept beside those of start_hive.
"""

import argparse
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from tests.peers import cache, launch
from tests.peers.hive_engine import jars
from tests.peers.start_hive import LOG4J

HERE = Path(__file__).resolve().parents[1] / "flink"
CACHE = cache.CACHE / "flink-1.20.3-paimon-1.3.1"
TIMEOUT_SECONDS = 900
_OPENED = ("lang", "lang.reflect", "lang.invoke", "io", "net", "nio", "util", "util.concurrent", "text", "time", "math")
_OPTIONS = (
    "-Xmx1200m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Duser.timezone=UTC",
    *(f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in _OPENED),
)
_VARYING = (
    (
        re.compile(r"\b(transient_lastDdlTime|last_modified_time|lastAccessTime|createTime)('? ?[=:] ?'?)\d+"),
        r"\1\2TIME",
    ),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"@[0-9a-f]{5,8}\b"), "@ID"),
    # Sentences of the metastore behind its exception's name.
    (re.compile(r"\b(\w*(?:Object|Meta|Operation|Input|Exists)Exception): .*", re.DOTALL), r"\1"),
)
_OPTIONS_OF_A_TABLE = re.compile(r"(?<=WITH \(\n)(.*?)(?=\n\))", re.DOTALL)


def class_path() -> str:
    """The jars, and our one class, resolved and compiled on first use."""
    lib, classes = CACHE / "lib", CACHE / "classes"
    with cache.filling(CACHE) as empty:
        if empty:
            copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={lib}")
            launch.maven(["-q", "-f", str(HERE / "pom.xml"), *copy], CACHE, CACHE / "maven.log")
    source = HERE / "FlinkPeer.java"
    if not classes.exists() or classes.stat().st_mtime < source.stat().st_mtime:
        classes.mkdir(exist_ok=True)
        compiler = str(Path(launch.find_java(17, 17)).parent / "javac")
        subprocess.run([compiler, "-nowarn", "-cp", f"{lib}/*", "-d", str(classes), str(source)], check=True)
        os.utime(classes)
    return f"{classes}:{lib}/*"


def answers(
    metastore: str,
    work: Path,
    statements: str,
    schema: str = "judged",
    *,
    warehouse: str | None = None,
    store: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """What each statement answers; the warehouse is WORK/warehouse unless it is named, Flink's log WORK/flink.log.

    `store`: Hadoop's settings for a warehouse that begins with s3a; Flink has the Hadoop of Hive 4.0.1's engine.
    """
    warehouse = warehouse or f"file:{work}/warehouse"
    conf = _settings(metastore, work, warehouse, store or {})
    session = work / "session.sql"
    named = statements.replace("{s}", schema).replace("{w}", warehouse).replace("{m}", metastore)
    session.write_text(named)
    log = f"-Dlog4j2.configurationFile={conf}/log4j2.properties"
    path = os.pathsep.join([str(conf), class_path(), *(jars.s3() if store else [])])
    program = (log, f"-Djava.io.tmpdir={work}", "-cp", path, "FlinkPeer", str(session), str(conf))
    with (work / "flink.log").open("w") as errors:
        done = subprocess.run(
            [launch.find_java(17, 17), *_OPTIONS, *program],
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            cwd=work,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"Flink ended with {done.returncode}:\n{(work / 'flink.log').read_text()[-3000:]}")
    places = {warehouse: "WAREHOUSE", warehouse.removeprefix("file:"): "WAREHOUSE", str(work): "WORK"}
    places[metastore] = "METASTORE"
    return [_plain(json.loads(line), places) for line in done.stdout.splitlines()]


def _settings(metastore: str, work: Path, warehouse: str, store: Mapping[str, str]) -> Path:
    """The folder of the settings of Hive's client and of the log."""
    conf = work / "flink-conf"
    conf.mkdir(parents=True, exist_ok=True)
    settings = {
        "hive.metastore.uris": metastore,
        "hive.metastore.warehouse.dir": warehouse,
        "hive.metastore.client.socket.timeout": "120s",
        "hive.exec.scratchdir": f"file:{work}/scratch",
        "hadoop.tmp.dir": f"{work}/hadoop",
        "fs.defaultFS": "file:///",
        **store,
    }
    rows = (f"<property><name>{escape(k)}</name><value>{escape(v)}</value></property>" for k, v in settings.items())
    xml = "<configuration>\n" + "\n".join(rows) + "\n</configuration>\n"
    for name in ("hive-site.xml", "core-site.xml"):
        (conf / name).write_text(xml)
    (conf / "log4j2.properties").write_text(LOG4J + "appender.out.target = SYSTEM_ERR\n")
    return conf


def _plain(answer: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    """The answer without what differs from run to run, and without hmstats' own parameters, which are an addition."""
    if "error" in answer:
        return {**answer, "sql": blank(answer["sql"], places), "error": blank(answer["error"], places)}
    rows = [blank(row, places) for row in answer["rows"] if not row.startswith("hmstats.")]
    if answer["sql"].startswith("SHOW PARTITIONS"):  # Derby has an order of its own
        rows.sort()
    return {"sql": blank(answer["sql"], places), "rows": rows}


def blank(text: str, places: dict[str, str]) -> str:
    """The text without what differs from run to run; the options of a shown table are sorted."""
    for place, name in places.items():
        text = text.replace(place, name)
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return _OPTIONS_OF_A_TABLE.sub(lambda found: ",\n".join(sorted(found[0].replace(",\n", "\n").splitlines())), text)


def main() -> None:
    """Run the session to its end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--metastore", required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--schema", default="judged")
    parser.add_argument("statements", type=Path)
    given = parser.parse_args()
    for answer in answers(given.metastore, given.dir.resolve(), given.statements.read_text(), given.schema):
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
